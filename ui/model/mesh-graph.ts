// The mesh as a picture that is read from left to right: who calls, what is called, what answers. A workload that calls
// and answers stands in both columns, so no line runs backwards.
//
// Invariant: every edge that is drawn joins two neighbouring columns, and every problem is on a node or an edge drawn.

import type { Mesh, MeshEdge, MeshNode } from '../../src/admin/explorer/api-questions.ts';
import { percent } from './share-text.ts';

export type Role = 'caller' | 'called' | 'answers';

export interface DrawnNode {
  /** `caller workload/shop/a`: role and id. */
  readonly id: string;
  readonly layer: number;
  readonly rank: string;
  readonly role: Role;
  readonly node: MeshNode;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly edge: MeshEdge;
  readonly isBad: boolean;
  /** Short lines at its middle. */
  readonly labels: readonly string[];
}

export interface MeshGraph {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

export interface GraphChoice {
  /** Default routes to services that callers merely see. */
  readonly visible: boolean;
  /** Workloads behind services. */
  readonly backs: boolean;
  /** Beside the mesh of another moment: narrower. */
  readonly compared: boolean;
}

const LAYERS: Readonly<Record<Role, number>> = { caller: 0, called: 1, answers: 2 };
/** Splits that an edge names. */
const LABELS_MAX = 3;

export function meshGraph({ nodes, edges }: Pick<Mesh, 'nodes' | 'edges'>, choice: GraphChoice): MeshGraph {
  const byId = new Map(nodes.map(node => [node.id, node]));
  const drawn = new Map<string, DrawnNode>();
  const place = (id: string, role: Role): string | undefined => {
    const node = byId.get(id);
    if (node === undefined) return undefined;
    const key = `${role} ${id}`;
    const rank = naturalRank(`${node.kind === 'gateway' ? 0 : 1} ${node.namespace} ${node.title}`);
    if (!drawn.has(key)) drawn.set(key, { id: key, layer: LAYERS[role], rank, role, node });
    return key;
  };
  const lines = edges.flatMap((edge): readonly DrawnEdge[] => {
    const isBad = edge.problems.length > 0 || edge.access === 'denied';
    if (edge.kind === 'visible' && !choice.visible && edge.problems.length === 0) return [];
    if (edge.kind === 'backs' && !choice.backs && !isBad) return [];
    const ends = endsOf(edge, byId);
    const [from, to] = [place(ends.from, ends.roles[0]), place(ends.to, ends.roles[1])];
    return from === undefined || to === undefined ? [] : [{ from, to, edge, isBad, labels: labelsOf(edge) }];
  });
  const seen = new Set([...drawn.values()].map(({ node }) => node.id));
  for (const node of nodes) if (!seen.has(node.id) && isDrawnAlone(node)) place(node.id, roleAlone(node));
  return { nodes: [...drawn.values()], edges: lines };
}

/** Numbers sort by value: team-2 stands before team-10. */
export function naturalRank(text: string): string {
  return text.replace(/[0-9]{1,8}/g, digits => digits.padStart(8, '0'));
}

/** A `backs` edge runs from the service to the workload, whichever way the answer names them. */
function endsOf(
  { kind, from, to }: MeshEdge,
  nodes: ReadonlyMap<string, MeshNode>,
): { readonly from: string; readonly to: string; readonly roles: readonly [Role, Role] } {
  if (kind !== 'backs') return { from, to, roles: ['caller', 'called'] };
  const roles = ['called', 'answers'] as const;
  const isService = nodes.get(from)?.kind === 'service' || nodes.get(from)?.kind === 'external';
  return isService ? { from, to, roles } : { from: to, to: from, roles };
}

function isDrawnAlone({ kind, problems }: MeshNode): boolean {
  return problems.length > 0 || kind === 'gateway' || kind === 'service' || kind === 'namespace';
}

function roleAlone({ kind }: MeshNode): Role {
  return kind === 'gateway' || kind === 'workload' ? 'caller' : 'called';
}

function labelsOf({ kind, count, splits, share, access, problems }: MeshEdge): readonly string[] {
  if (kind === 'backs') return [];
  const denied = access === 'denied' ? ['refused by policy'] : [];
  if (count > 1) return [`${count} ways`, ...denied];
  const named = splits.filter(({ subset }) => subset !== '');
  if (named.length === 0) return share > 0 && share < 1 ? [percent(share), ...denied] : denied;
  const isBad = (cluster: string): boolean => problems.some(({ message }) => message.includes(cluster));
  const lines = named
    .slice(0, LABELS_MAX)
    .map(({ cluster, subset, share: part }) => `${isBad(cluster) ? '✕ ' : ''}${percent(part)} ${subset}`);
  return [...lines, ...(named.length > LABELS_MAX ? [`and ${named.length - LABELS_MAX} more`] : []), ...denied];
}
