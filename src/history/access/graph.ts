// Whether the workloads behind a destination take a caller, for the edges of the mesh's graph: one plain request, asked
// of the oracle, where policies are in force. Policies that look at paths, methods or more make the answer `depends`.
// Workloads with equal policies answer alike, so each caller asks one of them.

import type { Obj } from '../../core/model/object.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import type { GraphEdge } from '../answers.ts';
import type { GraphNodes } from '../graph-nodes.ts';
import type { Workload } from '../graph-workloads.ts';
import { askAccess } from './ask.ts';
import type { Guards } from './guards.ts';
import { callerIdentity } from './identity.ts';

/** Questions for one graph; edges beyond are `unasked`. */
export const GRAPH_QUESTIONS_MAX = 2_000;
/** Of the request that is asked about: a host that no policy names. */
const AUTHORITY = 'destination';

type Access = GraphEdge['access'];

export interface GraphAccess {
  /** Whether any of the workloads has a policy that is enforced. */
  isGuarded(backers: readonly string[]): boolean;
  ask(caller: ProxyRecord, backers: readonly string[]): Access;
}

/** `backers`: ids of workloads. */
export function graphAccess(state: State, nodes: GraphNodes, guards: Guards): GraphAccess {
  const answers = new Map<string, Access>();
  const conditional = namespacesWithConditions(state);
  let asked = 0;
  // Inbound listeners are made for the question, so it is not asked where nothing makes a policy.
  const hasPolicies = state.objects.AuthorizationPolicy.size > 0 || state.objects.EnvoyFilter.size > 0;
  const guarded = (backers: readonly string[]): readonly Workload[] =>
    hasPolicies
      ? backers.flatMap(id => nodes.workload(id) ?? []).filter(workload => guards.of(workload).isGuarded)
      : [];
  /** Callers of a destination share its list. */
  const known = new WeakMap<readonly string[], boolean>();
  const ofWorkload = (identity: string | undefined, workload: Workload): Access => {
    const { gate, text } = guards.of(workload);
    const key = `${identity} ${text}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (++asked > GRAPH_QUESTIONS_MAX) return 'unasked';
    const http = { method: 'GET', path: '/', authority: AUTHORITY, headers: {} };
    const { allowed } = askAccess(gate, { identity, port: gate.ports[0] ?? 80, http });
    const depends = allowed === 'unknown' || (allowed === 'no' && conditional(workload.namespace));
    const answer = depends ? 'depends' : allowed === 'yes' ? 'allowed' : 'denied';
    answers.set(key, answer);
    return answer;
  };
  return {
    isGuarded: backers => {
      let is = known.get(backers);
      if (is === undefined) {
        is = guarded(backers).length > 0;
        known.set(backers, is);
      }
      return is;
    },
    ask: (caller, backers) => {
      const identity = callerIdentity(state, caller);
      const found = new Set(guarded(backers).map(workload => ofWorkload(identity, workload)));
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
