// TLS of a listener: the mode, the certificates that it may use, and the authorities of its clients.
//
// A listener without any usable certificate is not served. With one of two, it is served, and the first slot counts
// even if it is the unusable one: TLS then has no certificate, as in istiod.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (buildTLS), pkg/kube/gateway.go (IsAutoPassthrough).

import { NETWORK_LABEL } from '../../base/labels.ts';
import type { Reader } from '../../query/reader.ts';
import type { GatewayListener, KubernetesGatewayTls } from '../../schema/gateway-api-types.gen.ts';
import type { ServerTLSSettings } from '../../schema/istio-types.gen.ts';
import {
  caCertificateError,
  INVALID_CERTIFICATE,
  type ObjectRef,
  serverCertificateError,
  typeOf,
} from './certificates.ts';
import { type ConfigError, configError, joinErrors, quoted, REF_NOT_PERMITTED } from './config-error.ts';
import { CORE_SECRET, isGranted } from './grants.ts';

const TERMINATE_MODE = 'gateway.istio.io/tls-terminate-mode';
const CIPHER_SUITES = 'gateway.istio.io/tls-cipher-suites';
const LISTENER_PROTOCOL = 'gateway.istio.io/listener-protocol';
const GATEWAY_PORT_LABEL = 'networking.istio.io/gatewayPort';
const AUTO_PASSTHROUGH_PORT = '15443';
const CERTIFICATES_MAX = 2;
/** The certificate of the workload itself. */
const BUILT_IN = 'builtin://';
const CA_SUFFIX = '-cacert';

