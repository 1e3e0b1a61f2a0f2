// istiod's own generation benchmarks, by their names: clusters, listeners and routes from scratch for one proxy, beside what Go needs for them.
//
// Go's benchmark (pilot/pkg/xds/bench_test.go) times one type's generator and the packing of its messages, warm, over many rounds, with the xDS
// cache off. Before its clock starts it makes the push context (services, accounts and rules indexed), the scope of the proxy, its merged Gateways
// and the services it has endpoints of. `from scratch` is the same here: each round has an engine of its own that was asked for what is in
// `context` and for nothing else; every query, generator and encoding after that is done anew and timed. `nothing kept` times the context too.

import type { ProxyRecord, Subscription } from '../src/core/proxy.ts';
import type { Query } from '../src/core/reader.ts';
import { serviceAccounts } from '../src/core/registry/endpoints.ts';
import { serviceTargets } from '../src/core/registry/workload.ts';
import { scopeRules } from '../src/core/select/destination-rules.ts';
import { mergedGateway } from '../src/core/select/gateways.ts';
import { scopedServices, scopeIndex } from '../src/core/select/sidecar-scope.ts';
import { virtualServicesFor } from '../src/core/select/virtual-services.ts';
import type { State } from '../src/core/state.ts';
import { Engine } from '../src/xds/engine.ts';
import { resourceSource, resourceSources } from '../src/xds/generate/types.ts';
import type { ResourceSet } from '../src/xds/resource-set.ts';
import { CDS, LDS, RDS } from '../src/xds/session/types.ts';
import { foldAll, numbered } from './folding.ts';
import { caseNames, irrelevantChange, istiodCase } from './istiod-cases.ts';
import { counted, cpuMs, type Figure, type Figures, kibibytes, leastMean, leastOf, milliseconds } from './measure.ts';
import { type GeneratedType, GO } from './reference.ts';

const TYPES: readonly (readonly [GeneratedType, string])[] = [
  ['clusters', CDS],
  ['listeners', LDS],
  ['routes', RDS],
];

const WARM_UP_ROUNDS = 3;

interface Watching {
  readonly state: State;
  readonly proxy: ProxyRecord;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}

export async function istiodFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  const cases = caseNames.map(name => {
    const { facts, connection } = istiodCase(name);
    return [name, watch(foldAll(numbered(facts)), connection)] as const;
  });
  warmUp(cases.map(([, watching]) => watching));
  for (const [name, watching] of cases) {
    for (const [type, url] of TYPES) {
      const go = GO[name]?.[type];
      const set = make(new Engine(resourceSources), watching, url);
      const title = `${name}: ${type}`;
      figures[`${title}, resources`] = { ...counted(set.size), istiod: go?.resources };
      figures[`${title}, size`] = { ...kibibytes(sizeOf(set)), istiod: go?.kib };
      if (go === undefined) continue;
      const from = (prepare: () => Engine): Promise<number> =>
        leastMean(prepare, engine => make(engine, watching, url));
      figures[`${title}, from scratch`] = { ...milliseconds(await from(() => withContext(watching))), istiod: go.ms };
      figures[`${title}, nothing kept`] = milliseconds(await from(() => new Engine(resourceSources)));
    }
    figures[`${name}: everything, from nothing`] = milliseconds(
      await leastOf(() => cpuMs(() => makeAll(new Engine(resourceSources), watching))),
    );
    figures[`${name}: everything, after an irrelevant change`] = milliseconds(await afterChange(watching));
  }
  return figures;
}

/** Go measures a program that has been compiled long ago. */
function warmUp(all: readonly Watching[]): void {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const watching of all) makeAll(new Engine(resourceSources), watching);
  }
}

function withContext({ state, proxy }: Watching): Engine {
  const engine = new Engine(resourceSources);
  engine.tracker.get(state, proxy, context, '');
  return engine;
}

/** What Go's push context, sidecar scope, merged Gateways and service targets hold. */
const context: Query<'', number> = {
  name: 'bench/context',
  run: reader => {
    const services = reader.get(scopedServices, '');
    for (const { hostname, namespace } of services) reader.get(serviceAccounts, `${hostname}|${namespace}`);
    reader.get(scopeIndex, '');
    reader.get(scopeRules, '');
    reader.get(serviceTargets, '');
    if (reader.facet('type') !== 'router') return services.length;
    const namespace = reader.facet('namespace');
    for (const { servers } of reader.get(mergedGateway, '').groups) {
      for (const { gatewayName } of servers) reader.get(virtualServicesFor, `${namespace}|${gatewayName}`);
    }
    return services.length;
  },
};

/** Folding the change is not counted. */
function afterChange(watching: Watching): Promise<number> {
  const engine = new Engine(resourceSources);
  makeAll(engine, watching);
  let { state } = watching;
  return leastOf(round => {
    state = foldAll(numbered([irrelevantChange(round)], state.seq), state);
    return cpuMs(() => makeAll(engine, { ...watching, state }));
  });
}

function makeAll(engine: Engine, watching: Watching): void {
  for (const [, url] of TYPES) make(engine, watching, url);
}

function make(engine: Engine, { state, proxy, subscriptions }: Watching, url: string): ResourceSet {
  const set = engine.resourcesFor(state, proxy, url, subscriptions.get(url)!);
  if (set === undefined) throw new Error(`${url} cannot be served`);
  return set;
}

function watch(state: State, connection: string): Watching {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) throw new Error(`${connection} is not connected`);
  const { tracker } = new Engine(resourceSources);
  const listeners = JSON.stringify(tracker.get(state, proxy, resourceSource(LDS)!.all!, ''));
  const routes = new Set([...listeners.matchAll(/"routeConfigName":"([^"]+)"/g)].map(([, route]) => route!));
  const everything: Subscription = { wildcard: true, names: [] };
  const named: Subscription = { wildcard: false, names: [...routes].sort() };
  return {
    state,
    proxy,
    subscriptions: new Map([
      [CDS, everything],
      [LDS, everything],
      [RDS, named],
    ]),
  };
}

function sizeOf(set: ResourceSet): number {
  let bytes = 0;
  for (const { body } of set.resources.values()) bytes += body.length;
  return bytes;
}
