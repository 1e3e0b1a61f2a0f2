// What the pages and gauges of the HTTP addresses look at: the parts of a running control plane, read only.

import type { State } from '../core/state.ts';
import type { History } from '../history/history.ts';
import type { Journal } from '../journal/journal.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { XdsServer } from '../xds/grpc/server.ts';
import type { Metrics } from './metrics.ts';

export interface SourceReport {
  readonly source: string;
  readonly synced: boolean;
  readonly troubles: readonly string[];
  readonly unreadable: readonly { readonly since: number }[];
}

export interface DebugParts {
  readonly world: {
    readonly state: State;
    readonly durable: boolean;
    /** How long facts have been waiting without any progress; 0: they are not. */
    readonly stuckMs: number;
  };
  readonly journal: Journal;
  /** The same journal, to travel in. */
  readonly history: History;
  readonly engine: Engine;
  readonly xds: XdsServer;
  readonly metrics: Metrics;
  /** Whether pages may end streams (UNSAFE_ENABLE_ADMIN_ENDPOINTS); undefined: none does. */
  readonly adminEndpoints?: boolean;
  /** Injection templates by name; undefined: nothing is injected here. */
  readonly templates: () => Readonly<Record<string, string>> | undefined;
  readonly sources: {
    readonly readiness: () => { readonly ready: boolean; readonly text: string };
    readonly report: () => readonly SourceReport[];
    /** Remote clusters. */
    readonly clusters: () => readonly {
      readonly id: string;
      readonly secretName: string;
      readonly syncStatus: string;
    }[];
  };
}
