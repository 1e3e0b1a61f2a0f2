// What is broken in a mesh's graph: each problem once, however many workloads have it, the worst first. A mesh of
// hundreds of services has thousands of pairs of caller and destination; people read destinations.

import { compareText } from '../core/model/object.ts';
import type { FoundProblem, GraphNode, GraphProblem, SendProblem } from './answers.ts';
import type { GraphNodes } from './graph-nodes.ts';
import type { Workload } from './graph-workloads.ts';

/** Problems of an answer; those beyond are counted. */
export const PROBLEMS_MAX = 1_000;
/** Proxies that a problem names; those beyond are counted. */
export const PROXIES_OF_PROBLEM_MAX = 20;
/** Problems of one node; a folded namespace may have hundreds. */
const PROBLEMS_OF_NODE_MAX = 20;

/** The worst first: requests to nowhere, proxies that run an older configuration, clusters without endpoints. */
const RANK: Readonly<Record<GraphProblem['kind'], number>> = {
  unreachable: 0,
  'missing-cluster': 1,
  nack: 2,
  'no-endpoints': 3,
};

interface Draft extends GraphProblem {
  readonly to?: string;
  readonly workloads: Set<Workload>;
}

export type ProblemsOfNode = Pick<GraphNode, 'problems' | 'problemsLeftOut'>;

export class GraphProblems {
  readonly #nodes: GraphNodes;
  readonly #drafts = new Map<string, Draft>();

  constructor(nodes: GraphNodes) {
    this.#nodes = nodes;
  }

  /** `to`: the node that they send to. */
  ofCallers(workloads: readonly Workload[], to: string, problem: SendProblem): void {
    this.#add(`${to} ${problem.message}`, { ...problem, to }, workloads);
  }

  ofWorkload(workload: Workload, problem: GraphProblem): void {
    this.#add(problem.message, problem, [workload]);
  }

  #add(key: string, problem: GraphProblem & { readonly to?: string }, workloads: readonly Workload[]): void {
    const known = this.#drafts.get(key) ?? { ...problem, workloads: new Set<Workload>() };
    this.#drafts.set(key, known);
    for (const workload of workloads) known.workloads.add(workload);
  }

  /** Ranked. `unreachable`: problems of nodes as a whole. */
  ranked(unreachable: readonly FoundProblem[]): readonly FoundProblem[] {
    const found = [...this.#drafts.values()].map(draft => this.#found(draft));
    return [...unreachable, ...found].sort(
      (a, b) => RANK[a.kind] - RANK[b.kind] || b.workloads - a.workloads || compareText(a.message, b.message),
    );
  }

  #found({ kind, message, to, workloads }: Draft): FoundProblem {
    const all = [...workloads];
    const node = all[0]!.id;
    const namespaces = [node, ...(to === undefined ? [] : [to])].map(id => this.#nodes.namespaceOf(id)).filter(Boolean);
    const proxies = all.flatMap(one => one.proxies.map(({ facets }) => facets.id));
    return {
      kind,
      message,
      node,
      ...(to === undefined ? {} : { to }),
      workloads: all.length,
      proxies: proxies.slice(0, PROXIES_OF_PROBLEM_MAX),
      proxiesLeftOut: Math.max(0, proxies.length - PROXIES_OF_PROBLEM_MAX),
      namespaces,
    };
  }

  /** Of each node as it is shown: its own problems, and those of lines that a folded namespace hides. */
  byNode(unreachable: readonly FoundProblem[], shown: (id: string) => string): ReadonlyMap<string, ProblemsOfNode> {
    const found = new Map<string, { problems: GraphProblem[]; problemsLeftOut: number }>();
    const add = (node: string, { kind, message }: GraphProblem): void => {
      const own = found.get(node) ?? { problems: [], problemsLeftOut: 0 };
      found.set(node, own);
      if (own.problems.length < PROBLEMS_OF_NODE_MAX) own.problems.push({ kind, message });
      else own.problemsLeftOut++;
    };
    for (const problem of unreachable) add(shown(problem.node), problem);
    for (const draft of this.#drafts.values()) {
      const nodes = new Set([...draft.workloads].map(({ id }) => shown(id)));
      // A line between two nodes shows its problem itself.
      const at = draft.to === undefined ? nodes : nodes.has(shown(draft.to)) ? [shown(draft.to)] : [];
      for (const node of at) add(node, draft);
    }
    return found;
  }
}
