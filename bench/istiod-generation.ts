// istiod's own generation benchmarks, by their names: clusters, listeners and routes from scratch for one proxy, beside what Go needs for them.
//
// As there, what is measured begins when the services and the scope of the proxy are known (Go: the push context) and ends with encoded
// resources; nothing is cached from a round before. `from nothing` is all of it, the services too, for all three types.

import type { ProxyRecord, Subscription } from '../src/core/proxy.ts';
import { sidecarScope } from '../src/core/select/sidecar-scope.ts';
import type { State } from '../src/core/state.ts';
import { Engine } from '../src/xds/engine.ts';
import { resourceSource, resourceSources } from '../src/xds/generate/types.ts';
import type { ResourceSet } from '../src/xds/resource-set.ts';
import { CDS, LDS, RDS } from '../src/xds/session/types.ts';
import { foldAll, numbered } from './folding.ts';
import { caseNames, irrelevantChange, istiodCase } from './istiod-cases.ts';
import { counted, cpuMs, type Figure, type Figures, kibibytes, leastOf, milliseconds } from './measure.ts';
import { type GeneratedType, GO } from './reference.ts';

const TYPES: readonly (readonly [GeneratedType, string])[] = [
  ['clusters', CDS],
  ['listeners', LDS],
  ['routes', RDS],
];

interface Watching {
  readonly state: State;
  readonly proxy: ProxyRecord;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}

export async function istiodFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const name of caseNames) {
    const { facts, connection } = istiodCase(name);
    const watching = watch(foldAll(numbered(facts)), connection);
    for (const [type, url] of TYPES) {
      const go = GO[name]?.[type];
      const set = make(new Engine(resourceSources), watching, url);
      const title = `${name}: ${type}`;
      figures[`${title}, resources`] = { ...counted(set.size), istiod: go?.resources };
      figures[`${title}, size`] = { ...kibibytes(sizeOf(set)), istiod: go?.kib };
      if (go === undefined) continue;
      figures[`${title}, from scratch`] = { ...milliseconds(await scratch(watching, url)), istiod: go.ms };
    }
    figures[`${name}: everything, from nothing`] = milliseconds(
      await leastOf(() => cpuMs(() => makeAll(new Engine(resourceSources), watching))),
    );
    figures[`${name}: everything, after an irrelevant change`] = milliseconds(await afterChange(watching));
  }
  return figures;
}

function scratch(watching: Watching, url: string): Promise<number> {
  return leastOf(() => {
    const engine = new Engine(resourceSources);
    engine.tracker.get(watching.state, watching.proxy, sidecarScope, '');
    return cpuMs(() => make(engine, watching, url));
  });
}

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