/** The object whose listener it is: certificates and grants are judged from there. */
export interface ListenerOwner {
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ListenerTls {
  readonly settings: ServerTLSSettings | undefined;
  readonly error: ConfigError | undefined;
}

/** `gatewayTls`: of the Gateway, also for the listener of a ListenerSet. */
export function listenerTls(
  reader: Reader,
  owner: ListenerOwner,
  { port, tls }: GatewayListener,
  gatewayTls: KubernetesGatewayTls | undefined,
): ListenerTls {
  if (tls === undefined) return { settings: undefined, error: undefined };
  const ciphers = cipherSuites(tls.options?.[CIPHER_SUITES]);
  if (tls.mode === 'Passthrough') {
    const mode = isAutoPassthrough(owner.labels, port, tls.options) ? 'AUTO_PASSTHROUGH' : 'PASSTHROUGH';
    return { settings: { mode, ...ciphers }, error: undefined };
  }
  const option = tls.options?.[TERMINATE_MODE];
  if (option === 'ISTIO_SIMPLE') return done({ mode: 'SIMPLE', credentialName: BUILT_IN });
  if (option === 'ISTIO_MUTUAL') return done({ mode: 'ISTIO_MUTUAL' });
  const mode = option === 'MUTUAL' || option === 'OPTIONAL_MUTUAL' ? option : 'SIMPLE';
  const server = serverCertificates(reader, owner, tls.certificateRefs ?? []);
  if (server.error !== undefined) return { settings: { mode }, error: server.error };
  if (!server.usable) return done({ mode });
  const clients = clientAuthority(reader, owner, frontendOf(gatewayTls, port));
  if (clients.error !== undefined) return { settings: { mode }, error: clients.error };
  const demanded = clients.name !== undefined && mode === 'SIMPLE' ? 'MUTUAL' : mode;
  return done({ mode: demanded, ...server.names, caCertCredentialName: clients.name, ...ciphers });
}

function done(settings: ServerTLSSettings): ListenerTls {
  return { settings, error: undefined };
}

interface ServerCertificates {
  readonly usable: boolean;
  readonly names: Pick<ServerTLSSettings, 'credentialName' | 'credentialNames'>;
  readonly error: ConfigError | undefined;
}

function serverCertificates(reader: Reader, owner: ListenerOwner, refs: readonly ObjectRef[]): ServerCertificates {
  const none = { usable: false, names: {} };
  if (refs.length > CERTIFICATES_MAX) {
    const message = `TLS mode can only support up to ${CERTIFICATES_MAX} server certificates`;
    return { ...none, error: configError(INVALID_CERTIFICATE, message) };
  }
  let error: ConfigError | undefined;
  const names = refs.map(ref => {
    const problem = serverCertificateError(reader, ref, owner.namespace) ?? grantError(reader, owner, ref);
    error = joinErrors(error, problem);
    return problem === undefined ? `kubernetes-gateway://${ref.namespace ?? owner.namespace}/${ref.name}` : '';
  });
  const usable = names.filter(name => name !== '');
  if (usable.length === 0) return { ...none, error };
  const chosen = usable.length === 1 ? { credentialName: names[0] ?? '' } : { credentialNames: names };
  return { usable: true, names: chosen, error: undefined };
}

function grantError(reader: Reader, owner: ListenerOwner, ref: ObjectRef): ConfigError | undefined {
  if (mayUse(reader, owner, ref)) return undefined;
  return configError(
    REF_NOT_PERMITTED,
    `certificateRef ${ref.name}/${ref.namespace} not accessible to a Gateway in namespace ${quoted(owner.namespace)} (missing a ReferenceGrant?)`,
  );
}

function mayUse(reader: Reader, { kind, namespace }: ListenerOwner, ref: ObjectRef): boolean {
  if (ref.namespace === undefined || ref.namespace === namespace) return true;
  return isGranted(reader, { kind, namespace }, { type: typeOf(ref), namespace: ref.namespace, name: ref.name });
}

/** That of the port, else the default; never both. */
function frontendOf(tls: KubernetesGatewayTls | undefined, port: number): readonly ObjectRef[] {
  const frontend = tls?.frontend;
  const chosen = frontend?.perPort?.find(one => one.port === port)?.tls ?? frontend?.default;
  return chosen?.validation?.caCertificateRefs ?? [];
}

function clientAuthority(
  reader: Reader,
  owner: ListenerOwner,
  refs: readonly ObjectRef[],
): { readonly name: string | undefined; readonly error: ConfigError | undefined } {
  const [ref] = refs;
  if (ref === undefined) return { name: undefined, error: undefined };
  if (refs.length > 1) {
    return { name: undefined, error: configError(INVALID_CERTIFICATE, 'only one caCertificateRef is supported') };
  }
  const namespace = ref.namespace ?? owner.namespace;
  const error = caCertificateError(reader, ref, owner.namespace) ?? caGrantError(reader, owner, ref, namespace);
  const scheme = typeOf(ref) === CORE_SECRET ? 'kubernetes-gateway' : 'configmap';
  return { name: `${scheme}://${namespace}/${ref.name}${CA_SUFFIX}`, error };
}

function caGrantError(
  reader: Reader,
  owner: ListenerOwner,
  ref: ObjectRef,
  namespace: string,
): ConfigError | undefined {
  if (mayUse(reader, owner, ref)) return undefined;
  return configError(
    REF_NOT_PERMITTED,
    `caCertificateRef ${namespace}/${ref.name} not accessible to a Gateway in namespace ${quoted(owner.namespace)} (missing a ReferenceGrant?)`,
  );
}

/** Unknown ones are left out where the server is built, as those of an Istio Gateway are. */
function cipherSuites(option: string | undefined): Pick<ServerTLSSettings, 'cipherSuites'> {
  const named = (option ?? '').split(',').map(name => name.trim());
  const suites = [...new Set(named)].filter(name => name !== '');
  return suites.length === 0 ? {} : { cipherSuites: suites };
}

/** `labels` are those of the Gateway or ListenerSet; the listener has `tls`. Istio kube.IsAutoPassthrough. */
export function isAutoPassthrough(
  labels: Readonly<Record<string, string>>,
  port: number,
  options: Readonly<Record<string, string>> | undefined,
): boolean {
  if (options?.[LISTENER_PROTOCOL] === 'auto-passthrough') return true;
  if (labels[NETWORK_LABEL] === undefined) return false;
  return String(port) === (labels[GATEWAY_PORT_LABEL] ?? AUTO_PASSTHROUGH_PORT);
}
