// The workload certificate and the mesh's roots for a proxy that gets them over ADS: what is public of them. The
// private key is no part of state; the resource names the certificate by its fingerprint, and the key is joined when
// the bytes leave (src/xds/serve/private-keys.ts).

import { isOfMesh, type VerifiedIdentity } from '../../model/identity.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import { ownTrustDomains } from '../policy/trust-domains.ts';

export interface WorkloadCredential {
  /** PEM: leaf first. */
  readonly chain: string;
  /** sha256 of the leaf; stands for the key. */
  readonly fingerprint: string;
}

/**
 * Of a proxy without an agent that proves this identity. Undefined: it is none of the mesh, or there is no certificate
 * for it yet.
 */
export function workloadCredential(reader: Reader, identity: VerifiedIdentity): WorkloadCredential | undefined {
  if (!isOfMesh(identity, ownTrustDomains(reader))) return undefined;
  const key = kubernetesKey(reader.setting('clusterId'), identity.namespace, identity.serviceAccount);
  const found = reader.object('WorkloadCertificate', key);
  return found === undefined || found.spec.fingerprint === '' ? undefined : found.spec;
}
