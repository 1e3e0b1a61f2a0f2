// What guards each workload of a mesh's graph: the policies in its inbound filters, and the oracle to ask about them.
// Made when they are first asked for, once a workload.

import type { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import type { Workload } from '../graph-workloads.ts';
import { guardingOf } from '../sending.ts';
import { type Gate, gateOf } from './ask.ts';
import { type ListedPolicy, listPolicies, policyText } from './listed.ts';

export interface Guard {
  readonly gate: Gate;
  readonly policies: readonly ListedPolicy[];
  readonly isGuarded: boolean;
  /** Equal texts for workloads that decide alike; empty: not guarded. */
  readonly text: string;
}

export class Guards {
  readonly #tracker: Tracker;
  readonly #state: State;
  readonly #known = new Map<Workload, Guard>();

  constructor(tracker: Tracker, state: State) {
    this.#tracker = tracker;
    this.#state = state;
  }

  of(workload: Workload): Guard {
    const known = this.#known.get(workload);
    if (known !== undefined) return known;
    const proxy = workload.proxies[0]!;
    const holdings = guardingOf(this.#tracker, this.#state, proxy);
    const isRouter = proxy.facets.type === 'router';
    const gate = gateOf(holdings, proxy.facets.ips[0] ?? '', isRouter);
    const policies = listPolicies(gate.config);
    const isGuarded = !isRouter && policies.some(({ mode }) => mode !== 'dry-run');
    const text = isGuarded ? `${workload.namespace} ${gate.ports[0] ?? ''} ${policyText(gate.config)}` : '';
    const guard = { gate, policies, isGuarded, text };
    this.#known.set(workload, guard);
    return guard;
  }
}
