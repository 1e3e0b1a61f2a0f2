// Settings of identity: istiod's environment variables with istiod's defaults, read once at the
// start.
//
// Nothing here changes generated configuration, so nothing of it is a recorded setting. Source of names and defaults:
// Istio 1.30.3 pilot/pkg/features, pilot/pkg/bootstrap/istio_ca.go, security/pkg/pki/ca/ca.go.

import { goBoolean } from '../core/base/go-boolean.ts';
import { durationMs } from '../core/mesh/features.ts';

export interface IdentitySettings {
  /** ENABLE_CA_SERVER: off, there is no certificate authority, and 15012 exists with certificate files only. */
  readonly caServer: boolean;
  /** PILOT_CERT_PROVIDER: where the serving certificate comes from. */
  readonly certProvider: string;
  /** EXTERNAL_CA: the registration authority that answers requests in place of the built-in authority. */
  readonly externalCa: string;
  /** K8S_SIGNER: the signer of Kubernetes that signs for the registration authority. */
  readonly kubernetesSigner: string;
  /** CERT_SIGNER_DOMAIN: the domain of signers that a request may name. */
  readonly signerDomain: string;
  /** ROOT_CA_DIR: the folder of a plugged-in authority. */
  readonly rootCaDir: string;
  /** USE_CACERTS_FOR_SELF_SIGNED_CA */
  readonly useCacertsForSelfSigned: boolean;
  /** USE_REMOTE_CERTS: the Secret `cacerts` is read from the API server. */
  readonly useRemoteCerts: boolean;
  /** ISTIO_MULTIROOT_MESH: the roots of a plugged-in authority may change while it runs. */
  readonly multiRoot: boolean;
  /** PILOT_ENABLE_CA_CRL */
  readonly crl: boolean;
  /** DEFAULT_WORKLOAD_CERT_TTL */
  readonly defaultTtlMs: number;
  /** MAX_WORKLOAD_CERT_TTL */
  readonly maxTtlMs: number;
  /** CITADEL_SELF_SIGNED_CA_CERT_TTL */
  readonly rootTtlMs: number;
  /** CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE */
  readonly rootKeyBits: number;
  /** CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL; 0: the self-signed root is never checked again. */
  readonly rootCheckMs: number;
  /** CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE */
  readonly rootGracePercent: number;
  /** CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR */
  readonly rootJitter: boolean;
  /** TOKEN_AUDIENCES */
  readonly audiences: readonly string[];
  /**
   * CA_TRUSTED_NODE_ACCOUNTS: `namespace/account` of node agents that may ask for certificates of pods on their node.
   */
  readonly trustedNodeAccounts: readonly string[];
  /** TRUSTED_GATEWAY_CIDR */
  readonly trustedGatewayCidrs: readonly string[];
  /** JWT_RULE as given; '': none. */
  readonly jwtRule: string;
  /** XDS_AUTH */
  readonly xdsAuth: boolean;
  /** XDS_AUTH_PLAINTEXT */
  readonly xdsAuthPlaintext: boolean;
  /** ISTIOD_CUSTOM_HOST */
  readonly customHosts: readonly string[];
  /** COMPLIANCE_POLICY */
  readonly compliancePolicy: string;
  /** ENABLE_DEBUG_ENDPOINT_AUTH: proven callers see debug pages of proxies of their own namespace only. */
  readonly debugAuth: boolean;
  /** DEBUG_ENDPOINT_AUTH_ALLOWED_NAMESPACES: beside the root namespace, callers from these see every page. */
  readonly debugNamespaces: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const HOUR_MS = 3_600_000;
const RSA_BITS_MIN = 2_048;

/** Throws an error that names the variable if its value is unusable. */
export function identitySettings(env: Environment): IdentitySettings {
  const flag = (name: string, fallback: boolean): boolean => goBoolean(env[name] ?? '') ?? fallback;
  const time = (name: string, fallback: number): number => {
    const given = env[name] ?? '';
    return given === '' ? fallback : (durationMs(given.replace(/^-.*/, '0s')) ?? fallback);
  };
  const whole = (name: string, fallback: number): number =>
    /^[0-9]+$/.test(env[name] ?? '') ? Number(env[name]) : fallback;
  const rootKeyBits = whole('CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE', RSA_BITS_MIN);
  if (rootKeyBits < RSA_BITS_MIN) {
    throw new Error(`CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE ${rootKeyBits}: expected ${RSA_BITS_MIN} or more`);
  }
  return {
    caServer: flag('ENABLE_CA_SERVER', true),
    certProvider: env.PILOT_CERT_PROVIDER || 'istiod',
    externalCa: env.EXTERNAL_CA ?? '',
    kubernetesSigner: env.K8S_SIGNER ?? '',
    signerDomain: env.CERT_SIGNER_DOMAIN ?? '',
    rootCaDir: env.ROOT_CA_DIR || './etc/cacerts',
    useCacertsForSelfSigned: flag('USE_CACERTS_FOR_SELF_SIGNED_CA', false),
    useRemoteCerts: flag('USE_REMOTE_CERTS', false),
    multiRoot: flag('ISTIO_MULTIROOT_MESH', false),
    crl: flag('PILOT_ENABLE_CA_CRL', true),
    defaultTtlMs: time('DEFAULT_WORKLOAD_CERT_TTL', 24 * HOUR_MS),
    maxTtlMs: time('MAX_WORKLOAD_CERT_TTL', 90 * 24 * HOUR_MS),
    rootTtlMs: time('CITADEL_SELF_SIGNED_CA_CERT_TTL', 3_650 * 24 * HOUR_MS),
    rootKeyBits,
    rootCheckMs: time('CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL', HOUR_MS),
    rootGracePercent: whole('CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE', 20),
    rootJitter: flag('CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR', true),
    audiences: listOf(env.TOKEN_AUDIENCES || 'istio-ca'),
    trustedNodeAccounts: listOf(env.CA_TRUSTED_NODE_ACCOUNTS ?? '').filter(account => account.includes('/')),
    trustedGatewayCidrs: listOf(env.TRUSTED_GATEWAY_CIDR ?? ''),
    jwtRule: env.JWT_RULE ?? '',
    xdsAuth: flag('XDS_AUTH', true),
    xdsAuthPlaintext: flag('XDS_AUTH_PLAINTEXT', false),
    customHosts: listOf(env.ISTIOD_CUSTOM_HOST ?? ''),
    compliancePolicy: env.COMPLIANCE_POLICY ?? '',
    debugAuth: flag('ENABLE_DEBUG_ENDPOINT_AUTH', true),
    debugNamespaces: listOf(env.DEBUG_ENDPOINT_AUTH_ALLOWED_NAMESPACES ?? ''),
  };
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '');
}
