// A self-signed root in a Secret of the control plane's namespace: creation is the lock between replicas, the
// resourceVersion that of a renewal. Name, type and keys are istiod's, so that either can follow the other.
//
// This is a call of its own and no entry in the table of wishes: the key must never pass through a state that is
// recorded.
// Source: Istio security/pkg/pki/ca/ca.go (BuildSecret, loadSelfSignedCaSecret).

import { isObject, type JsonObject } from '../core/base/json.ts';
import type { ClusterCall } from './cluster-call.ts';
import { refusalOf } from './cluster-call.ts';
import type { RootStore, StoredRoot } from './root-store.ts';

export const ROOT_SECRET_NAME = 'istio-ca-secret';
export const PLUGGED_SECRET_NAME = 'cacerts';
export const ROOT_SECRET_TYPE = 'istio.io/ca-root';

const NOT_FOUND = 404;
const CONFLICT = 409;

export function rootInSecret(call: ClusterCall, namespace: string, name: string): RootStore {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const place = `Secret ${namespace}/${name}`;
  let last: JsonObject | undefined;
  return {
    place,
    read: async () => {
      const { status, body } = await call('GET', `${path}/${name}`);
      if (status === NOT_FOUND) return undefined;
      if (status !== 200 || !isObject(body)) throw new Error(`${place}: ${refusalOf(status, body)}`);
      last = body;
      const root = { certificate: textIn(body, 'ca-cert.pem'), key: textIn(body, 'ca-key.pem') };
      if (root.certificate === '' || root.key === '') throw new Error(`${place} has no ca-cert.pem or no ca-key.pem`);
      return { ...root, version: versionOf(body) };
    },
    create: async root => {
      const { status, body } = await call('POST', path, secretOf(namespace, name, root));
      if (status === CONFLICT) return false;
      if (status >= 300) throw new Error(`${place}: ${refusalOf(status, body)}`);
      return true;
    },
    update: async (root, version) => {
      const before = last ?? secretOf(namespace, name, root);
      const metadata = { ...(isObject(before.metadata) ? before.metadata : {}), resourceVersion: version };
      const data = { ...(isObject(before.data) ? before.data : {}), ...encoded(root) };
      const { status, body } = await call('PUT', `${path}/${name}`, { ...before, metadata, data });
      if (status === CONFLICT) return false;
      if (status >= 300) throw new Error(`${place}: ${refusalOf(status, body)}`);
      return true;
    },
  };
}

function secretOf(namespace: string, name: string, root: StoredRoot): JsonObject {
  const generated = name === PLUGGED_SECRET_NAME ? { 'istio-generated': '' } : {};
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: ROOT_SECRET_TYPE,
    data: {
      ...encoded(root),
      'root-cert.pem': base64(root.certificate),
      'cert-chain.pem': '',
      'key.pem': '',
      ...generated,
    },
  };
}

function encoded({ certificate, key }: StoredRoot): JsonObject {
  return { 'ca-cert.pem': base64(certificate), 'ca-key.pem': base64(key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Every key of a Secret as text, as if it were a mounted folder. */
export function secretTexts(secret: JsonObject): ReadonlyMap<string, string> {
  const data = isObject(secret.data) ? secret.data : {};
  return new Map(Object.keys(data).map(key => [key, textIn(secret, key)]));
}

function textIn({ data }: JsonObject, key: string): string {
  const value = isObject(data) ? data[key] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function versionOf({ metadata }: JsonObject): string {
  const version = isObject(metadata) ? metadata.resourceVersion : undefined;
  return typeof version === 'string' ? version : '';
}
