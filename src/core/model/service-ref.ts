// A service by hostname and namespace: the argument of the queries about its endpoints and accounts. The key is the
// text that such a query is memoised by, made here once.

import type { Service } from './service.ts';

export type ServiceRef = Pick<Service, 'hostname' | 'namespace'>;

/** A reference alone: an argument that is kept must not keep the service of an earlier state alive. */
export function refOf({ hostname, namespace }: ServiceRef): ServiceRef {
  return { hostname, namespace };
}

export function refKey({ hostname, namespace }: ServiceRef): string {
  return `${hostname}\u0000${namespace}`;
}
