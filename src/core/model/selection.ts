// Finds selectors and selected workloads by index instead of by comparing all pairs: a selector is indexed by one of
// its labels, a workload by each of its labels, so only pairs with that label in common are compared.
//
// Labels of the topology are never that one: a workload has them from its node, its cluster and the mesh
// (withTopology), not by itself.

import { groupsOf } from '../base/groups.ts';
import {
  CLUSTER_LABEL,
  HOSTNAME_LABEL,
  type Labels,
  labelNames,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
} from '../base/labels.ts';

const OF_TOPOLOGY: ReadonlySet<string> = new Set([
  CLUSTER_LABEL,
  HOSTNAME_LABEL,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
]);

/** The part of a selector that a workload's own labels decide about; the selector itself if that is all of it. */
export function withoutTopology(selector: Labels): Labels {
  const entries = Object.entries(selector);
  const own = entries.filter(([key]) => !OF_TOPOLOGY.has(key));
  return own.length === entries.length ? selector : Object.fromEntries(own);
}

/**
 * Labels that name the sort of a workload: many workloads have the same. The last part of a name, behind its prefix. A
 * guess; a wrong one costs only time. The labels that are really rare change with every object, but an index entry must
 * depend on its object alone.
 */
const OF_SORTS: ReadonlySet<string> = new Set([
  'class',
  'component',
  'env',
  'environment',
  'managed-by',
  'owner',
  'part-of',
  'revision',
  'role',
  'stage',
  'team',
  'tier',
  'tlsMode',
  'track',
  'type',
  'version',
]);

/**
 * `label=value` of one label of a selector; empty for one that has none but those of the topology. The first by name of
 * those that tell workloads apart, if there is one.
 */
export function selectorKey(selector: Labels): string {
  let first: string | undefined;
  let firstOfSort = true;
  for (const key of labelNames(selector)) {
    // Most keys of a sorted map are behind one that tells workloads apart.
    if (OF_TOPOLOGY.has(key) || (first !== undefined && !firstOfSort && key > first)) continue;
    const ofSort = isOfSort(key);
    if (first !== undefined && (ofSort === firstOfSort ? key > first : ofSort)) continue;
    first = key;
    firstOfSort = ofSort;
  }
  return first === undefined ? '' : `${first}=${selector[first]}`;
}

function isOfSort(key: string): boolean {
  return OF_SORTS.has(key.slice(key.lastIndexOf('/') + 1));
}

/** `label=value` of every label that a selector may be filed under. Sorted. */
export function labelKeys(labels: Labels): readonly string[] {
  return Object.keys(labels)
    .filter(key => !OF_TOPOLOGY.has(key))
    .sort()
    .map(key => `${key}=${labels[key]}`);
}

/** The keys under which what selects a workload with one of these sets of labels is filed. */
export function keysOfWorkloads(workloads: readonly Labels[]): ReadonlySet<string> {
  const keys = new Set(['']);
  for (const labels of workloads) for (const key of labelKeys(labels)) keys.add(key);
  return keys;
}

/** The lists under the keys, as one. */
export function filedUnder<T>(filed: ReadonlyMap<string, readonly T[]>, keys: ReadonlySet<string>): readonly T[] {
  // A workload may have thousands of labels, where few things are filed, or the other way round.
  if (filed.size < keys.size) return [...filed].flatMap(([key, items]) => (keys.has(key) ? items : []));
  return [...keys].flatMap(key => filed.get(key) ?? []);
}

/**
 * Items by that label of their selectors which the fewest have; under '' those with labels of the topology alone. An
 * item that selects a workload is under one of the workload's `labelKeys`, or under ''.
 */
export function byRarestLabel<T>(
  all: readonly T[],
  selectorOf: (item: T) => Labels,
): ReadonlyMap<string, readonly T[]> {
  const counts = new Map<string, number>();
  for (const key of all.flatMap(item => labelKeys(selectorOf(item)))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const rarer = (a: string, b: string): string => (counts.get(b)! < counts.get(a)! ? b : a);
  return groupsOf(all, item => {
    const keys = labelKeys(selectorOf(item));
    return keys.length === 0 ? '' : keys.reduce(rarer);
  });
}
