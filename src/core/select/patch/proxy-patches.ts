// The EnvoyFilter patches of a proxy, in the order in which they are applied, and the lists that generation asks for.
//
// Objects of the root namespace and of the proxy's own that are attached to it, by priority; of equal ones the root
// namespace's first, then the older, then by the text `name.namespace`. Lists are found by their elements, so that all
// proxies with equal patches share them; an empty one is undefined, and what it would patch passes through.
// Source: Istio pilot/pkg/model/push_context.go (EnvoyFilters), pilot/pkg/model/envoyfilter.go (proxyMatch).

import { RE2JS } from 're2js';
import { joined } from '../../base/groups.ts';
import { compareText, type Obj } from '../../model/object.ts';
import { interning } from '../../query/memo.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import type { EnvoyFilter_EnvoyConfigObjectPatch, EnvoyFilter_ProxyMatch } from '../../schema/istio-types.gen.ts';
import { isAttached } from '../policy/attachment.ts';
import { type ApplyTo, type EnvoyPatch, envoyPatch, isAddedFor, isFor, type PatchContext } from './envoy-patch.ts';

/** A patch and where it is written. */
export interface OwnedPatch {
  /** `namespace/name` of the EnvoyFilter. */
  readonly filter: string;
  /** Of `spec.configPatches`. */
  readonly index: number;
  readonly patch: EnvoyPatch;
}

/** Argument: a namespace. The EnvoyFilters that can be attached to its proxies, in order. */
const envoyFiltersOf: Query<string, readonly Obj<'EnvoyFilter'>[]> = {
  name: 'select/envoyFiltersOf',
  run: (reader, namespace) => {
    const root = reader.mesh('rootNamespace');
    const namespaces = new Set([root, namespace]);
    const found = [...namespaces].flatMap(one => (one === '' ? [] : reader.objects('EnvoyFilter', `${one}/`)));
    return found.sort((a, b) => {
      const [first, second] = [a, b].map(one => (one.namespace === root ? 0 : 1));
      return (
        (a.spec.priority ?? 0) - (b.spec.priority ?? 0) ||
        first! - second! ||
        a.creationTime - b.creationTime ||
        compareText(`${a.name}.${a.namespace}`, `${b.name}.${b.namespace}`)
      );
    });
  },
};

type PatchOfProxies = OwnedPatch & { readonly proxy: EnvoyFilter_ProxyMatch | undefined };

/** Argument: `namespace/name` of an EnvoyFilter. Its entries that can act. */
const patchesOf: Query<string, readonly PatchOfProxies[]> = {
  name: 'select/patchesOf',
  run: (reader, filter) => {
    const { length } = entriesOf(reader, filter);
    if (length <= ENTRIES_ALONE_MAX) return patchesBetween(reader, { filter, from: 0, to: length });
    const starts = Array.from({ length: Math.ceil(length / ENTRIES_TOGETHER) }, (_, i) => i * ENTRIES_TOGETHER);
    return joined(starts.map(from => reader.get(patchBlock, { filter, from, to: from + ENTRIES_TOGETHER })));
  },
};

/** More entries are read in blocks, each of which stays read. */
const ENTRIES_ALONE_MAX = 256;
const ENTRIES_TOGETHER = 64;

interface EntryRange {
  readonly filter: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const patchBlock: Query<EntryRange, readonly PatchOfProxies[]> = {
  name: 'select/patchBlock',
  key: ({ filter, from }) => `${filter}|${from}`,
  run: patchesBetween,
};

function patchesBetween(reader: Reader, { filter, from, to }: EntryRange): readonly PatchOfProxies[] {
  const entries = entriesOf(reader, filter).slice(from, to);
  return entries.flatMap((entry, i) => {
    const patch = envoyPatch(reader, entry);
    return patch === undefined ? [] : [{ filter, index: from + i, patch, proxy: entry.match?.proxy }];
  });
}

function entriesOf(reader: Reader, filter: string): readonly EnvoyFilter_EnvoyConfigObjectPatch[] {
  return reader.object('EnvoyFilter', filter)?.spec.configPatches ?? [];
}

/** The EnvoyFilters of the proxy, in order. */
export function attachedFilters(reader: ProxyReader): readonly Obj<'EnvoyFilter'>[] {
  return reader.get(envoyFiltersOf, reader.facet('namespace')).filter(({ namespace, spec }) => {
    const { workloadSelector, targetRefs = [] } = spec;
    return isAttached(reader, namespace, { selector: { matchLabels: workloadSelector?.labels ?? {} }, targetRefs });
  });
}

/** Every patch of the proxy, in order. */
export const proxyPatches: Query<'', readonly OwnedPatch[]> = {
  name: 'select/proxyPatches',
  run: reader =>
    attachedFilters(reader).flatMap(({ namespace, name }) =>
      reader
        .get(patchesOf, `${namespace}/${name}`)
        .filter(({ proxy }) => proxy === undefined || isOfProxy(reader, proxy))
        .map(({ filter, index, patch }) => ({ filter, index, patch })),
    ),
};

/** Each condition is a facet of its own, so that proxies which meet the same ones share what follows. */
function isOfProxy(reader: ProxyReader, { proxyVersion = '', metadata = {} }: EnvoyFilter_ProxyMatch): boolean {
  if (
    proxyVersion !== '' &&
    !reader.derived({ name: `select/versionIs ${proxyVersion}`, run: versionIs(proxyVersion) })
  ) {
    return false;
  }
  return Object.entries(metadata).every(([key, value]) =>
    reader.derived({ name: `select/metadataIs ${key}\u0000${value}`, run: own => own.metadata(key) === value }),
  );
}

/** Unanchored; an expression that cannot be read restricts nothing. */
function versionIs(expression: string): (reader: ProxyReader) => boolean {
  return reader => {
    const version = reader.metadata('ISTIO_VERSION');
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(expression);
    } catch {
      return true;
    }
    return typeof version === 'string' && version !== '' && compiled.matcher(version).find();
  };
}

