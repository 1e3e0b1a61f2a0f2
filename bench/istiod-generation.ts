// istiod's own generation benchmarks, by their names: clusters, listeners and routes from scratch for one proxy, beside what Go needs for them.
//
// Go's benchmark (pilot/pkg/xds/bench_test.go) calls the generator of one type again and again in one process: building the messages and packing
// them into Anys is in its loop; hashes of resources, responses and sessions are not. The xDS cache is off. Before the clock starts it makes the
// push context (services, accounts and rules resolved and indexed, EnvoyFilters decoded, mTLS modes of namespaces), the
// proxy with its labels and its ProxyConfig, its scope, its merged Gateways and its service targets; for routes it also
// finds out their names. From the first round on it keeps which metrics and access logs the proxy has (Telemetries,
// AccessLogBuilder). Its figure is the mean by the clock of hundreds of rounds of compiled code; the collector works
// beside it.
// `from scratch` is the same here. Every row has a process of its own, compiled as the build does, warmed by hundreds of rounds of it. Before
// each round everything that is not in `context` is forgotten; every query, generator and encoding after that is done anew and timed, and so is
// the hash of each resource. `nothing kept` times the context too. See warmMean for the clock.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProxyRecord, Subscription } from '../src/core/model/proxy.ts';
import type { Query } from '../src/core/query/reader.ts';
import { serviceAccounts } from '../src/core/registry/endpoints.ts';
import { proxyLabels, serviceTargets } from '../src/core/registry/workload.ts';
import { mergedGateway } from '../src/core/select/gateway/gateways.ts';
import { proxyPatches } from '../src/core/select/patch/proxy-patches.ts';
import { namespaceMtlsMode } from '../src/core/select/policy/peer-authentication.ts';
import { gatewayTopology, proxyHeaders, proxyTracing } from '../src/core/select/proxy/proxy-config.ts';
import { scopeRules } from '../src/core/select/scope/destination-rules.ts';
import { scopedServices, scopeIndex, sidecarScope } from '../src/core/select/scope/sidecar-scope.ts';
import { virtualServicesFor } from '../src/core/select/scope/virtual-services.ts';
import { stats } from '../src/core/select/telemetry/metrics.ts';
import type { TrafficClass } from '../src/core/select/telemetry/traffic-class.ts';
import type { State } from '../src/core/state.ts';
import { accessLogsOf } from '../src/xds/assemble/listener/access-log.ts';
import { resourceSource, resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import type { ResourceSet } from '../src/xds/engine/resource-set.ts';
import { CDS, LDS, RDS } from '../src/xds/session/types.ts';
import { foldAll, numbered } from './folding.ts';
import { type CaseName, caseNames, irrelevantChange, istiodCase } from './istiod-cases.ts';
import {
  counted,
  cpuMs,
  type Figure,
  type Figures,
  kibibytes,
  leastOf,
  meanMilliseconds,
  milliseconds,
  times,
  warmMean,
} from './measure.ts';
import { type GeneratedType, GO } from './reference.ts';

const TYPES: readonly (readonly [GeneratedType, string])[] = [
  ['clusters', CDS],
  ['listeners', LDS],
  ['routes', RDS],
];

const TRAFFIC: Readonly<Record<string, readonly TrafficClass[]>> = {
  sidecar: ['inbound', 'outbound'],
  router: ['gateway'],
};

/** What a row may be about besides a type: all of them. */
const EVERYTHING = 'everything';
/** Values are forgotten by the third sweep after they were used, what was made for them by the third after that. */
const SWEEPS_TO_FORGET = 6;
/** Rounds of another engine before each that is timed: at least one, and as many as fit into this. */
const FILLING_MS = 2;
const OUTPUT_BYTES_MAX = 1 << 20;
const COMPILED = new URL('compiled.mjs', import.meta.url).href;

interface Watching {
  readonly state: State;
  readonly proxy: ProxyRecord;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
}

/** Every row in a process of its own: what one leaves in memory, and what V8 learnt from it, would be the next one's. */
export async function istiodFigures(only: readonly string[] = caseNames): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const name of caseNames.filter(one => only.includes(one))) {
    for (const about of [...TYPES.map(([type]) => type), EVERYTHING]) {
      const args = ['--import', COMPILED, join(import.meta.dirname, 'istiod-row.ts'), name, about];
      const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: OUTPUT_BYTES_MAX });
      Object.assign(figures, JSON.parse(stdout));
    }
  }
  return figures;
}

