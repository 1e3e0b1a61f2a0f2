// The trust domains whose workloads may call: the mesh's own, its aliases, and those of further certificate
// authorities.
// Source: Istio pilot/pkg/model/push_context.go; trust bundles in pilot/pkg/trustbundle.

import { isObject, type Json } from '../../base/json.ts';
import type { Reader } from '../../query/reader.ts';

/** In order, without repeats. */
export function trustDomains(reader: Reader): readonly string[] {
  const domains = [reader.mesh('trustDomain'), ...texts(reader.mesh('trustDomainAliases') as Json | undefined)];
  const authorities = reader.mesh('caCertificates') as Json | undefined;
  for (const authority of Array.isArray(authorities) ? authorities : []) {
    if (isObject(authority)) domains.push(...texts(authority.trustDomains));
  }
  return [...new Set(domains)].filter(domain => domain !== '');
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}
