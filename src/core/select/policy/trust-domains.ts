// The trust domains whose workloads may call: the mesh's own, its aliases, and those of further certificate
// authorities.
// Source: Istio pilot/pkg/model/push_context.go; trust bundles in pilot/pkg/trustbundle.

import type { Reader } from '../../query/reader.ts';

/** The mesh's own trust domain, then its aliases. */
export function ownTrustDomains(reader: Reader): readonly string[] {
  return [reader.mesh('trustDomain'), ...reader.mesh('trustDomainAliases')];
}

/** In order, without repeats. */
export function trustDomains(reader: Reader): readonly string[] {
  const ofAuthorities = (reader.mesh('caCertificates') ?? []).flatMap(({ trustDomains: named = [] }) => named);
  return [...new Set([...ownTrustDomains(reader), ...ofAuthorities])].filter(domain => domain !== '');
}
