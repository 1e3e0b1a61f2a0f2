// Which ServiceEntries select or hold a workload, and which WorkloadEntries and pods a selector may mean: by the keys
// that selection.ts files them under.

import { groupsOfEach } from '../base/groups.ts';
import { type Labels, selects } from '../base/labels.ts';
import { compareText, type Obj } from '../model/object.ts';
import { keysOfWorkloads, labelKeys, selectorKey, withoutTopology } from '../model/selection.ts';
import type { Query, Reader } from '../query/reader.ts';
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
  const keys = keysOfWorkloads(workloads);
  const looked = keys.size <= MANY_LABELS ? keys : reader.get(selectorKeys, namespace).filter(key => keys.has(key));
  const found: Obj<'ServiceEntry'>[] = [];
  for (const key of looked) {
    for (const entry of reader.indexed('serviceEntriesBySelector', `${namespace}/${key}`)) {
      const selector = withoutTopology(entry.spec.workloadSelector?.labels ?? {});
      if (workloads.some(labels => selects(selector, labels))) found.push(entry);
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** More are not looked up one by one: each look is noted as an input of the caller. */
const MANY_LABELS = 256;

/** WorkloadEntries with one label of a selector that are looked through; past them another label is tried. */
const FEW = 32;

/** WorkloadEntries of a namespace among which are all that the selector selects, by name. */
export function candidateEntries(reader: Reader, namespace: string, selector: Labels): readonly Obj<'WorkloadEntry'>[] {
  const key = selectorKey(selector);
  if (key === '') return reader.objects('WorkloadEntry', `${namespace}/`);
  const having = (label: string) => reader.indexed('workloadEntriesByLabel', `${namespace}/${label}`);
  let fewest = having(key);
  if (fewest.length <= FEW) return fewest;
  for (const other of labelKeys(selector)) {
    if (fewest.length <= FEW) break;
    const found = having(other);
    if (found.length < fewest.length) fewest = found;
  }
  return fewest;
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

/**
 * The pods of a namespace among which are all that the selector of one of its ServiceEntries selects, by name, then by
 * cluster.
 */
export function candidatePods(reader: Reader, namespace: string, selector: Labels): readonly Obj<'Pod'>[] {
  return reader.get(podsUnder, { namespace, key: selectorKey(selector) });
}

/** Its own query, with the pods as its value: a pod that comes or changes concerns those that may select it alone. */
const podsUnder: Query<{ readonly namespace: string; readonly key: string }, readonly Obj<'Pod'>[]> = {
  name: 'registry/podsUnder',
  key: ({ namespace, key }) => `${namespace}|${key}`,
  run: (reader, { namespace, key }) => reader.get(podsBySelector, namespace).get(key) ?? [],
};

/** Argument: a namespace. Its pods by each key under which a selector of its ServiceEntries is filed. */
const podsBySelector: Query<string, ReadonlyMap<string, readonly Obj<'Pod'>[]>> = {
  name: 'registry/podsBySelector',
  run: (reader, namespace) => {
    const keys = new Set(reader.get(selectorKeys, namespace));
    const pods = [...reader.indexed('podsByNamespace', namespace)].sort(
      (a, b) => compareText(a.name, b.name) || compareText(a.cluster, b.cluster),
    );
    return groupsOfEach(pods, ({ labels }) => ['', ...labelKeys(labels)].filter(key => keys.has(key)));
  },
};

/** Argument: a namespace. */
const selectorKeys: Query<string, readonly string[]> = {
  name: 'registry/selectorKeys',
  run: (reader, namespace) => {
    const selectors = reader.objects('ServiceEntry', `${namespace}/`).map(({ spec }) => spec.workloadSelector);
    return [...new Set(selectors.flatMap(one => (one === undefined ? [] : [selectorKey(one.labels ?? {})])))].sort();
  },
};

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
