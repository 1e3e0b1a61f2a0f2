// Checks whether every proxy has accepted an object. A proxy has it when, for every subscribed type, it accepted either
// a response made from a state with the object, or resources equal to those of the present state. A refusal never
// counts, nor does what was sent and not answered.

import { showProblem } from '../core/base/problem.ts';
import type { Resource } from '../core/model/resource.ts';
import type { State } from '../core/state.ts';
import { recordInForce } from '../history/last-change.ts';
import { allOf, namedOf } from '../offline/generate.ts';
import { patchEffects } from '../xds/assemble/patch/effects.ts';
import type { Engine } from '../xds/engine/engine.ts';
import { watchedNames } from '../xds/generate/common/watched-names.ts';
import type { ConnectionStatus, TypeStatus } from '../xds/serve/stream-status.ts';
import { CDS, ECDS, EDS, LDS, RDS, rulesOf } from '../xds/session/types.ts';

type Made = readonly Resource<object>[];

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
  /** Of an EnvoyFilter that acts on it: what Envoy refuses of the patched configuration, a sentence each. */
  readonly breaks: readonly string[];
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

/** The proxies one by one, on demand. */
export interface LazyLiveness extends Omit<Liveness, 'proxies'> {
  readonly proxies: Iterable<ProxyLiveness>;
}

export function livenessOf(
  state: State,
  engine: Engine,
  connections: readonly ConnectionStatus[],
  object: string,
): LazyLiveness {
  const record = recordInForce(state, object);
  const seq = record?.accepted === undefined ? 0 : record.acceptedAt;
  const refused = record?.refused;
  return {
    object,
    verdict: refused !== undefined ? 'refused' : record === undefined ? 'unknown' : 'accepted',
    seq,
    head: state.seq,
    problems: refused?.problems.map(showProblem) ?? [],
    proxies: proxiesOf(state, engine, connections, { object, seq }),
  };
}

function* proxiesOf(
  state: State,
  engine: Engine,
  connections: readonly ConnectionStatus[],
  wanted: Wanted,
): IterableIterator<ProxyLiveness> {
  for (const status of connections) yield proxyLiveness(state, engine, status, wanted);
}

interface Wanted {
  readonly object: string;
  readonly seq: number;
}

function proxyLiveness(state: State, engine: Engine, status: ConnectionStatus, { object, seq }: Wanted): ProxyLiveness {
  const behind: Behind[] = [];
  const acked: Record<string, number> = {};
  for (const type of status.types) {
    const why = whyBehind(state, engine, status.connection, type, seq);
    if (why !== undefined) behind.push({ type: type.short, why });
    if (type.sync === 'SYNCED' && type.stateSeq !== undefined) acked[type.short] = type.stateSeq;
  }
  behind.push(...notRequested(state, engine, status.connection));
  const { facets, connection } = status;
  const breaks = brokenBy(state, engine, status.connection, object);
  return { proxy: facets.id, connection, live: behind.length === 0, behind, breaks, acked };
}

function brokenBy(state: State, engine: Engine, connection: string, object: string): readonly string[] {
  const [kind, ...key] = object.split('/');
  const proxy = state.proxies.get(connection);
  if (kind !== 'EnvoyFilter' || proxy === undefined) return [];
  const { patches, refused } = engine.tracker.get(state, proxy, patchEffects, '');
  return patches.some(({ filter, acts }) => acts && filter === key.join('/')) ? refused : [];
}

/** Pending requests of a proxy: resources named by its clusters and listeners that it has not asked for yet. */
export function notRequested(state: State, engine: Engine, connection: string): readonly Behind[] {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) return [];
  const { subscriptions } = proxy;
  return PAIRS.flatMap(({ all, typeUrl, names }) => {
    if (subscriptions[all]?.wildcard !== true) return [];
    const unasked = absentFrom(
      wantedBy(allOf(engine.tracker, state, proxy, all), names),
      subscriptions[typeUrl]?.names ?? [],
    );
    const missing = unasked.find(name => namedOf(engine.tracker, state, proxy, typeUrl, name) !== undefined);
    return missing === undefined ? [] : [{ type: rulesOf(typeUrl).short, why: `has not requested ${missing} yet` }];
  });
}

const PAIRS = [
  { all: CDS, typeUrl: EDS, names: 'endpoints' },
  { all: LDS, typeUrl: RDS, names: 'routes' },
  { all: LDS, typeUrl: ECDS, names: 'extensions' },
] as const;

/** Proxies with equal views share the list of their clusters, so the names in it are collected once. */
const wantedNames = new WeakMap<Made, readonly string[]>();

/** In name order. */
function wantedBy(made: Made, kind: 'endpoints' | 'routes' | 'extensions'): readonly string[] {
  const known = wantedNames.get(made);
  if (known !== undefined) return known;
  const names = [...new Set(made.flatMap(({ message }) => watchedNames(message)[kind]))].sort();
  wantedNames.set(made, names);
  return names;
}

/** Of two lists in name order. */
function absentFrom(names: readonly string[], requested: readonly string[]): readonly string[] {
  let at = 0;
  return names.filter(name => {
    while (at < requested.length && requested[at]! < name) at++;
    return requested[at] !== name;
  });
}

/** Undefined: the proxy has accepted what it is to hold of the type, or a response of the event `seq` or later. */
export function whyBehind(
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
  // A client that moved from another replica may hold everything, and is sent nothing.
  if (type.sync === 'NOT_SENT') return holdsAll(type, wanted) ? undefined : 'nothing was sent yet';
  if (type.sync === 'STALE') return `was sent the state of event ${type.stateSeq ?? 0} and has not answered`;
  if (type.version === wanted.digest) return undefined;
  if (seq > 0 && (type.stateSeq ?? 0) >= seq) return undefined;
  return `has the state of event ${type.stateSeq ?? 0}; what is newer was not sent yet`;
}

function holdsAll(
  { clientVersions }: TypeStatus,
  { versions }: { readonly versions: ReadonlyMap<string, string> },
): boolean {
  for (const [name, version] of versions) if (clientVersions?.get(name) !== version) return false;
  return true;
}
