// What connected proxies have accepted, as positions: of each proxy the event up to which it has accepted everything
// that concerns it. A proxy that holds exactly what it would be given now is up to date; otherwise the last accepted
// response of each type counts, and the oldest of them is the proxy's. What was accepted once stays accepted.

import type { State } from '../core/state.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { ConnectionStatus, TypeStatus } from '../xds/serve/stream-status.ts';
import { notRequested, whyBehind } from './live.ts';

/** Nothing was accepted yet. */
export const NOTHING = -1;

export interface AcceptedParts {
  readonly world: { readonly state: State };
  readonly engine: Engine;
  readonly xds: { connections(): readonly ConnectionStatus[] };
}

export class AcceptedPositions {
  readonly #parts: AcceptedParts;
  /** Connection → type URL → position. */
  #known = new Map<string, Map<string, number>>();

  constructor(parts: AcceptedParts) {
    this.#parts = parts;
  }

  /** One number for each connected proxy. Linear in the subscriptions. */
  look(): readonly number[] {
    const { state } = this.#parts.world;
    const known = new Map<string, Map<string, number>>();
    const positions: number[] = [];
    for (const status of this.#parts.xds.connections()) {
      if (!state.proxies.has(status.connection)) continue;
      const types = this.#known.get(status.connection) ?? new Map<string, number>();
      known.set(status.connection, types);
      positions.push(this.#ofProxy(state, status, types));
    }
    this.#known = known;
    return positions;
  }

  #ofProxy(state: State, status: ConnectionStatus, types: Map<string, number>): number {
    const { engine } = this.#parts;
    let least = status.types.length === 0 ? NOTHING : state.seq;
    for (const type of status.types) {
      const now = positionOf(state, engine, status.connection, type);
      const position = Math.max(now, types.get(type.typeUrl) ?? NOTHING);
      types.set(type.typeUrl, position);
      least = Math.min(least, position);
    }
    // New clusters and listeners whose endpoints and routes were not asked for serve nothing yet.
    return least === state.seq && notRequested(state, engine, status.connection).length > 0 ? NOTHING : least;
  }
}

function positionOf(state: State, engine: Engine, connection: string, type: TypeStatus): number {
  if (whyBehind(state, engine, connection, type, 0) === undefined) return state.seq;
  return type.sync === 'SYNCED' ? (type.stateSeq ?? NOTHING) : NOTHING;
}
