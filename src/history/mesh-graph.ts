// The mesh as a graph at a position: who is routed to whom by the configuration that proxies hold, not by traffic.
// Workloads are proxies of one owner, represented by the first of them; services are hosts; a destination that does not
// exist is a node of its own.
//
// Invariant: every edge and problem is read from generated resources, so the graph shows what Envoy would do. Large
// meshes have their namespaces folded into one node each; problems are listed whole in any case.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { type GraphAccess, graphAccess } from './access/graph.ts';
import type { FoundProblem, GraphEdge, GraphProblem, MeshGraph, SendProblem, Split, Transport } from './answers.ts';
import { type GraphNodes, graphNodes } from './graph-nodes.ts';
import { targetsOf } from './graph-targets.ts';
import { holdingsOf } from './holdings.ts';
import { problemsOf, splitOf } from './traffic.ts';

/** Workloads and services that are shown one by one; with more, namespaces are folded. */
export const UNFOLDED_NODES_MAX = 80;
/** Edges; default routes are left out before those that objects make. */
export const EDGES_MAX = 4_000;
const HOSTS_OF_EDGE_MAX = 8;
const SPLITS_OF_EDGE_MAX = 24;
/** Problems of one node; a folded namespace may have thousands. */
const PROBLEMS_OF_NODE_MAX = 20;

export interface GraphQuestion {
  readonly fold: 'auto' | 'all' | 'none';
  /** Namespaces that are not folded. */
  readonly open: readonly string[];
  readonly onProgress?: (done: number, of: number) => void;
}

interface Draft {
  readonly from: string;
  readonly to: string;
  kind: GraphEdge['kind'];
  readonly members: Set<string>;
  readonly hosts: Set<string>;
  share: number;
  readonly splits: Map<string, Split>;
  readonly transports: Set<Transport>;
  readonly access: Set<GraphEdge['access']>;
  readonly problems: Map<string, SendProblem>;
}

/** Who sends to a service, and what each of them gets. */
interface Reach {
  readonly callers: Set<string>;
  readonly proxies: Set<string>;
  readonly failures: Set<string>;
  isReached: boolean;
}

/** `proxies`: those that are shown. */
export function meshGraph(
  tracker: Tracker,
  state: State,
  proxies: readonly ProxyRecord[],
  question: GraphQuestion,
): MeshGraph {
  const nodes = graphNodes(tracker, state, proxies);
  const folded = foldedIn(nodes, question);
  const graph = new Graph(tracker, state, nodes, folded);
  for (const [i, { id, proxies: own }] of nodes.workloads.entries()) {
    question.onProgress?.(i, nodes.workloads.length);
    graph.addWorkload(id, own);
  }
  return graph.result();
}

function foldedIn({ namespaces, workloads, services }: GraphNodes, { fold, open }: GraphQuestion): ReadonlySet<string> {
  if (fold === 'none') return new Set();
  if (fold === 'auto' && workloads.length + services.size <= UNFOLDED_NODES_MAX) return new Set();
  return new Set(namespaces.filter(namespace => !open.includes(namespace)));
}

class Graph {
  readonly #tracker: Tracker;
  readonly #state: State;
  readonly #nodes: GraphNodes;
  readonly #folded: ReadonlySet<string>;
  readonly #access: GraphAccess;
  readonly #edges = new Map<string, Draft>();
  readonly #problems = new Map<string, FoundProblem>();
  readonly #reach = new Map<string, Reach>();

  constructor(tracker: Tracker, state: State, nodes: GraphNodes, folded: ReadonlySet<string>) {
    this.#tracker = tracker;
    this.#state = state;
    this.#nodes = nodes;
    this.#folded = folded;
    this.#access = graphAccess(tracker, state, nodes);
  }

