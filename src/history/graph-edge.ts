// What the mesh's graph says of an edge between two nodes, and of a problem that it found.

import type { SendProblem, Split } from './traffic.ts';

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'routes' | 'visible' | 'backs';
  readonly count: number;
  readonly hosts: readonly string[];
  readonly share: number;
  readonly splits: readonly Split[];
  readonly transport: Transport;
  readonly access: 'allowed' | 'denied' | 'depends' | 'unasked';
  readonly problems: readonly SendProblem[];
}

export type Transport = 'mtls' | 'tls' | 'plaintext' | 'mixed' | 'unknown';

/** Of the graph as a whole: also what no single route shows. */
export interface GraphProblem {
  readonly kind: SendProblem['kind'] | 'unreachable';
  readonly message: string;
}

export interface FoundProblem extends GraphProblem {
  readonly node: string;
  readonly to?: string;
  readonly proxies: readonly string[];
  /** Of its nodes: a folded one of them has to be unfolded to see it. */
  readonly namespaces: readonly string[];
}
