// The mesh as a picture: it is read from left to right, is the same for the same mesh, and hides no problem.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MeshEdge, MeshNode } from '../../../src/admin/explorer/api-questions.ts';
import { layoutOf } from '../../../ui/model/graph-layout.ts';
import { meshGraph } from '../../../ui/model/mesh-graph.ts';

const SIZES = { nodeWidth: 100, nodeHeight: 40, gapX: 50, gapY: 10 };
const node = (id: string, kind: MeshNode['kind'], problems: MeshNode['problems'] = []): MeshNode => ({
  id,
  kind,
  title: id,
  namespace: 'shop',
  proxies: [],
  count: 1,
  mtls: 'permissive',
  policies: [],
  problems,
  problemsLeftOut: 0,
});
const edge = (from: string, to: string, kind: MeshEdge['kind'], more: Partial<MeshEdge> = {}): MeshEdge => ({
  from,
  to,
  kind,
  count: 1,
  hosts: [],
  share: 1,
  splits: [],
  transport: 'mtls',
  access: 'unasked',
  problems: [],
  leftOut: 0,
  ...more,
});
const missing = { kind: 'missing-cluster', message: 'there is no v3' } as const;
const split = (subset: string, share: number) => ({ cluster: subset, host: 'b', port: 80, subset, share });
const shop = {
  nodes: [node('w/a', 'workload'), node('w/b', 'workload'), node('s/b', 'service'), node('c/v3', 'missing', [missing])],
  edges: [
    edge('w/a', 's/b', 'routes', { share: 0.8, splits: [split('v1', 0.8)] }),
    edge('w/a', 'c/v3', 'visible', { share: 0.2, splits: [split('v3', 0.2)], problems: [missing] }),
    edge('w/b', 's/b', 'visible'),
    edge('w/b', 's/b', 'backs'),
  ],
};
const few = { visible: false, backs: true, compared: false };

describe('the graph of a mesh', () => {
  it('places a workload that calls and answers on both sides of its service', () => {
    const { nodes, edges } = meshGraph(shop, { ...few, visible: true });
    expect(nodes.filter(({ node: { id } }) => id === 'w/b').map(({ layer }) => layer)).toEqual([0, 2]);
    expect(edges.map(({ from, to }) => `${from} > ${to}`)).toEqual([
      'caller w/a > called s/b',
      'caller w/a > called c/v3',
      'caller w/b > called s/b',
      'called s/b > answers w/b',
    ]);
  });

  it('draws a problem even where default routes are hidden, and names the shares of subsets', () => {
    const { edges, nodes } = meshGraph(shop, few);
    expect(edges.map(({ labels, isBad }) => [labels, isBad])).toEqual([
      [['80 % v1'], false],
      [['✕ 20 % v3'], true],
      [[], false],
    ]);
    expect(nodes.some(({ node: { kind } }) => kind === 'missing')).toBe(true);
  });

  it('joins only columns that stand beside each other', () => {
    const ids = ['w/1', 'w/2', 's/1', 's/2'];
    const nodes = ids.map(id => node(id, id.startsWith('w') ? 'workload' : 'service'));
    const any = fc.tuple(
      fc.constantFrom(...ids),
      fc.constantFrom(...ids),
      fc.constantFrom('routes', 'visible', 'backs'),
    );
    fc.assert(
      fc.property(fc.array(any), found => {
        const edges = found.map(([from, to, kind]) => edge(from, to, kind as MeshEdge['kind']));
        const graph = meshGraph({ nodes, edges }, { ...few, visible: true });
        const layer = new Map(graph.nodes.map(one => [one.id, one.layer]));
        for (const { from, to } of graph.edges) expect(layer.get(to)! - layer.get(from)!).toBe(1);
      }),
    );
  });
});

describe('the layout of a graph', () => {
  const graph = fc
    .record({ size: fc.integer({ min: 1, max: 30 }), ends: fc.array(fc.tuple(fc.nat(), fc.nat())) })
    .map(({ size, ends }) => ({
      nodes: Array.from({ length: size }, (_, i) => ({ id: `n${i}`, layer: i % 3, rank: `n${i}` })),
      edges: ends.map(([from, to]) => ({ from: `n${from % size}`, to: `n${to % size}` })),
    }));

  it('places every node once, without overlaps, inside the picture', () => {
    fc.assert(
      fc.property(graph, ({ nodes, edges }) => {
        const { places, width, height } = layoutOf(nodes, edges, SIZES);
        expect(places.size).toBe(nodes.length);
        const taken = [...places.values()];
        for (const [i, one] of taken.entries()) {
          expect(one.x >= 0 && one.y >= 0 && one.x + 100 <= width && one.y + 40 <= height).toBe(true);
          const clash = taken.slice(i + 1).some(({ x, y }) => x === one.x && Math.abs(y - one.y) < 50);
          expect(clash).toBe(false);
        }
      }),
    );
  });

  it('is the same whatever order nodes and edges come in', () => {
    fc.assert(
      fc.property(graph, ({ nodes, edges }) => {
        const layout = layoutOf(nodes, edges, SIZES);
        expect(layoutOf([...nodes].reverse(), [...edges].reverse(), SIZES)).toEqual({
          ...layout,
          places: new Map(layout.places),
        });
      }),
    );
  });

  it('crosses no lines where none have to cross', () => {
    const nodes = ['a', 'b', 'c'].flatMap((name, i) => [
      { id: name, layer: 0, rank: name },
      { id: `to ${name}`, layer: 1, rank: String(9 - i) },
    ]);
    const { places } = layoutOf(
      nodes,
      ['a', 'b', 'c'].map(name => ({ from: name, to: `to ${name}` })),
      SIZES,
    );
    for (const name of ['a', 'b', 'c']) expect(places.get(`to ${name}`)?.y).toBe(places.get(name)?.y);
  });
});
