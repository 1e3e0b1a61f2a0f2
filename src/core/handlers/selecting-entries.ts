// The ServiceEntries of a namespace in groups of equal selectors, with what a change of one selected workload concerns.
// Made once for all changes between which no ServiceEntry changes: thousands of pods that thousands of entries select
// cost the product when each pod looked at each entry.

import { groupsOf } from '../base/groups.ts';
import { canonicalJson } from '../base/json.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import { byRarestLabel, filedUnder, keysOfWorkloads, withoutTopology } from '../model/selection.ts';
import { hostsOf } from '../registry/service-entry.ts';
import type { State } from '../state.ts';
import { serviceKey } from './comparison.ts';

export interface SelectorGroup {
  readonly selector: Labels;
  /** Without what a workload has from its node and cluster. */
  readonly own: Labels;
  readonly hosts: ReadonlySet<string>;
  /** Those of the services with these hosts, sorted. */
  readonly keys: readonly string[];
  /** Of all hosts, for one workload. */
  readonly endpointsOfWorkload: number;
}

/** By the key of the index, then by the rarest label of their selectors. */
type Groups = Map<string, ReadonlyMap<string, readonly SelectorGroup[]>>;

const known = new WeakMap<object, Groups>();

/** Those among which are all that select a workload with one of these sets of labels. */
export function groupsSelecting(
  { indexes: { serviceEntriesBySelector: table } }: State,
  namespace: string,
  workloads: readonly Labels[],
): readonly SelectorGroup[] {
  const groups: Groups = known.get(table) ?? new Map();
  known.set(table, groups);
  const found: SelectorGroup[] = [];
  const keys = keysOfWorkloads(workloads);
  for (const key of keys) {
    const at = `${namespace}/${key}`;
    const all = groups.get(at) ?? groupsIn(table.range(`${at}|`) as readonly Obj<'ServiceEntry'>[], namespace);
    if (all.size === 0) continue;
    groups.set(at, all);
    for (const group of filedUnder(all, keys)) {
      if (workloads.some(labels => selects(group.own, labels))) found.push(group);
    }
  }
  return found;
}

const noGroups: ReadonlyMap<string, readonly SelectorGroup[]> = new Map();

function groupsIn(
  entries: readonly Obj<'ServiceEntry'>[],
  namespace: string,
): ReadonlyMap<string, readonly SelectorGroup[]> {
  const selectorOf = ({ spec }: Obj<'ServiceEntry'>): Labels => spec.workloadSelector?.labels ?? {};
  if (entries.length === 0) return noGroups;
  const groups = [...groupsOf(entries, entry => canonicalJson(selectorOf(entry))).values()].map(of => {
    const selector = selectorOf(of[0]!);
    const hosts = new Set(of.flatMap(hostsOf));
    return {
      selector,
      own: withoutTopology(selector),
      hosts,
      keys: [...hosts].map(host => serviceKey(namespace, host)).sort(),
      endpointsOfWorkload: of.reduce((sum, entry) => sum + hostsOf(entry).length * (entry.spec.ports ?? []).length, 0),
    };
  });
  return byRarestLabel(groups, ({ own }) => own);
}
