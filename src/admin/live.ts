// Is an object live everywhere? A proxy has it when, for every type it subscribes to, it has accepted either a response made from a state with
// the object in it, or just what the present state would give it. A refusal never counts, nor does what was sent and not answered.

import { showProblem } from '../core/problem.ts';
import type { State } from '../core/state.ts';
import { recordInForce } from '../history/brought.ts';
import { holdingsOf } from '../history/holdings.ts';
import type { Engine } from '../xds/engine.ts';
import { CDS, EDS, LDS, RDS, rulesOf } from '../xds/session/types.ts';
import type { ConnectionStatus, TypeStatus } from '../xds/stream-status.ts';

export interface Behind {
  /** As `proxy-status` prints the type. */
  readonly type: string;
  readonly why: string;
}

export interface ProxyLiveness {
  readonly proxy: string;
  readonly connection: string;
  readonly live: boolean;
  readonly behind: readonly Behind[];
  /** Type → event of the state whose response it accepted last. */
  readonly acked: Readonly<Record<string, number>>;
}

export interface Liveness {
  /** `Kind/namespace/name` */
  readonly object: string;
  readonly verdict: 'accepted' | 'refused' | 'unknown';
  /** Event that brought the version in force; 0: there is none. */
  readonly seq: number;
  /** Event up to which the control plane has folded. */
  readonly head: number;
  /** Why the newest version was refused. */
  readonly problems: readonly string[];
  readonly proxies: readonly ProxyLiveness[];
}

export function livenessOf(
  state: State,
  engine: Engine,
  connections: readonly ConnectionStatus[],
  object: string,
): Liveness {
  const record = recordInForce(state, object);
  const seq = record?.accepted === undefined ? 0 : record.acceptedAt;
  const refused = record?.refused;
  return {
    object,
    verdict: refused !== undefined ? 'refused' : record === undefined ? 'unknown' : 'accepted',
    seq,
    head: state.seq,
    problems: refused?.problems.map(showProblem) ?? [],
    proxies: connections.map(status => proxyLiveness(state, engine, status, seq)),
  };
}

function proxyLiveness(state: State, engine: Engine, status: ConnectionStatus, seq: number): ProxyLiveness {
  const behind: Behind[] = [];
  const acked: Record<string, number> = {};
  for (const type of status.types) {
    const why = whyBehind(state, engine, status.connection, type, seq);
    if (why !== undefined) behind.push({ type: type.short, why });
    if (type.sync === 'SYNCED' && type.stateSeq !== undefined) acked[type.short] = type.stateSeq;
  }
  behind.push(...notAsked(state, engine, status.connection));
  const { facets, connection } = status;
  return { proxy: facets.id, connection, live: behind.length === 0, behind, acked };
}

/** Whoever has new clusters or listeners and has not asked for what they name is still on the way. */
function notAsked(state: State, engine: Engine, connection: string): readonly Behind[] {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) return [];
  const { subscriptions } = proxy;
  const pairs = [
    [CDS, EDS],
    [LDS, RDS],
  ] as const;
  const wanted = pairs.flatMap(([all, named]) => (subscriptions[all]?.wildcard === true ? [named] : []));
  return [...holdingsOf(engine.tracker, state, proxy, wanted)].flatMap(([typeUrl, held]) => {
    const asked = new Set(subscriptions[typeUrl]?.names ?? []);
    const missing = [...held.keys()].find(name => !asked.has(name));
    return missing === undefined ? [] : [{ type: rulesOf(typeUrl).short, why: `has not asked for ${missing} yet` }];
  });
}

function whyBehind(
  state: State,
  engine: Engine,
  connection: string,
  type: TypeStatus,
  seq: number,
): string | undefined {
  const proxy = state.proxies.get(connection);
  const subscription = proxy?.subscriptions[type.typeUrl];
  if (proxy === undefined || subscription === undefined) return undefined;
  const wanted = engine.resourcesFor(state, proxy, type.typeUrl, subscription);
  if (wanted === undefined) return undefined;
  if (type.sync === 'ERROR') return `refused: ${type.lastError.trim()}`;
  if (type.sync === 'NOT_SENT') return wanted.size === 0 ? undefined : 'nothing was sent yet';
  if (type.sync === 'STALE') return `was sent the state of event ${type.stateSeq ?? 0} and has not answered`;
  if (type.version === wanted.digest) return undefined;
  if (seq > 0 && (type.stateSeq ?? 0) >= seq) return undefined;
  return `has the state of event ${type.stateSeq ?? 0}; what is newer was not sent yet`;
}
