// Secrets that hold the key of the mesh's certificate authority: of them only certificates and revocation lists come
// into the mesh's memory. Other Secrets are recorded whole and sealed; of these not even a sealed key may lie in a
// journal, for with it any identity of the mesh can be forged.
//
// A key that is exchanged changes its certificate too, so nothing that matters is overlooked.

import { bytesOfBase64 } from '../../base/base64.ts';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { RawObject } from '../../event.ts';

/** Made by the control plane itself, in whichever namespace. */
const AUTHORITY_TYPE = 'istio.io/ca-root';
/** Of the system namespace: the authority's own, the plugged-in one, the serving certificate. */
const AUTHORITY_NAMES: readonly string[] = ['istio-ca-secret', 'cacerts', 'istiod-tls'];
/** What operators and istiod call certificates, chains, roots and revocation lists. */
const PUBLIC_KEYS: readonly string[] = [
  'ca-cert.pem',
  'ca-crl.pem',
  'ca.crt',
  'cert-chain.pem',
  'istio-generated',
  'root-cert.pem',
  'tls.crt',
];

/** True for a Secret that must never be served or recorded whole. */
export function isAuthoritySecret(namespace: string, name: string, type: string, systemNamespace: string): boolean {
  return type === AUTHORITY_TYPE || (namespace === systemNamespace && AUTHORITY_NAMES.includes(name));
}

/** The object as it may be recorded: itself, unless it is such a Secret. */
export function withoutAuthorityKeys(object: RawObject, systemNamespace: string): RawObject {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return object;
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const [namespace, name, type] = [metadata.namespace, metadata.name, object.type].map(textOf);
  if (!isAuthoritySecret(namespace ?? '', name ?? '', type ?? '', systemNamespace)) return object;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: chosen(metadata, ['creationTimestamp', 'labels', 'name', 'namespace', 'resourceVersion', 'uid']),
    ...(type === '' ? {} : { type: type! }),
    data: publicValues(object.data),
    stringData: publicValues(object.stringData),
  };
}

function publicValues(data: Json | undefined): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(isObject(data) ? data : {})) {
    if (typeof value !== 'string' || !PUBLIC_KEYS.includes(key)) continue;
    if (!holdsKey(value)) kept[key] = value;
  }
  return kept;
}

/** Somebody may have put the key into the same file as the certificate. */
function holdsKey(value: string): boolean {
  const decoded = [...bytesOfBase64(value)].map(byte => String.fromCharCode(byte)).join('');
  return [value, decoded].some(text => text.includes('PRIVATE KEY'));
}

function chosen(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap(key => (object[key] === undefined ? [] : [[key, object[key]]])));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
