// Collects the resources that a proxy subscribes to on one stream, in its order: clusters, endpoints of EDS clusters,
// listeners, the route configurations that they name, and so on. Keys of the result are the file names of `periplus
// generate`.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { compareText } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS, SDS, WORKLOAD_ADDRESS, WORKLOAD_AUTHORIZATION } from '../xds/session/types.ts';
import { allOf, listedOf, namedOf, resourceJson } from './generate.ts';

/** File name without extension → the resources in it. */
export type Collected = Readonly<Record<string, readonly Json[]>>;

/** How a proxy subscribes. */
export interface SubscriptionProfile {
  /** A ztunnel: incremental, for workloads and authorizations. */
  readonly delta?: boolean;
  /** Proxyless gRPC: exactly these listeners and the resources that they refer to. */
  readonly watchLds?: readonly string[];
}

export interface Client {
  readonly tracker: Tracker;
  readonly state: State;
  readonly proxy: ProxyRecord;
  /** Called for a type or resource whose generation failed; the others are still collected. */
  readonly failed: (what: string, error: unknown) => void;
}

export function collect(client: Client, profile: SubscriptionProfile): Collected {
  if (profile.delta) {
    return { wds: withNames(client, WORKLOAD_ADDRESS), wads: withNames(client, WORKLOAD_AUTHORIZATION) };
  }
  if (profile.watchLds !== undefined) return proxyless(client, profile.watchLds);
  const cds = everything(client, CDS);
  const lds = everything(client, LDS);
  const secrets = new Set<string>();
  walk([...cds, ...lds], (key, value) => collectSecret(key, value, secrets));
  return {
    cds,
    eds: named(client, EDS, endpointNames(cds)),
    lds,
    rds: named(client, RDS, routeNames(lds)),
    ecds: named(client, ECDS, extensionNames(lds)),
    sds: named(client, SDS, secrets),
    nds: isTrue(client.proxy.metadata.DNS_CAPTURE) ? everything(client, NDS) : [],
  };
}

/** A proxyless gRPC client: its listeners by name, then the resources that these refer to. */
function proxyless(client: Client, listeners: readonly string[]): Collected {
  const lds = attempt(client, LDS, () =>
    listedOf(client.tracker, client.state, client.proxy, LDS, listeners).map(made => resourceJson(LDS, made)),
  );
  const rds = named(client, RDS, routeNames(lds));
  const clusterNames = new Set<string>();
  walk([...lds, ...rds], (key, value) => {
    if (key === 'cluster' && typeof value === 'string') clusterNames.add(value);
    if (key !== 'weightedClusters' || !isObject(value) || !Array.isArray(value.clusters)) return;
    for (const one of value.clusters) if (isObject(one) && typeof one.name === 'string') clusterNames.add(one.name);
  });
  const cds = named(client, CDS, clusterNames);
  return { cds, eds: named(client, EDS, endpointNames(cds)), lds, rds, ecds: [], sds: [], nds: [] };
}

function everything(client: Client, url: string): readonly Json[] {
  return attempt(client, url, () =>
    allOf(client.tracker, client.state, client.proxy, url).flatMap(resource =>
      attempt(client, `${url} ${resource.name}`, () => [resourceJson(url, resource)]),
    ),
  );
}

/** As an incremental response holds them: not every message has its name in it. Sorted by name. */
function withNames(client: Client, url: string): readonly Json[] {
  const made = attempt(client, url, () => allOf(client.tracker, client.state, client.proxy, url));
  return [...made]
    .sort((a, b) => compareText(a.name, b.name))
    .flatMap(resource =>
      attempt(client, `${url} ${resource.name}`, () => [
        { name: resource.name, resource: resourceJson(url, resource) },
      ]),
    );
}

function named(client: Client, url: string, names: Iterable<string>): readonly Json[] {
  return [...new Set(names)].sort().flatMap(name =>
    attempt(client, `${url} ${name}`, () => {
      const resource = namedOf(client.tracker, client.state, client.proxy, url, name);
      return resource === undefined ? [] : [resourceJson(url, resource)];
    }),
  );
}

function attempt<T>(client: Client, what: string, run: () => readonly T[]): readonly T[] {
  try {
    return run();
  } catch (error) {
    client.failed(what, error);
    return [];
  }
}

function endpointNames(clusters: readonly Json[]): readonly string[] {
  return clusters.filter(isObject).flatMap(cluster => {
    if (cluster.type !== 'EDS') return [];
    const service = isObject(cluster.edsClusterConfig) ? cluster.edsClusterConfig.serviceName : undefined;
    return [String(service ?? cluster.name)];
  });
}

function routeNames(listeners: readonly Json[]): ReadonlySet<string> {
  const names = new Set<string>();
  walk(listeners, (key, value) => {
    if (key === 'rds' && isObject(value) && typeof value.routeConfigName === 'string') names.add(value.routeConfigName);
  });
  return names;
}

function extensionNames(listeners: readonly Json[]): ReadonlySet<string> {
  const names = new Set<string>();
  walk(listeners, (_key, value) => {
    if (isObject(value) && isObject(value.configDiscovery) && typeof value.name === 'string') names.add(value.name);
  });
  return names;
}

/** A secret whose SDS source is ADS. */
function collectSecret(_key: string, value: Json, into: Set<string>): void {
  if (!isObject(value) || typeof value.name !== 'string') return;
  if (isObject(value.sdsConfig) && value.sdsConfig.ads !== undefined) into.add(value.name);
}

function walk(value: Json | JsonObject, visit: (key: string, value: Json) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    visit(key, member);
    walk(member, visit);
  }
}

function isTrue(value: Json | undefined): boolean {
  return value === true || value === 'true';
}