/** A list by identity. */
interface PatchList {
  readonly patches: readonly EnvoyPatch[];
}

const oneOfEqualLists = interning<PatchList>('select/oneOfEqualPatchLists');

function listOf(reader: ProxyReader, keep: (patch: EnvoyPatch) => boolean): readonly EnvoyPatch[] {
  const patches = reader.get(proxyPatches, '').flatMap(({ patch }) => (keep(patch) ? [patch] : []));
  return patches.length === 0 ? none : reader.make(oneOfEqualLists, { patches }).patches;
}

const none: readonly EnvoyPatch[] = [];

export interface ListenerPatches {
  readonly listener: readonly EnvoyPatch[];
  readonly listenerFilter: readonly EnvoyPatch[];
  readonly filterChain: readonly EnvoyPatch[];
  readonly networkFilter: readonly EnvoyPatch[];
  readonly httpFilter: readonly EnvoyPatch[];
}

const oneOfEqualListenerPatches = interning<ListenerPatches>('select/oneOfEqualListenerPatches');

/** Argument: the context. undefined: no listener of the context is patched. */
export const listenerPatches: Query<PatchContext, ListenerPatches | undefined> = {
  name: 'select/listenerPatches',
  run: (reader, context) => {
    const to = (applyTo: ApplyTo): readonly EnvoyPatch[] =>
      listOf(reader, patch => patch.applyTo === applyTo && isFor(patch, context));
    const patches = {
      listener: to('LISTENER').filter(patch => patch.operation !== 'ADD'),
      listenerFilter: to('LISTENER_FILTER'),
      filterChain: to('FILTER_CHAIN'),
      networkFilter: to('NETWORK_FILTER'),
      httpFilter: to('HTTP_FILTER'),
    };
    const isEmpty = Object.values(patches).every(list => list.length === 0);
    return isEmpty ? undefined : reader.make(oneOfEqualListenerPatches, patches);
  },
};

/** Argument: the context. Listeners that are added. */
export const addedListeners: Query<PatchContext, readonly EnvoyPatch[]> = {
  name: 'select/addedListeners',
  run: (reader, context) => listOf(reader, patch => patch.applyTo === 'LISTENER' && isAddedFor(patch, context)),
};

export interface RoutePatches {
  readonly configuration: readonly EnvoyPatch[];
  readonly virtualHost: readonly EnvoyPatch[];
  readonly route: readonly EnvoyPatch[];
}

const oneOfEqualRoutePatches = interning<RoutePatches>('select/oneOfEqualRoutePatches');

/** Argument: the context. undefined: no route configuration of the context is patched. */
export const routePatches: Query<PatchContext, RoutePatches | undefined> = {
  name: 'select/routePatches',
  run: (reader, context) => {
    const to = (applyTo: ApplyTo): readonly EnvoyPatch[] =>
      listOf(reader, patch => patch.applyTo === applyTo && isFor(patch, context));
    const patches = {
      configuration: to('ROUTE_CONFIGURATION').filter(patch => patch.operation === 'MERGE'),
      virtualHost: to('VIRTUAL_HOST'),
      route: to('HTTP_ROUTE'),
    };
    const isEmpty = Object.values(patches).every(list => list.length === 0);
    return isEmpty ? undefined : reader.make(oneOfEqualRoutePatches, patches);
  },
};

export type ClusterPatches = PatchList;

/** Argument: the context. Changes of clusters; undefined: none. */
export const clusterPatches: Query<PatchContext, ClusterPatches | undefined> = {
  name: 'select/clusterPatches',
  run: (reader, context) => {
    const changes = (patch: EnvoyPatch): boolean => patch.operation === 'MERGE' || patch.operation === 'REMOVE';
    const patches = listOf(reader, patch => patch.applyTo === 'CLUSTER' && isFor(patch, context) && changes(patch));
    return patches.length === 0 ? undefined : reader.make(oneOfEqualLists, { patches });
  },
};

/** Argument: the context. Clusters that are added. */
export const addedClusters: Query<PatchContext, readonly EnvoyPatch[]> = {
  name: 'select/addedClusters',
  run: (reader, context) => listOf(reader, patch => patch.applyTo === 'CLUSTER' && isAddedFor(patch, context)),
};

/** Extension configurations, whatever their context: the name decides who gets them. */
export const extensionPatches: Query<'', readonly EnvoyPatch[]> = {
  name: 'select/extensionPatches',
  run: reader => listOf(reader, patch => patch.applyTo === 'EXTENSION_CONFIG' && patch.operation === 'ADD'),
};
