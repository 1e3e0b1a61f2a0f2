// The certificates that a proxy may fetch from the control plane, by the names under which listeners and clusters refer
// to them:
//   kubernetes://[namespace/]name          a Secret of the proxy's own namespace, if it may read it (secret-access.ts)
//   kubernetes-gateway://namespace/name    a Secret that a Gateway of the proxy refers to
//   configmap://namespace/name             the roots in a ConfigMap; public, so from any namespace
// The ending `-cacert` asks for the roots only. A secret that the proxy may not read is absent, exactly like one that
// does not exist.
// Source: Istio pilot/pkg/xds/sds.go, pilot/pkg/model/credentials, pilot/pkg/credentials/kube.

import { base64OfText } from '../../base/base64.ts';
import { isAuthoritySecret } from '../../kinds/kubernetes/authority-secret.ts';
import { OWN_SECRET as OWN } from '../../model/credential-name.ts';
import type { VerifiedIdentity } from '../../model/identity.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { certificatesOverAds, meshAuthority } from '../proxy/proxy-capabilities.ts';
import { CA_SUFFIX, gatewayReferences, OF_GATEWAY } from './gateway-references.ts';
import { meshRoots } from './mesh-roots.ts';
import { mayReadSecret } from './secret-access.ts';
import { type WorkloadCredential, workloadCredential } from './workload-credential.ts';

/** Values in padded base64. */
export type Credential =
  | { readonly kind: 'certificate'; readonly chain: string; readonly key: string; readonly staple: string | undefined }
  | { readonly kind: 'roots'; readonly roots: string; readonly revoked: string | undefined }
  /** The workload's own; the key is no part of state. */
  | ({ readonly kind: 'workload' } & WorkloadCredential);

/**
 * The workload certificate, and the roots of the mesh: an agent serves them, or this control plane to a proxy without
 * one.
 */
export const WORKLOAD_SECRET = 'default';
export const ROOT_SECRET = 'ROOTCA';
const CONFIG_MAP = 'configmap://';
/** Too large and too private to be of use; Istio does not even read them. */
const UNREAD_TYPES: readonly string[] = ['helm.sh/release.v1', 'kubernetes.io/service-account-token'];

type Values = Readonly<Record<string, string>>;

/** Argument: an SDS name. undefined: no such secret, nothing usable in it, or not for this proxy. */
export const credential: Query<string, Credential | undefined> = {
  name: 'select/credential',
  run: (reader, name) => {
    const identity = reader.identity();
    if (identity === undefined) return undefined;
    if (name === WORKLOAD_SECRET || name === ROOT_SECRET) return ofWorkload(reader, name, identity);
    const named = parseName(name, identity.namespace);
    if (named === undefined || !isAllowed(reader, named, identity)) return undefined;
    if (named.prefix === CONFIG_MAP) return configMapRoots(reader, named);
    for (const cluster of clustersOf(reader, named.prefix)) {
      const found = named.name.endsWith(CA_SUFFIX)
        ? roots(reader, cluster, named)
        : certificate(reader, cluster, named);
      if (found !== undefined) return found;
    }
    return undefined;
  },
};

function ofWorkload(reader: ProxyReader, name: string, identity: VerifiedIdentity): Credential | undefined {
  if (!certificatesOverAds(reader)) return undefined;
  if (name === ROOT_SECRET) {
    const crl = meshAuthority(reader)?.spec.crl ?? '';
    const revoked = crl === '' ? undefined : base64OfText(crl);
    return { kind: 'roots', roots: base64OfText(reader.get(meshRoots, '')), revoked };
  }
  const own = workloadCredential(reader, identity);
  return own === undefined
    ? undefined
    : { kind: 'workload', chain: base64OfText(own.chain), fingerprint: own.fingerprint };
}

interface Named {
  readonly text: string;
  readonly prefix: typeof OWN | typeof OF_GATEWAY | typeof CONFIG_MAP;
  readonly namespace: string;
  readonly name: string;
}

function parseName(text: string, ownNamespace: string): Named | undefined {
  const prefix = ([OWN, OF_GATEWAY, CONFIG_MAP] as const).find(known => text.startsWith(known));
  if (prefix === undefined) return undefined;
  const [first = '', second] = text.slice(prefix.length).split('/');
  const [namespace, name] = second === undefined ? [prefix === OWN ? ownNamespace : '', first] : [first, second];
  return { text, prefix, namespace, name };
}

function isAllowed(reader: ProxyReader, named: Named, identity: VerifiedIdentity): boolean {
  if (named.prefix === CONFIG_MAP) return true;
  if (named.prefix === OF_GATEWAY) return reader.get(gatewayReferences, '').has(named.text);
  if (named.namespace !== identity.namespace) return false;
  // Roots are public.
  return named.name.endsWith(CA_SUFFIX) || mayReadSecret(reader, named.name, identity);
}

/** Where to look, in this order: the proxy's own cluster before that of the configuration; for Gateways there alone. */
function clustersOf(reader: ProxyReader, prefix: Named['prefix']): readonly string[] {
  const config = reader.setting('clusterId');
  const own = reader.facet('clusterId');
  return prefix === OF_GATEWAY ? [config] : [own, config];
}

function certificate(reader: ProxyReader, cluster: string, named: Named): Credential | undefined {
  const data = secretData(reader, cluster, named.namespace, named.name);
  if (data === undefined) return undefined;
  if (data.cert && data.key) return { kind: 'certificate', chain: data.cert, key: data.key, staple: undefined };
  const { 'tls.crt': chain, 'tls.key': key, 'tls.ocsp-staple': staple } = data;
  return chain && key ? { kind: 'certificate', chain, key, staple } : undefined;
}

/** From the Secret of that very name, or else from the one that holds the certificate. */
function roots(reader: ProxyReader, cluster: string, { namespace, name }: Named): Credential | undefined {
  const data =
    secretData(reader, cluster, namespace, name) ??
    secretData(reader, cluster, namespace, name.slice(0, -CA_SUFFIX.length));
  return data === undefined ? undefined : rootsIn(data);
}

function configMapRoots(reader: ProxyReader, { namespace, name }: Named): Credential | undefined {
  const stripped = name.endsWith(CA_SUFFIX) ? name.slice(0, -CA_SUFFIX.length) : name;
  const map = reader.object('ConfigMap', kubernetesKey(reader.setting('clusterId'), namespace, stripped));
  if (map === undefined) return undefined;
  return rootsIn(Object.fromEntries(Object.entries(map.spec.data).map(([key, text]) => [key, base64OfText(text)])));
}

function rootsIn(data: Values): Credential | undefined {
  if (data.cacert) return { kind: 'roots', roots: data.cacert, revoked: data.crl };
  const { 'ca.crt': ca, 'ca.crl': revoked } = data;
  return ca ? { kind: 'roots', roots: ca, revoked } : undefined;
}

function secretData(reader: ProxyReader, cluster: string, namespace: string, name: string): Values | undefined {
  const secret = reader.object('Secret', kubernetesKey(cluster, namespace, name));
  // The authority's own Secret is never served, whatever rights an account has.
  if (secret !== undefined && isAuthoritySecret(namespace, name, secret.spec.type, reader.setting('systemNamespace'))) {
    return undefined;
  }
  return secret === undefined || UNREAD_TYPES.includes(secret.spec.type) ? undefined : secret.spec.data;
}
