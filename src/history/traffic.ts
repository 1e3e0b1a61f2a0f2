// The destinations of a proxy's routes, and those without endpoints or cluster. Read from generated messages, so it
// holds for any generator.

import { isObject } from '../core/base/json.ts';
import { endpointsOf } from '../xds/generate/common/watched-names.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import type { SendProblem, Split } from './answers.ts';
import type { Holdings } from './holdings.ts';

/** A place in routes or listeners that names a cluster. */
export interface Sends {
  /** e.g. `host reviews.shop.svc.cluster.local:9080` or `listener 0.0.0.0_3306` */
  readonly from: string;
  readonly cluster: string;
}

/** Everything that names a cluster, each pair once. */
export function sendsOf(holdings: Holdings): readonly Sends[] {
  const found = new Map<string, Sends>();
  const add = (from: string, clusters: readonly string[]): void => {
    for (const cluster of clusters) found.set(`${from}\n${cluster}`, { from, cluster });
  };
  for (const { message } of holdings.get(RDS)?.values() ?? []) {
    const { virtualHosts = [] } = message as { readonly virtualHosts?: readonly { readonly name?: string }[] };
    for (const host of virtualHosts) add(`host ${host.name ?? ''}`, clustersIn(host));
  }
  for (const { name, message } of holdings.get(LDS)?.values() ?? []) add(`listener ${name}`, clustersIn(message));
  return [...found.values()];
}

/** Routes to clusters that the proxy does not have: Envoy answers 503 NC. */
export function dangling(holdings: Holdings): readonly Sends[] {
  const clusters = holdings.get(CDS);
  return sendsOf(holdings).filter(({ cluster }) => clusters?.has(cluster) !== true);
}

/** Clusters that something is sent to and that have no endpoints: Envoy answers 503 UH. */
export function withoutEndpoints(holdings: Holdings): readonly Sends[] {
  return sendsOf(holdings).filter(({ cluster }) => endpointCount(holdings, cluster) === 0);
}

/** Endpoints of a cluster that finds them by EDS; undefined: it finds them otherwise, or is not there. */
export function endpointCount(holdings: Holdings, cluster: string): number | undefined {
  const message = holdings.get(CDS)?.get(cluster)?.message;
  const [assignment] = message === undefined ? [] : endpointsOf(message);
  if (assignment === undefined) return undefined;
  return endpointsIn(holdings.get(EDS)?.get(assignment)?.message);
}

export function endpointsIn(assignment: object | undefined): number {
  const { endpoints = [] } = (assignment ?? {}) as {
    readonly endpoints?: readonly { readonly lbEndpoints?: readonly unknown[] }[];
  };
  return endpoints.reduce((sum, { lbEndpoints = [] }) => sum + lbEndpoints.length, 0);
}

const known = new WeakMap<object, readonly string[]>();

/** `cluster` of routes, mirrors and TCP proxies, and the names in weighted clusters. */
function clustersIn(message: object): readonly string[] {
  const before = known.get(message);
  if (before !== undefined) return before;
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isObject(value)) {
      if (typeof value.cluster === 'string' && value.cluster !== '') found.add(value.cluster);
      const weighted = isObject(value.weightedClusters) ? value.weightedClusters.clusters : undefined;
      if (Array.isArray(weighted)) for (const one of weighted) if (isObject(one)) found.add(String(one.name));
      for (const member of Object.values(value)) if (typeof member === 'object') visit(member);
    }
  };
  visit(message);
  const names = [...found].sort();
  known.set(message, names);
  return names;
}

export function splitOf(holdings: Holdings, cluster: string, share: number): Split {
  const [, port = '0', subset = '', host] = cluster.split('|');
  const endpoints = endpointCount(holdings, cluster);
  const named = host === undefined ? { host: cluster, port: 0, subset: '' } : { host, port: Number(port), subset };
  return { cluster, ...named, share, ...(endpoints === undefined ? {} : { endpoints }) };
}

/** What a caller gets who is sent there: 503 NC or 503 UH. */
export function problemsOf(holdings: Holdings, { cluster, endpoints }: Omit<Split, 'share'>): readonly SendProblem[] {
  if (holdings.get(CDS)?.has(cluster) !== true) {
    return [{ kind: 'missing-cluster', message: `routes lead to ${cluster}, which is not there` }];
  }
  return endpoints === 0 ? [{ kind: 'no-endpoints', message: `${cluster} has no endpoints` }] : [];
}
