// Which ServiceEntries select or hold a workload, and which WorkloadEntries a selector may mean: by the indexes that
// selection.ts files them under.

import { type Labels, selects } from '../base/labels.ts';
import { compareText, type Obj } from '../model/object.ts';
import { labelKeys, selectorKey, withoutTopology } from '../model/selection.ts';
import type { Reader } from '../query/reader.ts';
import { type AnyWorkloadEntry, workloadOfAny } from './workload-entry.ts';

/**
 * The ServiceEntries of a namespace among which are all that select a workload with one of these sets of labels, by
 * name. Where a selector names the topology, which a workload has from its node and cluster, it may select no such
 * workload.
 */
export function selectingEntries(
  reader: Reader,
  namespace: string,
  workloads: readonly Labels[],
): readonly Obj<'ServiceEntry'>[] {
  const keys = new Set(['', ...workloads.flatMap(labelKeys)]);
  const found: Obj<'ServiceEntry'>[] = [];
  for (const key of keys) {
    for (const entry of reader.indexed('serviceEntriesBySelector', `${namespace}/${key}`)) {
      const selector = withoutTopology(entry.spec.workloadSelector?.labels ?? {});
      if (workloads.some(labels => selects(selector, labels))) found.push(entry);
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** WorkloadEntries of a namespace among which are all that the selector selects, by name. */
export function candidateEntries(reader: Reader, namespace: string, selector: Labels): readonly Obj<'WorkloadEntry'>[] {
  const key = selectorKey(selector);
  return key === ''
    ? reader.objects('WorkloadEntry', `${namespace}/`)
    : reader.indexed('workloadEntriesByLabel', `${namespace}/${key}`);
}

/** The same of all remote clusters, by name, then by cluster. */
export function remoteCandidates(
  reader: Reader,
  namespace: string,
  selector: Labels,
): readonly Obj<'RemoteWorkloadEntry'>[] {
  const found = reader.indexed('remoteEntriesByLabel', `${namespace}/${selectorKey(selector)}`);
  return [...found].sort((a, b) => compareText(a.name, b.name) || compareText(a.cluster, b.cluster));
}

/** The ServiceEntries of a namespace among which are all that have an endpoint at one of the addresses, by name. */
export function entriesAt(
  reader: Reader,
  namespace: string,
  addresses: readonly string[],
): readonly Obj<'ServiceEntry'>[] {
  const found = new Map<string, Obj<'ServiceEntry'>>();
  const labels: Labels[] = [];
  for (const address of addresses) {
    for (const entry of reader.indexed('serviceEntriesByAddress', `${namespace}/${address}`)) {
      found.set(entry.name, entry);
    }
    const machines: readonly AnyWorkloadEntry[] = [
      ...reader.indexed('workloadEntriesByAddress', address),
      ...reader.indexed('remoteEntriesByAddress', address),
    ];
    for (const obj of machines) {
      if (obj.namespace !== namespace) continue;
      const workload = workloadOfAny(reader, obj);
      if (workload !== undefined) labels.push(workload.labels);
    }
    for (const pod of reader.indexed('podsByAddress', `${namespace}/${address}`)) labels.push(pod.labels);
  }
  for (const entry of selectingEntries(reader, namespace, labels)) found.set(entry.name, entry);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
