// What authors of EnvoyFilters should know without looking at a proxy: entries and fields that have no effect, values
// that are not read in full, and names that another release of Istio may change.
//
// Source of what acts: Istio pilot/pkg/networking/core/envoyfilter. Istio's webhook warns of unknown fields and of
// older names of filters (pkg/config/validation/envoyfilter).

import { envoyValueType } from '../../kinds/istio/envoy-filter.ts';
import type { Obj } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { unknownFields } from '../../schema/envoy.ts';
import type { EnvoyFilter_EnvoyConfigObjectPatch as Entry, EnvoyFilter_ApplyTo } from '../../schema/istio-types.gen.ts';
import { envoyPatch, type Operation } from './envoy-patch.ts';

export interface PatchFinding {
  /** `namespace/name`. */
  readonly key: string;
  readonly path: string;
  readonly message: string;
}

/** Argument ''. In the order of objects and entries. */
export const patchFindings: Query<'', readonly PatchFinding[]> = {
  name: 'select/patchFindings',
  run: reader =>
    reader.objects('EnvoyFilter').flatMap(filter =>
      (filter.spec.configPatches ?? []).flatMap((entry, i) => {
        const acts = envoyPatch(reader, entry) !== undefined;
        return [...withoutEffect(entry, acts), ...ofValue(entry), ...ofNames(entry)].map(([path, message]) => ({
          key: keyOf(filter),
          path: `spec.configPatches[${i}].${path}`,
          message,
        }));
      }),
    ),
};

type Told = readonly [path: string, message: string];

function keyOf({ namespace, name }: Obj<'EnvoyFilter'>): string {
  return `${namespace}/${name}`;
}

/** The operations that change something, by target; insertions count as ADD where there is no order. */
const ACTING: Readonly<Partial<Record<EnvoyFilter_ApplyTo, readonly Operation[]>>> = {
  ROUTE_CONFIGURATION: ['MERGE'],
  EXTENSION_CONFIG: ['ADD', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER'],
  LISTENER: ['MERGE', 'ADD', 'REMOVE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER'],
  FILTER_CHAIN: ['MERGE', 'ADD', 'REMOVE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER'],
  CLUSTER: ['MERGE', 'ADD', 'REMOVE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER'],
  HTTP_ROUTE: ['MERGE', 'ADD', 'REMOVE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER'],
};

function* withoutEffect({ applyTo, match, patch }: Entry, acts: boolean): IterableIterator<Told> {
  const operation = patch?.operation as Operation | undefined;
  if (match?.context === 'WAYPOINT') yield ['match.context', 'a patch for WAYPOINT acts on no proxy'];
  if (applyTo === 'BOOTSTRAP') yield ['applyTo', 'the bootstrap of a proxy is not patched by a control plane'];
  // An entry without a patch stands for one that was refused, which its own verdict tells.
  if (!acts && patch !== undefined && match?.context !== 'WAYPOINT') {
    yield ['patch.value', 'holds a message whose fields are not known here: the patch is not applied'];
  }
  if (operation === undefined || applyTo === undefined) return;
  if (ACTING[applyTo]?.includes(operation) === false) {
    yield ['patch.operation', `${operation} has no effect on ${applyTo}`];
  } else if (needsName(applyTo, operation) && !hasName(applyTo, match)) {
    yield ['match', `${operation} of a ${applyTo} has no effect unless the match names one`];
  }
  if (match?.listener?.portName) yield ['match.listener.portName', 'is not read'];
  if (patch?.filterClass !== undefined && patch.filterClass !== 'UNSPECIFIED')
    yield ['patch.filterClass', 'is not read'];
  if (applyTo === 'HTTP_FILTER' && operation === 'ADD') {
    yield ['patch.operation', 'ADD puts the filter behind the router, where it never acts: use INSERT_BEFORE'];
  }
}

function needsName(applyTo: EnvoyFilter_ApplyTo, operation: Operation): boolean {
  if (applyTo === 'LISTENER_FILTER' && operation === 'MERGE') return true;
  const isFilter = applyTo === 'HTTP_FILTER' || applyTo === 'NETWORK_FILTER' || applyTo === 'LISTENER_FILTER';
  return isFilter && (operation === 'REMOVE' || operation === 'REPLACE');
}

function hasName(applyTo: EnvoyFilter_ApplyTo, match: Entry['match']): boolean {
  const { listenerFilter, filterChain } = match?.listener ?? {};
  if (applyTo === 'LISTENER_FILTER') return listenerFilter !== undefined && listenerFilter !== '';
  return (applyTo === 'HTTP_FILTER' ? filterChain?.filter?.subFilter : filterChain?.filter) !== undefined;
}

function* ofValue({ applyTo, patch }: Entry): IterableIterator<Told> {
  if (applyTo === undefined || applyTo === 'INVALID' || patch?.value === undefined) return;
  for (const { path } of unknownFields(envoyValueType(applyTo), patch.value, 'patch.value')) {
    yield [path, 'is no field of the message and is passed over'];
  }
}

/** Filters that are Istio's own: their names and their presence follow Istio's releases and Telemetry. */
const ISTIO_FILTER = /^istio[._]/;
/** Names of before Envoy's API v3. */
const OLDER_NAME = /^envoy\.(?!filters\.)[a-z_.]+$/;

function* ofNames({ match }: Entry): IterableIterator<Told> {
  const filter = match?.listener?.filterChain?.filter;
  const names: readonly (readonly [string, string | undefined])[] = [
    ['match.listener.filterChain.filter.name', filter?.name],
    ['match.listener.filterChain.filter.subFilter.name', filter?.subFilter?.name],
    ['match.listener.listenerFilter', match?.listener?.listenerFilter],
  ];
  for (const [path, name = ''] of names) {
    if (OLDER_NAME.test(name))
      yield [path, `${name} is an older name that matches no filter: expected envoy.filters.…`];
    if (ISTIO_FILTER.test(name))
      yield [path, `${name} is a filter of Istio's own, which other releases name differently or leave out`];
  }
}
