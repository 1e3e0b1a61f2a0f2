// Patches of a listener, in fixed phases: the listener itself, its listener filters, then each filter chain with its
// filters, then chains that are added. The order of the patches counts within a phase.
// Source: Istio pilot/pkg/networking/core/envoyfilter/listener_patch.go (patchListener, patchFilterChain).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { ListenerPatches } from '../../../core/select/patch/proxy-patches.ts';
import type { FilterChain, Listener, ListenerFilter } from '../../proto/types.gen.ts';
import { mapSame, patchList } from './filter-list.ts';
import { patchNetworkFilters, typeMismatch } from './filters.ts';
import { isForChain, isForListener, listenerFilterOf } from './listener-match.ts';
import { mergeAny, mergeMessage } from './merge.ts';
import { Outcome, type Patched, patchWork } from './outcome.ts';

const LISTENER = 'envoy.config.listener.v3.Listener';
const FILTER_CHAIN = 'envoy.config.listener.v3.FilterChain';

export const patchedListener: Generator<
  { readonly listener: Resource<Listener>; readonly patches: ListenerPatches },
  Patched<Resource<Listener>>
> = {
  name: 'patch/listener',
  work: patchWork,
  run: ({ listener, patches }) => {
    const { listener: own, listenerFilter, filterChain, networkFilter, httpFilter } = patches;
    const outcome = new Outcome(own, listenerFilter, filterChain, networkFilter, httpFilter);
    const message = patchListener(listener.message, patches, outcome);
    if (message === undefined) return outcome.of<Resource<Listener>>(undefined);
    if (message === listener.message) return outcome.of(listener);
    return outcome.of({ ...listener, name: message.name ?? '', message });
  },
};

/** A listener that is added, one object for each patch. */
export const addedListener: Generator<{ readonly patch: EnvoyPatch }, Resource<Listener>> = {
  name: 'patch/addedListener',
  run: ({ patch }) => {
    const message = patch.value as Listener;
    return { name: message.name ?? '', message, problems: [] };
  },
};

function patchListener(listener: Listener, patches: ListenerPatches, outcome: Outcome): Listener | undefined {
  let out = listener;
  for (const patch of patches.listener) {
    if (!isForListener(patch, out)) continue;
    if (patch.operation !== 'REMOVE' && patch.operation !== 'MERGE') continue;
    outcome.acted(patch);
    if (patch.operation === 'REMOVE') return undefined;
    out = mergeMessage(LISTENER, out, patch.value, outcome.grown);
  }
  return patchChains(patchListenerFilters(out, patches.listenerFilter, outcome), patches, outcome);
}

function patchListenerFilters(listener: Listener, patches: readonly EnvoyPatch[], outcome: Outcome): Listener {
  const before = listener.listenerFilters ?? [];
  let list: readonly ListenerFilter[] = before;
  for (const patch of patches) {
    if (!isForListener(patch, listener)) continue;
    const named = listenerFilterOf(patch);
    list =
      patch.operation === 'MERGE' && named !== undefined
        ? mapSame(list, filter => (named(filter) ? mergeListenerFilter(filter, patch, outcome) : filter))
        : patchList(list, patch, named, outcome);
  }
  return list === before ? listener : { ...listener, listenerFilters: list };
}

/** The configuration alone: the name stays. */
function mergeListenerFilter(filter: ListenerFilter, patch: EnvoyPatch, outcome: Outcome): ListenerFilter {
  const { typedConfig } = patch.value as ListenerFilter;
  if (typedConfig === undefined || filter.typedConfig === undefined) return filter;
  const merged = mergeAny(filter.typedConfig, typedConfig, outcome.grown);
  if (merged === undefined) outcome.failed(patch, typeMismatch(filter.typedConfig, typedConfig));
  else outcome.acted(patch);
  return merged === undefined || merged === filter.typedConfig ? filter : { ...filter, typedConfig: merged };
}

function patchChains(listener: Listener, patches: ListenerPatches, outcome: Outcome): Listener {
  const forListener = (list: readonly EnvoyPatch[]): readonly EnvoyPatch[] =>
    list.filter(patch => isForListener(patch, listener));
  const forChains = {
    filterChain: forListener(patches.filterChain),
    networkFilter: forListener(patches.networkFilter),
    httpFilter: forListener(patches.httpFilter),
  };
  const { filterChains: before = [], defaultFilterChain: fallback } = listener;
  let chains: readonly FilterChain[] = before;
  const removed = new Set<FilterChain>();
  chains = mapSame(chains, chain => {
    if (chain.filters === undefined) return chain;
    const after = patchChain(listener, chain, forChains, outcome);
    if (after === undefined) removed.add(chain);
    return after ?? chain;
  });
  for (const patch of forChains.filterChain) {
    if (patch.operation !== 'ADD') continue;
    chains = patchList(chains, patch, undefined, outcome);
  }
  if (chains.some(chain => removed.has(chain) || chain.filters === undefined)) {
    chains = chains.filter(chain => !removed.has(chain) && chain.filters !== undefined);
  }
  const defaultChain = fallback?.filters === undefined ? fallback : patchChain(listener, fallback, forChains, outcome);
  if (chains === before && defaultChain === fallback) return listener;
  const { defaultFilterChain: _, ...rest } = { ...listener, filterChains: chains };
  return defaultChain === undefined ? rest : { ...rest, defaultFilterChain: defaultChain };
}

type ChainPatches = Pick<ListenerPatches, 'filterChain' | 'networkFilter' | 'httpFilter'>;

/** undefined: it is removed. */
function patchChain(
  listener: Listener,
  chain: FilterChain,
  patches: ChainPatches,
  outcome: Outcome,
): FilterChain | undefined {
  let out = chain;
  const isFor = (patch: EnvoyPatch): boolean => isForChain(patch, listener, out);
  for (const patch of patches.filterChain) {
    if ((patch.operation !== 'REMOVE' && patch.operation !== 'MERGE') || !isFor(patch)) continue;
    if (patch.operation === 'REMOVE') {
      outcome.acted(patch);
      return undefined;
    }
    out = mergeChain(out, patch, outcome);
  }
  const { filters = [] } = out;
  const after = patchNetworkFilters(
    filters,
    patches.networkFilter.filter(isFor),
    patches.httpFilter.filter(isFor),
    outcome,
  );
  return after === filters ? out : { ...out, filters: after };
}

/** A transport socket of the same name is merged, and then the rest of the patch has no effect. */
function mergeChain(chain: FilterChain, patch: EnvoyPatch, outcome: Outcome): FilterChain {
  const value = patch.value as FilterChain;
  const { transportSocket: own } = chain;
  const { transportSocket: socket } = value;
  if (own === undefined || socket === undefined || (socket.name ?? '') !== (own.name ?? '')) {
    outcome.acted(patch);
    return mergeMessage(FILTER_CHAIN, chain, value, outcome.grown);
  }
  if (own.typedConfig === undefined || socket.typedConfig === undefined) return chain;
  const merged = mergeAny(own.typedConfig, socket.typedConfig, outcome.grown);
  if (merged === undefined) {
    outcome.failed(patch, typeMismatch(own.typedConfig, socket.typedConfig));
    return chain;
  }
  outcome.acted(patch);
  return merged === own.typedConfig ? chain : { ...chain, transportSocket: { ...own, typedConfig: merged } };
}
