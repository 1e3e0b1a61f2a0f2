// The mesh as a graph at a position: who is routed to whom by the configuration that proxies hold, not by traffic.
// Workloads are proxies of one owner, represented by the first of them; services are hosts; a destination that does not
// exist is a node of its own.
//
// Invariant: every edge and problem is read from generated resources, so the graph shows what Envoy would do. Large
// meshes have their namespaces folded into one node each; problems are listed in any case, folded or not.
// Cost: workloads that send with the same are walked once (graph-callers.ts), destinations that are the same are looked
// at once (graph-destinations.ts).

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { type GraphAccess, graphAccess } from './access/graph.ts';
import { Guards } from './access/guards.ts';
import type { FoundProblem, GraphEdge, MeshGraph, SendProblem, Split, Transport } from './answers.ts';
import { type CallerClass, callerClasses } from './graph-callers.ts';
import { type Destination, GraphDestinations } from './graph-destinations.ts';
import { type GraphNodes, graphNodes } from './graph-nodes.ts';
import { GraphProblems, PROBLEMS_MAX, PROXIES_OF_PROBLEM_MAX } from './graph-problems.ts';
import type { Target } from './graph-targets.ts';
import type { Workload } from './graph-workloads.ts';

/** Workloads and services that are shown one by one; with more, namespaces are folded. */
export const UNFOLDED_NODES_MAX = 80;
/** Edges; default routes are left out before those that objects make. */
export const EDGES_MAX = 4_000;
/** Destinations that do not exist and have a node, where namespaces are folded. */
const MISSING_BESIDE_FOLDED_MAX = 20;
const HOSTS_OF_EDGE_MAX = 8;
const SPLITS_OF_EDGE_MAX = 12;
const PROBLEMS_OF_EDGE_MAX = 12;

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
  count: number;
  readonly hosts: Set<string>;
  share: number;
  readonly splits: Map<string, Split>;
  readonly transports: Set<Transport>;
  readonly access: Set<GraphEdge['access']>;
  readonly problems: Map<string, SendProblem>;
}

/** Who sends to a service, and what each of them gets. */
interface Reach {
  readonly callers: Set<Workload>;
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
  const graph = new Graph(nodes, new Guards(tracker, state), state, foldedIn(nodes, question));
  // What a class sends with takes most of the time, walking it the rest: a workload counts once for each.
  const count = nodes.workloads.length;
  const say = (done: number): void => question.onProgress?.(done, 2 * count);
  const classes = callerClasses(tracker, state, nodes.workloads, say);
  let walked = 0;
  for (const callers of classes) {
    say(count + walked);
    graph.addCallers(callers);
    walked += callers.workloads.length;
  }
  return graph.result();
}

function foldedIn({ namespaces, workloads, services }: GraphNodes, { fold, open }: GraphQuestion): ReadonlySet<string> {
  if (fold === 'none') return new Set();
  if (fold === 'auto' && workloads.length + services.size <= UNFOLDED_NODES_MAX) return new Set();
  return new Set(namespaces.filter(namespace => !open.includes(namespace)));
}

class Graph {
  readonly #nodes: GraphNodes;
  readonly #guards: Guards;
  readonly #folded: ReadonlySet<string>;
  readonly #access: GraphAccess;
  readonly #destinations: GraphDestinations;
  readonly #problems: GraphProblems;
  /** From → to. */
  readonly #edges = { calls: new Map<string, Map<string, Draft>>(), backs: new Map<string, Map<string, Draft>>() };
  readonly #reach = new Map<string, Reach>();
  /** Lines from services to workloads behind them. */
  readonly #backing = new Map<string, Set<string>>();
  /** Node → what it is shown as. */
  readonly #shownAs = new Map<string, string>();

  constructor(nodes: GraphNodes, guards: Guards, state: State, folded: ReadonlySet<string>) {
    this.#nodes = nodes;
    this.#guards = guards;
    this.#folded = folded;
    this.#access = graphAccess(state, nodes, guards);
    this.#destinations = new GraphDestinations(nodes);
    this.#problems = new GraphProblems(nodes);
  }

