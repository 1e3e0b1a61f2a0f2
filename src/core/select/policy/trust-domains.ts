// The trust domains whose workloads may call: the mesh's own, its aliases, and those of further certificate
// authorities.
// Source: Istio pilot/pkg/model/push_context.go; trust bundles in pilot/pkg/trustbundle.

import { isObject, type Json } from '../../base/json.ts';
import type { Reader } from '../../query/reader.ts';

/** The mesh's own trust domain, then its aliases. */
export function ownTrustDomains(reader: Reader): readonly string[] {
  return [reader.mesh('trustDomain'), ...reader.mesh('trustDomainAliases')];
}

/** In order, without repeats. */
export function trustDomains(reader: Reader): readonly string[] {
  const domains = [...ownTrustDomains(reader)];
  const authorities = reader.mesh('caCertificates') as Json | undefined;
  for (const authority of Array.isArray(authorities) ? authorities : []) {
    if (isObject(authority)) domains.push(...texts(authority.trustDomains));
  }
  return [...new Set(domains)].filter(domain => domain !== '');
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}
