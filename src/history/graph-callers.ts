// The workloads of a mesh by what they send with: those of one class hold identical clusters, endpoints, listeners and
// routes for it, so what one of them finds at a destination all of them find.

import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { type Target, targetsOf } from './graph-targets.ts';
import type { Workload } from './graph-workloads.ts';
import type { Holdings } from './holdings.ts';
import { sendingOf } from './sending.ts';

export interface CallerClass {
  readonly holdings: Holdings;
  readonly targets: readonly Target[];
  /** At least one. */
  readonly workloads: readonly Workload[];
}

/** In the order of the first workload of each. A workload is represented by its first proxy. */
export function callerClasses(
  tracker: Tracker,
  state: State,
  workloads: readonly Workload[],
  onProgress: (done: number) => void = () => undefined,
): readonly CallerClass[] {
  const found = new Map<Holdings, Workload[]>();
  for (const [i, workload] of workloads.entries()) {
    onProgress(i);
    const holdings = sendingOf(tracker, state, workload.proxies[0]!);
    const own = found.get(holdings);
    if (own === undefined) found.set(holdings, [workload]);
    else own.push(workload);
  }
  return [...found].map(([holdings, own]) => ({ holdings, targets: targetsOf(holdings), workloads: own }));
}
