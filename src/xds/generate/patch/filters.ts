// Patches of the network filters of a chain, and of the HTTP filters inside of a connection manager.
//
// All additions and removals come before the merges, whatever the order of the patches: a merge meets what a later
// patch inserts. A merge names or re-configures a filter; other members of its value have no effect.
// Source: Istio pilot/pkg/networking/core/envoyfilter/listener_patch.go (patchNetworkFilters, patchHTTPFilters).

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import { typeNameOf } from '../../proto/any.ts';
import type { AnyMessage, Filter, HttpConnectionManager, HttpFilter } from '../../proto/types.gen.ts';
import { mapSame, patchList } from './filter-list.ts';
import { httpFilterOf, networkFilterOf } from './listener-match.ts';
import { mergeAny } from './merge.ts';
import type { Outcome } from './outcome.ts';

const CONNECTION_MANAGER = 'envoy.filters.network.http_connection_manager';
const CONNECTION_MANAGER_TYPE = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** `network` and `http`: the patches for the chain. */
export function patchNetworkFilters(
  filters: readonly Filter[],
  network: readonly EnvoyPatch[],
  http: readonly EnvoyPatch[],
  outcome: Outcome,
): readonly Filter[] {
  let list = filters;
  for (const patch of network) list = patchList(list, patch, networkFilterOf(patch), outcome);
  const merges = network.filter(isMerge);
  return mapSame(list, filter => {
    const merged = mergeFilters(filter, merges, networkFilterOf, outcome);
    return merged.name === CONNECTION_MANAGER && http.length > 0 ? patchHttpFilters(merged, http, outcome) : merged;
  });
}

function patchHttpFilters(filter: Filter, patches: readonly EnvoyPatch[], outcome: Outcome): Filter {
  const { typedConfig } = filter;
  if (typedConfig === undefined || typeNameOf(typedConfig['@type']) !== CONNECTION_MANAGER_TYPE) return filter;
  const manager = typedConfig as AnyMessage & HttpConnectionManager;
  const before = manager.httpFilters ?? [];
  const mine = patches.filter(patch => networkFilterOf(patch)?.(filter) !== false);
  let list: readonly HttpFilter[] = before;
  for (const patch of mine) list = patchList(list, patch, httpFilterOf(patch), outcome);
  const merges = mine.filter(isMerge);
  list = mapSame(list, one => mergeFilters(one, merges, httpFilterOf, outcome));
  if (list === before) return filter;
  return { ...filter, typedConfig: { ...manager, httpFilters: list } as AnyMessage };
}

interface Configured {
  readonly name?: string | undefined;
  readonly typedConfig?: AnyMessage | undefined;
}

function isMerge({ operation }: EnvoyPatch): boolean {
  return operation === 'MERGE';
}

/** Later merges look for the name that earlier ones gave. A filter without a configuration of its own stays. */
function mergeFilters<T extends Configured>(
  filter: T,
  merges: readonly EnvoyPatch[],
  namedBy: (patch: EnvoyPatch) => ((filter: Configured) => boolean) | undefined,
  outcome: Outcome,
): T {
  let out = filter;
  for (const patch of merges) {
    if (namedBy(patch)?.(out) === false || out.typedConfig === undefined) continue;
    out = mergeFilter(out, patch, outcome);
  }
  return out;
}

function mergeFilter<T extends Configured>(filter: T, patch: EnvoyPatch, outcome: Outcome): T {
  const { name = filter.name, typedConfig } = patch.value as Configured;
  let config = filter.typedConfig!;
  if (typedConfig !== undefined) {
    const merged = mergeAny(config, typedConfig, outcome.grown);
    if (merged === undefined) {
      outcome.failed(patch, typeMismatch(config, typedConfig));
      return filter;
    }
    config = merged;
  }
  outcome.acted(patch);
  return name === filter.name && config === filter.typedConfig ? filter : { ...filter, name, typedConfig: config };
}

export function typeMismatch(into: AnyMessage, patch: AnyMessage): string {
  return `${typeNameOf(patch['@type'])} cannot be merged into ${typeNameOf(into['@type'])}`;
}
