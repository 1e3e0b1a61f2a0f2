// The TLS settings of a BackendTLSPolicy. A CA that cannot be resolved closes: the settings then name a secret that is
// never sent, and no connection comes about.
// Source: Istio pilot/pkg/config/kube/gateway/backend_policies.go (getBackendTLSCredentialName).

import type { Reader } from '../../query/reader.ts';
import type { BackendTLSPolicyValidation } from '../../schema/gateway-api-types.gen.ts';
import type { ClientTLSSettings } from '../../schema/istio-types.gen.ts';
import { caConfigMapKeysProblem } from './certificates.ts';
import { type ConfigError, configError } from './config-error.ts';
import { referenceProblem } from './policy-targets.ts';

/** Never sent by SDS. */
const INVALID_SECRET = 'invalid://';
const CONFIG_MAP = 'configmap://';

export interface BackendTls {
  readonly settings: ClientTLSSettings;
  readonly accepted: ConfigError | undefined;
  readonly resolvedRefs: ConfigError | undefined;
  /** Appended to the message of an accepted policy. */
  readonly warning: string;
}

export function backendTls(reader: Reader, namespace: string, validation: BackendTLSPolicyValidation): BackendTls {
  const { hostname, subjectAltNames, caCertificateRefs = [], wellKnownCACertificates } = validation;
  const sans = (subjectAltNames ?? []).map(({ type, hostname: host, uri }) => (type === 'URI' ? uri : host) ?? '');
  const settings: ClientTLSSettings = {
    mode: 'SIMPLE',
    sni: hostname,
    ...(sans.length === 0 ? {} : { subjectAltNames: sans }),
  };
  const sound = { settings, accepted: undefined, resolvedRefs: undefined, warning: '' };
  if (wellKnownCACertificates !== undefined && wellKnownCACertificates !== '') {
    if (wellKnownCACertificates === 'System') return sound;
    const accepted = configError('Invalid', `Unknown wellKnownCACertificates: ${wellKnownCACertificates}`);
    return { ...sound, accepted };
  }
  const [ref] = caCertificateRefs;
  if (ref === undefined) return sound;
  const warning = caCertificateRefs.length > 1 ? '; warning: only the first caCertificateRefs will be used' : '';
  const problem = authorityProblem(reader, namespace, ref);
  if (problem === undefined) {
    const credentialName = `${CONFIG_MAP}${namespace}/${ref.name}`;
    return { ...sound, settings: { ...settings, credentialName }, warning };
  }
  return {
    settings: { ...settings, credentialName: INVALID_SECRET },
    accepted: configError('NoValidCACertificate', `Certificate reference invalid: ${problem.why}`),
    resolvedRefs: problem.resolvedRefs,
    warning,
  };
}

interface AuthorityProblem {
  readonly why: string;
  readonly resolvedRefs: ConfigError;
}

function authorityProblem(
  reader: Reader,
  namespace: string,
  ref: { readonly group: string; readonly kind: string; readonly name: string },
): AuthorityProblem | undefined {
  const missing = referenceProblem(reader, namespace, ref);
  if (missing?.startsWith('unsupported') === true) {
    const message = `Certificate reference not supported: ${missing}`;
    return { why: missing, resolvedRefs: configError('InvalidKind', message) };
  }
  if (missing !== undefined) {
    const message = `Certificate reference not found: ${missing}`;
    return { why: missing, resolvedRefs: configError('InvalidCACertificateRef', message) };
  }
  if (ref.group !== '' || ref.kind !== 'ConfigMap') {
    const why = `unsupported reference kind: ${ref.kind}`;
    return { why, resolvedRefs: configError('InvalidKind', `Certificate reference invalid: ${why}`) };
  }
  const why = reader.get(caConfigMapKeysProblem, `${namespace}/${ref.name}`);
  if (why === '') return undefined;
  return { why, resolvedRefs: configError('InvalidCACertificateRef', `Certificate invalid: ${why}`) };
}
