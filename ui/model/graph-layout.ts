// Where the nodes of the mesh graph stand: layers from callers to services to workloads, so that requests are read from
// left to right. Deterministic: equal graphs give equal pictures, and a small change moves little.
//
// Cost: linear in nodes and edges for a fixed number of sweeps.

export interface GraphNode {
  readonly id: string;
  /** The column it belongs to. */
  readonly layer: number;
  /** Orders nodes that nothing else orders. */
  readonly rank: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

export interface Placed {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly places: ReadonlyMap<string, Placed>;
  readonly width: number;
  readonly height: number;
}

export interface GraphSizes {
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  readonly gapX: number;
  readonly gapY: number;
}

/** Passes that pull each node towards its neighbours. */
const SWEEPS = 6;
/** Edges for each node, from which on no order has fewer crossings than another: nodes keep their rank. */
const CROWDED_EDGES_PER_NODE = 6;

export function layoutOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[], sizes: GraphSizes): GraphLayout {
  const layers = layersOf(nodes);
  const order = new Map<string, number>();
  for (const layer of layers) for (const [i, id] of layer.entries()) order.set(id, i);
  const neighbours = neighboursOf(nodes, edges);
  const sweeps = edges.length > CROWDED_EDGES_PER_NODE * nodes.length ? 0 : SWEEPS;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const inTurn = sweep % 2 === 0 ? layers : [...layers].reverse();
    for (const layer of inTurn) sortByNeighbours(layer, neighbours, order);
  }
  const tallest = Math.max(0, ...layers.map(({ length }) => length));
  const step = sizes.nodeHeight + sizes.gapY;
  const height = Math.max(sizes.nodeHeight, tallest * step - sizes.gapY);
  const places = new Map<string, Placed>();
  for (const [column, layer] of layers.entries()) {
    const top = (height - (layer.length * step - sizes.gapY)) / 2;
    for (const [i, id] of layer.entries()) {
      places.set(id, { x: column * (sizes.nodeWidth + sizes.gapX), y: top + i * step });
    }
  }
  const width = Math.max(sizes.nodeWidth, layers.length * (sizes.nodeWidth + sizes.gapX) - sizes.gapX);
  return { places, width, height };
}

/** Ids by column, empty columns left out. */
function layersOf(nodes: readonly GraphNode[]): readonly string[][] {
  const found = new Map<number, GraphNode[]>();
  for (const node of nodes) {
    const layer = found.get(node.layer);
    if (layer === undefined) found.set(node.layer, [node]);
    else layer.push(node);
  }
  return [...found.keys()]
    .sort((a, b) => a - b)
    .map(layer => (found.get(layer) ?? []).sort((a, b) => compare(a.rank, b.rank)).map(({ id }) => id));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function neighboursOf(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  for (const { from, to } of edges) {
    if (from === to) continue;
    found.get(from)?.push(to);
    found.get(to)?.push(from);
  }
  return found;
}

/** By the mean place of a node's neighbours; those without keep theirs. Stable. */
function sortByNeighbours(
  layer: string[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  order: Map<string, number>,
): void {
  const own = new Set(layer);
  const wanted = new Map(
    layer.map((id, i) => {
      const near = (neighbours.get(id) ?? []).filter(one => order.has(one) && !own.has(one));
      const sum = near.reduce((total, one) => total + (order.get(one) ?? 0), 0);
      return [id, near.length === 0 ? i : sum / near.length];
    }),
  );
  layer.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
  for (const [i, id] of layer.entries()) order.set(id, i);
}
