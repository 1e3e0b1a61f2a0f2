// What is broken for proxies at a position, compared with a position where things were well: each symptom is one line
// that can be looked for at other positions.
//
// Read from generated configuration alone, as `bisect` reads it: routes to clusters that are not there, clusters that
// lost their endpoints, hosts that lost their routes, objects that are refused, proxies that are gone.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import type { Symptom } from './answers.ts';
import { type Holdings, holdingsOf } from './holdings.ts';
import { dangling, endpointCount } from './traffic.ts';

/** What a proxy had at the good position. */
export interface Baseline {
  readonly proxy: ProxyRecord;
  readonly clustersWithEndpoints: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
}

const TYPES: readonly string[] = [CDS, EDS, LDS, RDS];

export function baselineOf(tracker: Tracker, state: State, proxy: ProxyRecord): Baseline {
  const holdings = holdingsOf(tracker, state, proxy, TYPES);
  const clusters = [...(holdings.get(CDS)?.keys() ?? [])];
  return {
    proxy,
    clustersWithEndpoints: new Set(clusters.filter(name => (endpointCount(holdings, name) ?? 0) > 0)),
    hosts: hostsOf(holdings),
  };
}

/** Of proxies that are not connected there, the last known node counts. */
export function symptomsAt(tracker: Tracker, state: State, baselines: readonly Baseline[]): readonly Symptom[] {
  const found: Symptom[] = [];
  const ids = new Set([...state.proxies.values()].map(({ facets }) => facets.id));
  for (const baseline of baselines) {
    const { id } = baseline.proxy.facets;
    if (!ids.has(id)) found.push({ kind: 'proxy-gone', proxy: id, what: id });
    const holdings = holdingsOf(tracker, state, state.proxies.get(baseline.proxy.connection) ?? baseline.proxy, TYPES);
    found.push(...ofHoldings(holdings, baseline, id));
  }
  for (const { kind, key, refused } of state.records.values()) {
    if (refused !== undefined) found.push({ kind: 'refused', proxy: '', what: `${kind}/${key}` });
  }
  return found;
}

function* ofHoldings(holdings: Holdings, { clustersWithEndpoints, hosts }: Baseline, proxy: string) {
  const missing = new Set(dangling(holdings).map(({ cluster }) => cluster));
  for (const what of missing) yield { kind: 'cluster-missing', proxy, what } as const;
  for (const what of clustersWithEndpoints) {
    if (endpointCount(holdings, what) === 0) yield { kind: 'endpoints-lost', proxy, what } as const;
  }
  const now = hostsOf(holdings);
  for (const what of hosts) if (!now.has(what)) yield { kind: 'route-lost', proxy, what } as const;
}

function hostsOf(holdings: Holdings): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { message } of holdings.get(RDS)?.values() ?? []) {
    const { virtualHosts = [] } = message as { readonly virtualHosts?: readonly { readonly name?: string }[] };
    for (const { name = '' } of virtualHosts) names.add(name);
  }
  return names;
}

export function symptomKey({ kind, proxy, what }: Symptom): string {
  return `${kind}|${proxy}|${what}`;
}
