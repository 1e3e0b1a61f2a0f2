// The drawing of a mesh: an SVG of boxes and lines. Boxes are links, so the keyboard reaches each.

import { useMemo } from 'preact/hooks';
import type { Mesh, MeshNode } from '../../src/admin/explorer/api-questions.ts';
import { useApp, useGoing } from '../app-state.ts';
import { type GraphSizes, layoutOf, type Placed } from '../model/graph-layout.ts';
import { shortHost } from '../model/host-text.ts';
import { type DrawnEdge, type DrawnNode, type GraphChoice, meshGraph } from '../model/mesh-graph.ts';

const SIZES: GraphSizes = { nodeWidth: 208, nodeHeight: 40, gapX: 170, gapY: 12 };
/** On a phone, where two columns fit. */
const PHONE: GraphSizes = { nodeWidth: 136, nodeHeight: 40, gapX: 78, gapY: 12 };
const PHONE_QUERY = '(max-width: 760px)';
/** Two drawings beside each other. */
const NARROW: GraphSizes = { nodeWidth: 176, nodeHeight: 40, gapX: 104, gapY: 12 };
const MARGIN_PX = 6;
const HEAD_PX = 24;
/** Width of a character of a title, more than most have. */
const CHAR_PX = 7.2;
/** The same of a note. */
const NOTE_CHAR_PX = 5.8;
const LABEL_PX = 14;
/** With more lines, those without a chosen end are faint and bear no labels: they would hide each other. */
const LINES_CLEAR_MAX = 120;
const HEADS: readonly string[] = ['who calls', 'what is called', 'what answers'];

interface MeshDrawingProps {
  readonly mesh: Mesh;
  readonly choice: GraphChoice;
  /** Id of a node, or `FROM > TO`. */
  readonly chosen: string | undefined;
  /** The mesh that it is compared with: lines that it has not are marked. */
  readonly other?: Mesh | undefined;
}

