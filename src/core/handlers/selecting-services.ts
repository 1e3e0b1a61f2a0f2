// The Kubernetes services of a cluster and namespace that select a workload, found by its labels. Filed once for all
// changes between which no service changes: thousands of machines beside thousands of services cost the product when
// each machine looked at each service.

import { hasLabels, type Labels, selects } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import { byRarestLabel, filedUnder, keysOfWorkloads } from '../model/selection.ts';
import type { State } from '../state.ts';

type Services = ReadonlyMap<string, readonly Obj<'Service'>[]>;

const known = new WeakMap<object, Map<string, Services>>();

/** Those that select one with one of these sets of labels. A selector without labels selects nothing. */
export function servicesSelecting(
  { objects: { Service: table } }: State,
  cluster: string,
  namespace: string,
  workloads: readonly Labels[],
): readonly Obj<'Service'>[] {
  const filed = known.get(table) ?? new Map<string, Services>();
  known.set(table, filed);
  const prefix = `${cluster}/${namespace}/`;
  const services =
    filed.get(prefix) ?? filedServices(table.range(prefix) as readonly Obj[] as readonly Obj<'Service'>[]);
  filed.set(prefix, services);
  return filedUnder(services, keysOfWorkloads(workloads)).filter(({ spec }) =>
    workloads.some(labels => selects(spec.selector, labels)),
  );
}

function filedServices(all: readonly Obj<'Service'>[]): Services {
  const selecting = all.filter(({ spec }) => hasLabels(spec.selector));
  return byRarestLabel(selecting, ({ spec }) => spec.selector);
}
