// The identity that a proxy's client certificate proves. A proxy without a verified identity gets no secrets.
// Source: Istio pilot/pkg/xds/auth.go (authorize), pkg/spiffe.

import { metadataText, type ProxyRecord } from './proxy.ts';

export interface VerifiedIdentity {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Of a certificate that a gateway forwarded: its trust domain, which was not compared when the proxy was let in. */
  readonly forwardedDomain?: string;
}

type Claims = Pick<ProxyRecord, 'facets' | 'metadata' | 'identities' | 'proof'>;

/** The first proven identity that agrees with the node's metadata; the trust domain is not compared. */
export function verifiedIdentity({ facets, metadata, identities, proof }: Claims): VerifiedIdentity | undefined {
  const account = metadataText(metadata, 'SERVICE_ACCOUNT');
  for (const text of identities) {
    const identity = parseSpiffe(text);
    if (identity === undefined) continue;
    if (facets.namespace !== '' && facets.namespace !== identity.namespace) continue;
    if (account !== '' && account !== identity.serviceAccount) continue;
    return proof?.how === 'forwarded' ? { ...identity, forwardedDomain: text.split('/')[2] ?? '' } : identity;
  }
  return undefined;
}

/** True if the mesh's authority may certify it: a forwarded identity of another mesh is none of ours. */
export function isOfMesh({ forwardedDomain }: VerifiedIdentity, trustDomains: readonly string[]): boolean {
  return forwardedDomain === undefined || trustDomains.includes(forwardedDomain);
}

/** `spiffe://<trust domain>/ns/<namespace>/sa/<service account>` */
export function parseSpiffe(text: string): VerifiedIdentity | undefined {
  const [, namespace, serviceAccount] = /^spiffe:\/\/[^/]*\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || serviceAccount === undefined ? undefined : { namespace, serviceAccount };
}
