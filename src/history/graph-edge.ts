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

export interface FoundProblem extends SendProblem {
  readonly node: string;
  readonly to?: string;
  readonly proxies: readonly string[];
}
