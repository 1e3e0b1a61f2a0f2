// The certificates that listeners refer to: Secrets of the config cluster for the server, Secrets or ConfigMaps for the
// authorities of its clients. A fault of a reference stands in the status of the listener.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (buildSecretReference, buildCaCertificateReference),
// pilot/pkg/credentials/kube/secrets.go (ExtractCertInfo, ExtractRoot).

import { textOfBase64 } from '../../base/base64.ts';
import { hasCertificate, pairProblem } from '../../base/certificate.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { type ConfigError, configError, quoted } from './config-error.ts';
import { CORE_CONFIG_MAP, CORE_SECRET } from './grants.ts';

type Values = Readonly<Record<string, string>>;

/** A reference with its defaults. */
export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export const INVALID_CERTIFICATE = 'InvalidCertificateRef';
const UNREAD_TYPES: readonly string[] = ['helm.sh/release.v1', 'kubernetes.io/service-account-token'];

export function typeOf({ group, kind }: Pick<ObjectRef, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}

/** `namespace`: of the object that refers. */
export function serverCertificateError(reader: Reader, ref: ObjectRef, namespace: string): ConfigError | undefined {
  const bad = (why: string): ConfigError =>
    configError(INVALID_CERTIFICATE, `invalid certificate reference ${shown(ref)}, ${why}`);
  if (typeOf(ref) !== CORE_SECRET) return bad('only secret is allowed');
  const key = `${ref.namespace ?? namespace}/${ref.name}`;
  const why = reader.get(serverSecretProblem, key);
  return why === '' ? undefined : bad(why);
}

/** Argument `namespace/name`; '' if the Secret is fit for a server. */
const serverSecretProblem: Query<string, string> = {
  name: 'translate/serverSecretProblem',
  run: (reader, key) => {
    const data = secretData(reader, key);
    if (data === undefined) return `secret ${key} not found`;
    const pair = PAIRS.find(([chain, key]) => data[chain] && data[key]);
    const [chain, privateKey] = (pair ?? []).map(member => data[member]);
    if (chain === undefined || privateKey === undefined) return missingPair(data);
    const problem = pairProblem(textOfBase64(chain), textOfBase64(privateKey));
    return problem === undefined ? '' : `the certificate is malformed: ${problem}`;
  },
};

const PAIRS = [
  ['cert', 'key'],
  ['tls.crt', 'tls.key'],
] as const;
const ROOTS = ['cacert', 'ca.crt'] as const;
const KEYS_SHOWN = 3;

function missingPair(data: Values): string {
  const empty = PAIRS.find(pair => pair.every(key => Object.hasOwn(data, key)));
  if (empty !== undefined) return `found keys ${quoted(empty[0])} and ${quoted(empty[1])}, but they were empty`;
  return `found secret, but didn't have expected keys (cert and key) or (tls.crt and tls.key); found: ${keysOf(data)}`;
}

function keysOf(data: Values): string {
  const keys = Object.keys(data).sort();
  if (keys.length < KEYS_SHOWN) return keys.join(', ');
  return `${keys.slice(0, KEYS_SHOWN).join(', ')}, and ${keys.length - KEYS_SHOWN} more...`;
}

/** `namespace`: of the object that refers. */
export function caCertificateError(reader: Reader, ref: ObjectRef, namespace: string): ConfigError | undefined {
  const bad = (why: string): ConfigError =>
    configError(INVALID_CERTIFICATE, `invalid CA certificate reference ${shown(ref)}, ${why}`);
  const type = typeOf(ref);
  if (type !== CORE_SECRET && type !== CORE_CONFIG_MAP) return bad('only secret and configmap are allowed');
  const key = `${ref.namespace ?? namespace}/${ref.name}`;
  const why = type === CORE_SECRET ? reader.get(caSecretProblem, key) : reader.get(caConfigMapProblem, key);
  return why === '' ? undefined : bad(why);
}

const caSecretProblem: Query<string, string> = {
  name: 'translate/caSecretProblem',
  run: (reader, key) => {
    const data = secretData(reader, key);
    if (data === undefined) return `secret ${key} not found`;
    return rootsProblem(Object.fromEntries(Object.entries(data).map(([name, value]) => [name, textOfBase64(value)])));
  },
};

/** Argument `namespace/name`; '' if the ConfigMap holds the certificate of an authority. */
export const caConfigMapProblem: Query<string, string> = {
  name: 'translate/caConfigMapProblem',
  run: (reader, key) => {
    const map = reader.object('ConfigMap', `${reader.setting('clusterId')}/${key}`);
    return map === undefined ? `configmap ${key} not found` : rootsProblem(map.spec.data);
  },
};

/** Argument `namespace/name` of a ConfigMap that is there; '' if it has a bundle, readable or not. */
export const caConfigMapKeysProblem: Query<string, string> = {
  name: 'translate/caConfigMapKeysProblem',
  run: (reader, key) => {
    const map = reader.object('ConfigMap', `${reader.setting('clusterId')}/${key}`);
    return map === undefined || rootsIn(map.spec.data) !== undefined ? '' : missingRoots(map.spec.data);
  },
};

function rootsProblem(data: Values): string {
  const roots = rootsIn(data);
  if (roots === undefined) return missingRoots(data);
  return hasCertificate(roots) ? '' : 'the bundle is malformed';
}

function rootsIn(data: Values): string | undefined {
  return ROOTS.map(key => data[key]).find(value => value !== undefined && value !== '');
}

function missingRoots(data: Values): string {
  const empty = ROOTS.find(key => Object.hasOwn(data, key));
  if (empty !== undefined) return `found key ${quoted(empty)}, but it was empty`;
  return `found secret, but didn't have expected keys cacert or ca.crt; found: ${keysOf(data)}`;
}

function secretData(reader: Reader, key: string): Values | undefined {
  const [namespace = '', name = ''] = key.split('/');
  const secret = reader.object('Secret', kubernetesKey(reader.setting('clusterId'), namespace, name));
  return secret === undefined || UNREAD_TYPES.includes(secret.spec.type) ? undefined : secret.spec.data;
}

/** The parts as the author wrote them; a missing one is empty. */
function shown({ group, kind, name, namespace }: ObjectRef): string {
  return `${group}/${kind}/${name}.${namespace ?? ''}`;
}