  addCallers({ holdings, targets, workloads }: CallerClass): void {
    const groups = new Map<string, Workload[]>();
    for (const workload of workloads) {
      const shown = this.#shown(workload.id);
      const group = groups.get(shown);
      if (group === undefined) groups.set(shown, [workload]);
      else group.push(workload);
    }
    const counted = new Set<string>();
    for (const target of targets) {
      const destination = this.#destinations.of(holdings, target.cluster);
      const { to, problems, backers } = destination;
      for (const problem of problems) this.#problems.ofCallers(workloads, to, problem);
      const isFirst = !counted.has(to);
      counted.add(to);
      const isGuarded = this.#access.isGuarded(backers);
      const toShown = this.#shown(to);
      for (const [from, group] of groups) {
        const edge = this.#edge(from, toShown, target.isRouted ? 'routes' : 'visible');
        if (isFirst) edge.count += group.length;
        addTarget(edge, target, destination);
        this.#addAccess(edge, target, destination, group, isGuarded);
      }
      for (const workload of backers) this.#back(to, workload);
    }
  }

  /** Where no policy is in force, all callers get the same. */
  #addAccess(
    edge: Draft,
    { share }: Target,
    { to, problems, backers }: Destination,
    group: readonly Workload[],
    isGuarded: boolean,
  ): void {
    const isCounted = to.startsWith('service/') && share > 0;
    if (!isGuarded) {
      edge.access.add('unasked');
      if (isCounted) this.#reached(to, group, failureOf(problems, 'unasked'));
      return;
    }
    for (const workload of group) {
      const access = this.#access.ask(workload.proxies[0]!, backers);
      edge.access.add(access);
      if (isCounted) this.#reached(to, [workload], failureOf(problems, access));
    }
  }

  #back(service: string, workload: string): void {
    const backed = known(this.#backing, service, () => new Set());
    if (backed.has(workload)) return;
    backed.add(workload);
    this.#edge(this.#shown(service), this.#shown(workload), 'backs').count++;
  }

  /** `failure`: undefined when requests arrive. */
  #reached(to: string, callers: readonly Workload[], failure: string | undefined): void {
    let reach = this.#reach.get(to);
    if (reach === undefined) {
      reach = { callers: new Set(), failures: new Set(), isReached: false };
      this.#reach.set(to, reach);
    }
    if (reach.isReached) return;
    if (failure === undefined) reach.isReached = true;
    else {
      reach.failures.add(failure);
      for (const caller of callers) reach.callers.add(caller);
    }
  }

  /** Hosts that proxies send to, none of them with success. */
  #unreachable(): readonly FoundProblem[] {
    return [...this.#reach].flatMap(([node, { callers, failures, isReached }]) => {
      if (isReached) return [];
      const who =
        callers.size === 1 ? 'the one workload that sends there' : `all ${callers.size} workloads that send there`;
      const message = `${node.slice('service/'.length)} is unreachable for ${who}: ${[...failures].sort().join(', ')}`;
      const namespaces = [this.#nodes.namespaceOf(node)].filter(Boolean);
      const all = [...callers].flatMap(({ proxies }) => proxies.map(({ facets }) => facets.id)).sort();
      const proxies = all.slice(0, PROXIES_OF_PROBLEM_MAX);
      const proxiesLeftOut = all.length - proxies.length;
      const kind = 'unreachable' as const;
      return [{ kind, message, node, workloads: callers.size, proxies, proxiesLeftOut, namespaces }];
    });
  }

  /** Between nodes as they are shown. An edge that an object makes is one, whatever else it stands for. */
  #edge(from: string, to: string, kind: GraphEdge['kind']): Draft {
    const edges = known(this.#edges[kind === 'backs' ? 'backs' : 'calls'], from, () => new Map<string, Draft>());
    const before = edges.get(to);
    if (before !== undefined) {
      if (kind === 'routes') before.kind = kind;
      return before;
    }
    const edge: Draft = {
      from,
      to,
      kind,
      count: 0,
      hosts: new Set(),
      share: 0,
      splits: new Map(),
      transports: new Set(),
      access: new Set(),
      problems: new Map(),
    };
    edges.set(to, edge);
    return edge;
  }

  readonly #shown = (id: string): string =>
    known(this.#shownAs, id, () => {
      const namespace = this.#nodes.namespaceOf(id);
      return namespace !== '' && this.#folded.has(namespace) ? `namespace/${namespace}` : id;
    });

  result(): MeshGraph {
    const rank = { routes: 0, backs: 1, visible: 2 } as const;
    const missingMax = this.#folded.size > 0 ? MISSING_BESIDE_FOLDED_MAX : Number.POSITIVE_INFINITY;
    for (const { workload, problem } of this.#nodes.refusals) this.#problems.ofWorkload(workload, problem);
    const unreachable = this.#unreachable();
    const problems = this.#problems.ranked(unreachable);
    const nodes = this.#nodes.shown(
      this.#folded,
      this.#problems.byNode(unreachable, this.#shown),
      this.#guards,
      missingMax,
    );
    const isShown = new Set(nodes.map(({ id }) => id));
    const drafts = [this.#edges.calls, this.#edges.backs]
      .flatMap(edges => [...edges.values()].flatMap(of => [...of.values()]))
      // What a folded namespace does within itself is in the node.
      .filter(({ from, to }) => from !== to)
      .sort((a, b) => b.problems.size - a.problems.size || rank[a.kind] - rank[b.kind]);
    const edges = drafts.filter(({ from, to }) => isShown.has(from) && isShown.has(to)).slice(0, EDGES_MAX);
    return {
      nodes,
      edges: edges.map(edgeOf),
      namespaces: this.#nodes.namespaces,
      folded: [...this.#folded].sort(),
      problems: problems.slice(0, PROBLEMS_MAX),
      problemsLeftOut: Math.max(0, problems.length - PROBLEMS_MAX),
      leftOut: drafts.length - edges.length,
    };
  }
}

function known<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let found = map.get(key);
  if (found === undefined) {
    found = make();
    map.set(key, found);
  }
  return found;
}

