// The workload certificate and the mesh's roots for a proxy that gets them over ADS: what is public of them. The
// private key is no part of state; the resource names the certificate by its fingerprint, and the key is joined when
// the bytes leave (src/xds/serve/private-keys.ts).

import { isObject, type Json } from '../../base/json.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { certificatesOverAds, meshAuthority } from '../proxy/proxy-capabilities.ts';

export interface WorkloadCredential {
  /** PEM: leaf first. */
  readonly chain: string;
  /** sha256 of the leaf; stands for the key. */
  readonly fingerprint: string;
}

/** Undefined: the proxy has an agent, proves nothing, or there is no certificate for it yet. */
export function workloadCredential(reader: ProxyReader): WorkloadCredential | undefined {
  const identity = reader.identity();
  if (identity === undefined || !certificatesOverAds(reader)) return undefined;
  const key = kubernetesKey(reader.setting('clusterId'), identity.namespace, identity.serviceAccount);
  const found = reader.object('WorkloadCertificate', key);
  return found === undefined || found.spec.fingerprint === '' ? undefined : found.spec;
}

/**
 * PEM of everything that workloads of this mesh trust: the authority's roots, those of MeshConfig, those behind
 * SPIFFE bundle URLs. Each once.
 */
export const meshRoots: Query<'', string> = {
  name: 'select/meshRoots',
  run: reader => {
    const found = new Set<string>();
    const note = (pem: string): void => {
      for (const block of pem.match(CERTIFICATE) ?? []) found.add(block);
    };
    note(meshAuthority(reader)?.spec.roots ?? '');
    for (const pem of configuredRoots(reader)) note(pem);
    for (const { spec } of reader.objects('SpiffeBundle', `${reader.setting('clusterId')}/`))
      spec.certificates.forEach(note);
    return [...found]
      .sort()
      .map(block => `${block}\n`)
      .join('');
  },
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** MeshConfig.caCertificates[].pem */
function configuredRoots(reader: Reader): readonly string[] {
  const authorities = reader.mesh('caCertificates') as Json | undefined;
  return (Array.isArray(authorities) ? authorities : []).flatMap(authority =>
    isObject(authority) && typeof authority.pem === 'string' ? [authority.pem] : [],
  );
}