export async function rowFigures(name: CaseName, about: string): Promise<Figures> {
  const { facts, connection } = istiodCase(name);
  const watching = watch(foldAll(numbered(facts)), connection);
  if (about === EVERYTHING) return everything(name, watching);
  const known = TYPES.find(([type]) => type === about);
  if (known === undefined) throw new Error(`no row ${name} ${about}`);
  const [type, url] = known;
  const go = GO[name]?.[type];
  const set = make(new Engine(resourceSources), watching, url);
  const title = `${name}: ${type}`;
  const counts = {
    [`${title}, resources`]: { ...counted(set.size), istiod: go?.resources },
    [`${title}, size`]: { ...kibibytes(sizeOf(set)), istiod: go?.kib },
  };
  if (set.size === 0) return counts;
  const from = async (prepare: () => Engine): Promise<Figure> =>
    meanMilliseconds(await warmMean(prepare, engine => make(engine, watching, url)));
  return {
    ...counts,
    [`${title}, from scratch`]: { ...(await from(aroundContext(watching, url))), istiod: go?.ms },
    [`${title}, nothing kept`]: await from(() => new Engine(resourceSources)),
  };
}

async function everything(name: CaseName, watching: Watching): Promise<Figures> {
  const all = await leastOf(() => cpuMs(() => makeAll(new Engine(resourceSources), watching)));
  const after = await afterChange(watching);
  return {
    [`${name}: everything, from nothing`]: milliseconds(all),
    [`${name}: everything, after an irrelevant change`]: milliseconds(after),
    [`${name}: an irrelevant change, part of everything`]: times(after / all),
  };
}

/**
 * Prepares rounds: each finds what is in `context` and nothing else that is remembered. As sweeping goes through all of it, the processor's caches
 * are then filled with what the rounds before this one leave there, as in Go's loop: up to a half of the small rows.
 */
function aroundContext(watching: Watching, url: string): () => Engine {
  const { state, proxy } = watching;
  const { tracker } = new Engine(resourceSources);
  const held = tracker.handle(state, proxy, context, '');
  return () => {
    for (let i = 0; i < SWEEPS_TO_FORGET; i++) {
      tracker.touch(held);
      tracker.sweep();
    }
    tracker.isCurrent(state, proxy, held);
    const start = performance.now();
    do make(new Engine(resourceSources), watching, url);
    while (performance.now() - start < FILLING_MS);
    return new Engine(resourceSources, tracker);
  };
}

/** What Go's push context, node, sidecar scope, merged Gateways and service targets hold. */
const context: Query<'', number> = {
  name: 'bench/context',
  run: reader => {
    const services = reader.get(scopedServices, '');
    for (const { hostname, namespace } of services) reader.get(serviceAccounts, { hostname, namespace });
    reader.get(sidecarScope, '');
    reader.get(scopeIndex, '');
    reader.get(scopeRules, '');
    reader.get(serviceTargets, '');
    reader.get(namespaceMtlsMode, reader.facet('namespace'));
    for (const derivation of [proxyTracing, proxyHeaders, gatewayTopology]) reader.derived(derivation);
    reader.derived(proxyLabels);
    reader.get(proxyPatches, '');
    for (const traffic of TRAFFIC[reader.facet('type')] ?? []) {
      reader.get(stats, traffic);
      reader.get(accessLogsOf, traffic);
    }
    if (reader.facet('type') !== 'router') return services.length;
    const namespace = reader.facet('namespace');
    for (const { servers } of reader.get(mergedGateway, '').groups) {
      for (const { gatewayName } of servers) reader.get(virtualServicesFor, { namespace, gateway: gatewayName });
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
