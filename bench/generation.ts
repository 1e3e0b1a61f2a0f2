// How long it takes until everything that one sidecar watches is made and encoded: from scratch, and after a change.

import type { JsonObject } from '../src/core/base/json.ts';
import type { Unrecorded } from '../src/core/event.ts';
import type { ProxyRecord } from '../src/core/model/proxy.ts';
import type { State } from '../src/core/state.ts';
import { resourceSource, resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { foldAll, numbered } from './folding.ts';
import { type Figure, type Figures, heapUsed, medianMs, medianOf, megabytes, milliseconds } from './measure.ts';
import { CONNECTION, destinationRule, endpointSlice, meshFacts, sidecarOf, update, virtualService } from './mesh.ts';

const PREFIX = 'type.googleapis.com/envoy.config.';
const CDS = `${PREFIX}cluster.v3.Cluster`;
const EDS = `${PREFIX}endpoint.v3.ClusterLoadAssignment`;
const LDS = `${PREFIX}listener.v3.Listener`;
const RDS = `${PREFIX}route.v3.RouteConfiguration`;

/** The service whose sidecar asks, another one of its namespace, and one far away. */
const OWN = 1;
const NEIGHBOUR = 2;
const FAR = 60;

export async function generationFigures(services: 100 | 1_000): Promise<Figures> {
  const state = subscribed(foldAll(numbered([...meshFacts(services), sidecarOf(OWN), sidecarOf(NEIGHBOUR)])));
  const name = `generate, ${services} services`;
  const figures: Record<string, Figure> = {};
  figures[`${name}: from scratch`] = milliseconds(await medianMs(() => view(freshEngine(), state)));
  figures[`${name}: for the second sidecar of a namespace`] = await secondFigure(state);
  const after = async (what: string, change: (round: number) => JsonObject): Promise<void> => {
    figures[`${name}: after ${what}`] = await changeFigure(state, change);
  };
  await after('an irrelevant change', round => destinationRule(FAR + 1, 1 + round, false));
  await after('a change of endpoints', round => endpointSlice(FAR, 1 + (round % 3)));
  await after('a change of a VirtualService', round => virtualService(FAR, 1 + (round % 90)));
  await after('a change of a DestinationRule', round => destinationRule(FAR, 1 + round));
  return figures;
}

export async function heapFigures(): Promise<Figures> {
  const before = heapUsed();
  const state = subscribed(foldAll(numbered([...meshFacts(1_000), sidecarOf(OWN), sidecarOf(NEIGHBOUR)])));
  const folded = heapUsed();
  const engine = freshEngine();
  view(engine, state);
  const generated = heapUsed();
  const held = view(engine, state);
  return {
    'heap, 1000 services: state': megabytes(folded - before),
    'heap, 1000 services: made for one sidecar': megabytes(held === 0 ? 0 : generated - folded),
  };
}

function freshEngine(): Engine {
  return new Engine(resourceSources);
}

function proxyIn(state: State, connection = CONNECTION): ProxyRecord {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) throw new Error(`${connection} is not connected`);
  return proxy;
}

/** Number of resources held, so that nothing is left unmade. */
function view(engine: Engine, state: State, connection = CONNECTION): number {
  let count = 0;
  for (const set of engine.viewOf(state, proxyIn(state, connection)).values()) count += set.size;
  return count;
}

/** Both sidecars watch what a sidecar watches: all clusters and listeners, and the endpoints and routes that those name. */
function subscribed(state: State): State {
  const engine = freshEngine();
  const facts: Unrecorded[] = [];
  for (const proxy of state.proxies.values()) {
    const subscribe = (typeUrl: string, names: readonly string[] | undefined): void => {
      const wildcard = names === undefined;
      facts.push({
        source: 'xds',
        kind: 'ProxySubscribed',
        connection: proxy.connection,
        typeUrl,
        subscribe: names ?? [],
        unsubscribe: [],
        wildcard,
      });
    };
    const all = (typeUrl: string): string =>
      JSON.stringify(engine.tracker.get(state, proxy, resourceSource(typeUrl)!.all!, ''));
    subscribe(CDS, undefined);
    subscribe(EDS, namesIn(all(CDS), /"edsClusterConfig":\{"serviceName":"([^"]+)"/g));
    subscribe(LDS, undefined);
    subscribe(RDS, namesIn(all(LDS), /"routeConfigName":"([^"]+)"/g));
  }
  const next = foldAll(numbered(facts, state.seq), state);
  if (view(freshEngine(), next) < 100) throw new Error('the sidecar holds next to nothing: this would measure nothing');
  return next;
}

function namesIn(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))].sort();
}

async function secondFigure(state: State): Promise<Figure> {
  const ms = await medianOf(() => {
    const engine = freshEngine();
    view(engine, state);
    return timed(() => view(engine, state, `sidecar-of-svc-${NEIGHBOUR}`));
  });
  return milliseconds(ms);
}

/** Each round makes a change to what the one before left; folding it is not counted. */
async function changeFigure(state: State, change: (round: number) => JsonObject): Promise<Figure> {
  const engine = freshEngine();
  view(engine, state);
  let now = state;
  const ms = await medianOf(round => {
    now = foldAll(numbered([update(change(round))], now.seq), now);
    return timed(() => view(engine, now));
  });
  return milliseconds(ms);
}

function timed(run: () => unknown): number {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}