function addTarget(edge: Draft, { host, share }: Target, { split, problems, transport }: Destination): void {
  if (edge.hosts.size < HOSTS_OF_EDGE_MAX) edge.hosts.add(host);
  edge.share = Math.max(edge.share, share);
  const before = edge.splits.get(split.cluster);
  if (before?.share !== share || before.endpoints !== split.endpoints) {
    edge.splits.set(split.cluster, { ...split, share });
  }
  edge.transports.add(transport);
  for (const problem of problems) edge.problems.set(problem.message, problem);
}

function failureOf(problems: readonly SendProblem[], access: GraphEdge['access']): string | undefined {
  const [problem] = problems;
  if (problem !== undefined) return problem.kind === 'no-endpoints' ? 'no endpoint' : 'no such cluster';
  return access === 'denied' ? 'refused by policy' : undefined;
}

function edgeOf({ from, to, kind, count, hosts, share, splits, transports, access, problems }: Draft): GraphEdge {
  const splitsShown = [...splits.values()].slice(0, SPLITS_OF_EDGE_MAX);
  const problemsShown = [...problems.values()].slice(0, PROBLEMS_OF_EDGE_MAX);
  return {
    from,
    to,
    kind,
    count,
    hosts: [...hosts].sort(),
    share,
    splits: splitsShown,
    transport: oneOf(transports, 'mixed', 'unknown'),
    access: oneOf(access, 'depends', 'unasked'),
    problems: problemsShown,
    leftOut: splits.size - splitsShown.length + problems.size - problemsShown.length,
  };
}

function oneOf<T>(values: ReadonlySet<T>, several: T, none: T): T {
  const [first, second] = values;
  return first === undefined ? none : second === undefined ? first : several;
}