export function MeshDrawing({ mesh, choice, chosen, other }: MeshDrawingProps) {
  const sizes = matchMedia(PHONE_QUERY).matches ? PHONE : choice.compared ? NARROW : SIZES;
  const { visible, backs, compared } = choice;
  const { graph, layout } = useMemo(() => {
    const made = meshGraph(mesh, { visible, backs, compared });
    return { graph: made, layout: layoutOf(made.nodes, made.edges, sizes) };
  }, [mesh, visible, backs, compared, sizes]);
  const known = useMemo(
    () =>
      other === undefined ? undefined : new Set(meshGraph(other, { visible, backs, compared }).edges.map(lineKey)),
    [other, visible, backs, compared],
  );
  if (graph.nodes.length === 0) return <p class="empty">Nothing is routed here at this moment.</p>;
  const layers = [...new Set(graph.nodes.map(({ layer }) => layer))].sort();
  const [width, height] = [layout.width + 2 * MARGIN_PX, layout.height + HEAD_PX + 2 * MARGIN_PX];
  const isLit = (edge: DrawnEdge): boolean => chosen === undefined || touches(edge, chosen);
  const turns = turnsOf(graph.edges);
  const sorted = [...graph.edges].sort((a, b) => Number(a.isBad) - Number(b.isBad));
  const isCrowded = chosen === undefined && sorted.length > LINES_CLEAR_MAX;
  return (
    <svg
      class={`mesh-drawing ${isCrowded ? 'crowded' : ''}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <title>The mesh as a graph</title>
      {layers.map((layer, column) => (
        <text key={layer} class="head" x={MARGIN_PX + column * (sizes.nodeWidth + sizes.gapX)} y={14}>
          {HEADS[layer]}
        </text>
      ))}
      <g transform={`translate(${MARGIN_PX} ${HEAD_PX + MARGIN_PX})`}>
        {sorted.map(edge => (
          <Edge
            key={`${edge.from} ${edge.to} ${edge.edge.kind}`}
            edge={edge}
            places={layout.places}
            sizes={sizes}
            lit={isLit(edge)}
            differs={known !== undefined && !known.has(lineKey(edge))}
          />
        ))}
        {(isCrowded ? [] : sorted).map(edge => (
          <Labels
            turn={turns.get(edge) ?? 0}
            key={`${edge.from} ${edge.to} ${edge.edge.kind}`}
            edge={edge}
            places={layout.places}
            sizes={sizes}
            lit={isLit(edge)}
          />
        ))}
        {graph.nodes.map(drawn => (
          <Node
            key={drawn.id}
            drawn={drawn}
            place={layout.places.get(drawn.id)}
            sizes={sizes}
            chosen={drawn.node.id === chosen}
          />
        ))}
      </g>
    </svg>
  );
}

function touches({ edge: { from, to } }: DrawnEdge, chosen: string): boolean {
  return from === chosen || to === chosen || `${from} > ${to}` === chosen;
}

interface EdgeProps {
  readonly edge: DrawnEdge;
  readonly places: ReadonlyMap<string, Placed>;
  readonly sizes: GraphSizes;
  readonly lit: boolean;
  readonly differs?: boolean;
}

/** Equal for lines that say the same. */
function lineKey({ from, to, edge, labels, isBad }: DrawnEdge): string {
  return [from, to, edge.kind, edge.transport, edge.access, isBad, ...labels].join('\n');
}

function endsIn({ edge: { from, to }, places, sizes }: Omit<EdgeProps, 'lit'>): readonly [Placed, Placed] | undefined {
  const [start, end] = [places.get(from), places.get(to)];
  if (start === undefined || end === undefined) return undefined;
  const middle = sizes.nodeHeight / 2;
  return [
    { x: start.x + sizes.nodeWidth, y: start.y + middle },
    { x: end.x, y: end.y + middle },
  ];
}

function Edge({ edge, places, sizes, lit, differs = false }: EdgeProps) {
  const { href } = useGoing();
  const { params } = useApp().place;
  const ends = endsIn({ edge, places, sizes });
  if (ends === undefined) return null;
  const [start, end] = ends;
  const bend = (end.x - start.x) / 2;
  const path = `M${start.x} ${start.y}C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`;
  const { kind, from, to, transport } = edge.edge;
  const classes = ['edge', kind, transport, edge.isBad ? 'bad' : '', differs ? 'differs' : '', lit ? '' : 'dim']
    .filter(Boolean)
    .join(' ');
  return (
    <a href={href('mesh', '', { ...params, chosen: `${from} > ${to}` })} tabIndex={-1} aria-label={`${from} to ${to}`}>
      <path class="edge-target" d={path} />
      <path class={classes} d={path}>
        <title>{`${from} → ${to}`}</title>
      </path>
    </a>
  );
}

/** Where labels stand on the lines from one box, one after the other, as shares of the way. */
const LABEL_STOPS: readonly number[] = [0.3, 0.5, 0.68];

function Labels({ edge, places, sizes, lit, turn }: EdgeProps & { readonly turn: number }) {
  const ends = endsIn({ edge, places, sizes });
  if (ends === undefined || edge.labels.length === 0 || !lit) return null;
  const [start, end] = ends;
  const t = LABEL_STOPS[turn % LABEL_STOPS.length] ?? 0.5;
  const near = (1 - t) ** 3 + 3 * (1 - t) ** 2 * t;
  const x = start.x + (end.x - start.x) * (1.5 * (1 - t) ** 2 * t + 1.5 * (1 - t) * t ** 2 + t ** 3);
  const y = start.y * near + end.y * (1 - near) - ((edge.labels.length - 1) * LABEL_PX) / 2 + 4;
  return (
    <text class={`edge-label ${edge.isBad ? 'bad' : ''}`} x={x} y={y}>
      {edge.labels.map((line, i) => (
        <tspan key={line} x={x} dy={i === 0 ? 0 : LABEL_PX}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

/** Which of the labelled lines of its box a line is. */
function turnsOf(edges: readonly DrawnEdge[]): ReadonlyMap<DrawnEdge, number> {
  const counts = new Map<string, number>();
  return new Map(
    edges
      .filter(({ labels }) => labels.length > 0)
      .map(edge => {
        const turn = counts.get(edge.from) ?? 0;
        counts.set(edge.from, turn + 1);
        return [edge, turn];
      }),
  );
}

interface NodeProps {
  readonly drawn: DrawnNode;
  readonly place: Placed | undefined;
  readonly sizes: GraphSizes;
  readonly chosen: boolean;
}

function Node({ drawn: { node }, place: here, sizes, chosen }: NodeProps) {
  const { href } = useGoing();
  const { params } = useApp().place;
  if (here === undefined) return null;
  const bad = node.problems.length > 0 || node.kind === 'missing';
  const classes = ['node', node.kind, bad ? 'bad' : '', chosen ? 'chosen' : ''].filter(Boolean).join(' ');
  return (
    <g transform={`translate(${here.x} ${here.y})`}>
      <a
        class={classes}
        href={href('mesh', '', { ...params, chosen: chosen ? undefined : node.id })}
        aria-label={`${node.kind} ${node.title}${bad ? ', has problems' : ''}`}
      >
        <rect width={sizes.nodeWidth} height={sizes.nodeHeight} rx={node.kind === 'service' ? 20 : 4} />
        <text class="node-title" x={14} y={17}>
          {bad ? '✕ ' : ''}
          {short(titleOf(node), sizes)}
        </text>
        <text class="node-note" x={14} y={32}>
          {short(noteOf(node), sizes, NOTE_CHAR_PX)}
        </text>
        <title>{node.title}</title>
      </a>
    </g>
  );
}

const TRANSPORTS: Readonly<Record<MeshNode['mtls'], string>> = {
  strict: 'mTLS only',
  permissive: 'mTLS or plaintext',
  plaintext: 'plaintext',
  mixed: 'mixed mTLS',
  unknown: '',
};

function noteOf({ kind, namespace, count, mtls, policies, problems, problemsLeftOut }: MeshNode): string {
  if (kind === 'missing') return 'no such cluster';
  if (kind === 'namespace' && problems.length > 0) return `${count} inside · ${problems.length + problemsLeftOut} ✕`;
  if (problems.some(one => one.kind === 'unreachable')) return [namespace, 'unreachable'].filter(Boolean).join(' · ');
  const parts = [
    kind === 'namespace' ? `${count} inside` : namespace,
    kind === 'gateway' ? 'gateway' : TRANSPORTS[mtls],
    policies.length > 0 ? `${policies.length} policies` : '',
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Of a cluster that is not there, the service and subset that its name has. */
function titleOf({ kind, title }: MeshNode): string {
  const [, port, subset = '', host] = title.split('|');
  if (kind !== 'missing' || host === undefined) return shortHost(title);
  return `${shortHost(host)}:${port}${subset === '' ? '' : ` ${subset}`}`;
}

function short(text: string, { nodeWidth }: GraphSizes, charPx = CHAR_PX): string {
  const chars = Math.floor((nodeWidth - 20) / charPx);
  return text.length > chars ? `${text.slice(0, chars - 1)}…` : text;
}
