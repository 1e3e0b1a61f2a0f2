// Finding what selects, and what is selected, by index instead of by trying everything: a selector is filed under one of its labels, a workload
// under each of its own, so only those are compared that have that label in common.
//
// Labels of the topology are never that one: a workload has them from its node, its cluster and the mesh (withTopology), not by itself.

import {
  CLUSTER_LABEL,
  HOSTNAME_LABEL,
  type Labels,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
} from './labels.ts';

const OF_TOPOLOGY: ReadonlySet<string> = new Set([
  CLUSTER_LABEL,
  HOSTNAME_LABEL,
  NETWORK_LABEL,
  REGION_LABEL,
  SUBZONE_LABEL,
  ZONE_LABEL,
]);

/** `label=value` of one label of a selector; empty for one that has none but those of the topology. */
export function selectorKey(selector: Labels): string {
  let first: string | undefined;
  for (const key of Object.keys(selector)) {
    if (!OF_TOPOLOGY.has(key) && (first === undefined || key < first)) first = key;
  }
  return first === undefined ? '' : `${first}=${selector[first]}`;
}

/** `label=value` of every label that a selector may be filed under. Sorted. */
export function labelKeys(labels: Labels): readonly string[] {
  return Object.keys(labels)
    .filter(key => !OF_TOPOLOGY.has(key))
    .sort()
    .map(key => `${key}=${labels[key]}`);
}
