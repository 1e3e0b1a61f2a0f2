// Whether the workloads behind a destination take a caller, for the edges of the mesh's graph: one plain request, asked
// of the oracle, where policies are in force. Policies that look at paths, methods or more make the answer `depends`.

import type { Obj } from '../../core/model/object.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import type { GraphEdge, Split } from '../answers.ts';
import type { GraphNodes, Workload } from '../graph-nodes.ts';
import { type Holdings, holdingsOf } from '../holdings.ts';
import { askAccess, type Gate, gateOf } from './ask.ts';
import { callerIdentity } from './identity.ts';
import { listPolicies } from './listed.ts';

/** Questions for one graph; edges beyond are `unasked`. */
export const GRAPH_QUESTIONS_MAX = 2_000;

type Access = GraphEdge['access'];

export interface GraphAccess {
  ask(caller: ProxyRecord, split: Split, holdings: Holdings): Access;
}

interface Guard {
  readonly gate: Gate;
  readonly isGuarded: boolean;
}

export function graphAccess(tracker: Tracker, state: State, nodes: GraphNodes): GraphAccess {
  const guards = new Map<string, Guard>();
  const answers = new Map<string, Access>();
  const conditional = namespacesWithConditions(state);
  let asked = 0;
  const guardOf = ({ id, proxies: [proxy] }: Workload): Guard => {
    const known = guards.get(id);
    if (known !== undefined) return known;
    const gate = gateOf(holdingsOf(tracker, state, proxy!), proxy!.facets.ips[0] ?? '', false);
    const guard = { gate, isGuarded: listPolicies(gate.config).some(({ mode }) => mode !== 'dry-run') };
    guards.set(id, guard);
    return guard;
  };
  const ofWorkload = (caller: ProxyRecord, workload: Workload): Access => {
    const { gate, isGuarded } = guardOf(workload);
    if (!isGuarded) return 'unasked';
    const identity = callerIdentity(state, caller);
    const key = `${identity} ${workload.id}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (++asked > GRAPH_QUESTIONS_MAX) return 'unasked';
    const http = { method: 'GET', path: '/', authority: workload.id, headers: {} };
    const { allowed } = askAccess(gate, { identity, port: gate.ports[0] ?? 80, http });
    const depends = allowed === 'unknown' || (allowed === 'no' && conditional(workload.namespace));
    const answer = depends ? 'depends' : allowed === 'yes' ? 'allowed' : 'denied';
    answers.set(key, answer);
    return answer;
  };
  return {
    ask: (caller, { cluster, host }, holdings) => {
      const service = nodes.serviceOf(host);
      if (service === undefined) return 'unasked';
      const found = new Set<Access>();
      for (const id of nodes.backersOf(holdings, cluster, service)) {
        const workload = nodes.workload(id);
        if (workload !== undefined) found.add(ofWorkload(caller, workload));
      }
      found.delete('unasked');
      const [first, second] = found;
      return first === undefined ? 'unasked' : second === undefined ? first : 'depends';
    },
  };
}

/** Whose policies look at more than the caller. */
function namespacesWithConditions({ objects, mesh }: State): (namespace: string) => boolean {
  const found = new Set<string>();
  for (const { namespace, spec } of objects.AuthorizationPolicy.values() as Iterable<Obj<'AuthorizationPolicy'>>) {
    const looks = (spec.rules ?? []).some(({ to = [], when = [] }) => to.length + when.length > 0);
    if (looks) found.add(namespace);
  }
  return namespace => found.has(namespace) || found.has(mesh.effective.rootNamespace ?? '');
}