  addWorkload(id: string, proxies: readonly ProxyRecord[]): void {
    const [proxy] = proxies;
    if (proxy === undefined) return;
    const holdings = holdingsOf(this.#tracker, this.#state, proxy);
    const ids = proxies.map(one => one.facets.id);
    for (const { host, cluster, share, isRouted } of targetsOf(holdings)) {
      const split = splitOf(holdings, cluster, share);
      const to = this.#nodes.serviceOf(split.host) ?? this.#nodes.missing(cluster);
      const problems = problemsOf(holdings, split);
      for (const problem of problems) this.#note(id, to, problem, ids);
      const edge = this.#edge(id, to, isRouted ? 'routes' : 'visible');
      edge.members.add(`${id} ${to}`);
      if (edge.hosts.size < HOSTS_OF_EDGE_MAX) edge.hosts.add(host);
      edge.share = Math.max(edge.share, share);
      if (edge.splits.size < SPLITS_OF_EDGE_MAX) edge.splits.set(cluster, split);
      edge.transports.add(this.#nodes.transportOf(holdings, cluster));
      for (const problem of problems) edge.problems.set(problem.message, problem);
      const access = this.#access.ask(proxy, split, holdings);
      edge.access.add(access);
      if (to.startsWith('service/') && share > 0) this.#reached(to, id, ids, failureOf(problems, access));
      for (const workload of this.#nodes.backersOf(holdings, cluster, to)) this.#back(to, workload);
    }
  }

  #back(service: string, workload: string): void {
    const edge = this.#edge(service, workload, 'backs');
    edge.members.add(`${service} ${workload}`);
  }

  #note(node: string, to: string, { kind, message }: SendProblem, proxies: readonly string[]): void {
    const key = `${node} ${message}`;
    const namespaces = [node, to].map(one => this.#nodes.namespaceOf(one)).filter(Boolean);
    if (!this.#problems.has(key)) this.#problems.set(key, { kind, message, node, to, proxies, namespaces });
  }

  /** `failure`: undefined when requests arrive. */
  #reached(to: string, caller: string, proxies: readonly string[], failure: string | undefined): void {
    const reach = this.#reach.get(to) ?? {
      callers: new Set<string>(),
      proxies: new Set<string>(),
      failures: new Set<string>(),
      isReached: false,
    };
    this.#reach.set(to, reach);
    reach.callers.add(caller);
    for (const proxy of proxies) reach.proxies.add(proxy);
    if (failure === undefined) reach.isReached = true;
    else reach.failures.add(failure);
  }

  /** Hosts that proxies send to, none of them with success. */
  #unreachable(): readonly FoundProblem[] {
    return [...this.#reach].flatMap(([node, { callers, proxies, failures, isReached }]) => {
      if (isReached) return [];
      const who =
        callers.size === 1 ? 'the one workload that sends there' : `all ${callers.size} workloads that send there`;
      const message = `${node.slice('service/'.length)} is unreachable for ${who}: ${[...failures].sort().join(', ')}`;
      const namespaces = [this.#nodes.namespaceOf(node)].filter(Boolean);
      return [{ kind: 'unreachable' as const, message, node, proxies: [...proxies].sort(), namespaces }];
    });
  }

  /** Of each node as it is shown: its own problems, and those of lines that a folded namespace hides. */
  #byNode(problems: readonly FoundProblem[]): ReadonlyMap<string, readonly GraphProblem[]> {
    const found = new Map<string, GraphProblem[]>();
    for (const { kind, message, node, to } of problems) {
      const shown = this.#shown(node);
      if (to !== undefined && this.#shown(to) !== shown) continue;
      const own = found.get(shown) ?? [];
      found.set(shown, own);
      if (own.length < PROBLEMS_OF_NODE_MAX) own.push({ kind, message });
    }
    return found;
  }

  /** Between the nodes as they are shown. An edge that an object makes is one, whatever else it stands for. */
  #edge(from: string, to: string, kind: GraphEdge['kind']): Draft {
    const [shownFrom, shownTo] = [this.#shown(from), this.#shown(to)];
    const key = `${shownFrom} ${shownTo} ${kind === 'backs' ? kind : ''}`;
    const known = this.#edges.get(key);
    if (known !== undefined) {
      if (kind === 'routes') known.kind = kind;
      return known;
    }
    const edge: Draft = {
      from: shownFrom,
      to: shownTo,
      kind,
      members: new Set(),
      hosts: new Set(),
      share: 0,
      splits: new Map(),
      transports: new Set(),
      access: new Set(),
      problems: new Map(),
    };
    this.#edges.set(key, edge);
    return edge;
  }

  #shown(id: string): string {
    const namespace = this.#nodes.namespaceOf(id);
    return namespace !== '' && this.#folded.has(namespace) ? `namespace/${namespace}` : id;
  }

  result(): MeshGraph {
    const rank = { routes: 0, backs: 1, visible: 2 } as const;
    const drafts = [...this.#edges.values()]
      // What a folded namespace does within itself is in the node.
      .filter(({ from, to }) => from !== to)
      .sort((a, b) => b.problems.size - a.problems.size || rank[a.kind] - rank[b.kind]);
    const shown = drafts.slice(0, EDGES_MAX);
    const problems = [...this.#unreachable(), ...this.#problems.values(), ...this.#nodes.refusals];
    return {
      nodes: this.#nodes.shown(this.#folded, this.#byNode(problems)),
      edges: shown.map(edgeOf),
      namespaces: this.#nodes.namespaces,
      folded: [...this.#folded].sort(),
      problems,
      leftOut: drafts.length - shown.length,
    };
  }
}

function failureOf(problems: readonly SendProblem[], access: GraphEdge['access']): string | undefined {
  const [problem] = problems;
  if (problem !== undefined) return problem.kind === 'no-endpoints' ? 'no endpoint' : 'no such cluster';
  return access === 'denied' ? 'refused by policy' : undefined;
}

function edgeOf({ from, to, kind, members, hosts, share, splits, transports, access, problems }: Draft): GraphEdge {
  return {
    from,
    to,
    kind,
    count: members.size,
    hosts: [...hosts].sort(),
    share,
    splits: [...splits.values()],
    transport: oneOf(transports, 'mixed', 'unknown'),
    access: oneOf(access, 'depends', 'unasked'),
    problems: [...problems.values()],
  };
}

function oneOf<T>(values: ReadonlySet<T>, several: T, none: T): T {
  const [first, second] = values;
  return first === undefined ? none : second === undefined ? first : several;
}
