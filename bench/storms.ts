// Storms: what a cluster in motion costs a control plane that has twenty sidecars to keep. Counts first (pushes, responses, bytes), which are the
// same on every machine, then CPU. The real world, journal (in memory), schedule, sessions and engine; only the network is left out.

import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject } from '../src/core/base/json.ts';
import type { Fact } from '../src/core/event.ts';
import { defaultSettings } from '../src/core/mesh/settings.ts';
import { openMemoryJournal } from '../src/journal/memory-journal.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { sinkOf, startWorld } from '../src/runtime/start.ts';
import type { World } from '../src/runtime/world.ts';
import { resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { defaultScheduleSettings, type ScheduleSettings } from '../src/xds/push/settings.ts';
import { Hub } from '../src/xds/serve/hub.ts';
import { defaultXdsLimits } from '../src/xds/serve/limits.ts';
import type { Figure, Figures } from './measure.ts';
import { endpointSlice, meshFacts, namespaceOf, sidecarOf, virtualService } from './mesh.ts';
import { type Counts, StormClient } from './storm-client.ts';

const SOURCE = 'file/Kubernetes';
const SERVICES = 200;
const CLIENTS = 20;
/** Nothing was sent for so long: the storm is over. */
const QUIET_MS = 600;
/** Changes that are submitted together, as a watch of a busy cluster hands them over. */
const BATCH = 10;
const ENTRIES = 30_000;
/** Namespaces that they are spread over: what a ServiceEntry selects is looked for in its namespace. */
const ENTRY_NAMESPACES = [100, 1] as const;

/** What the clients of a scene are, and watch. */
export interface Watching {
  readonly node: (i: number) => JsonObject;
  readonly endpoints: readonly string[];
  readonly routes: readonly string[];
  readonly schedule?: ScheduleSettings;
}

export interface Scene {
  readonly world: World;
  readonly counts: Counts & { pushes: number };
  submit(facts: readonly Fact[]): Promise<void>;
  stop(): Promise<void>;
}

export async function stormFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  const scene = await start(meshFacts(SERVICES), CLIENTS, sidecars(SERVICES));
  const storm = async (name: string, count: number, change: (i: number) => JsonObject): Promise<void> => {
    const before = { ...scene.counts };
    const used = process.cpuUsage();
    for (let i = 0; i < count; i += BATCH) {
      const objects = Array.from({ length: Math.min(BATCH, count - i) }, (_, j) => change(i + j));
      await scene.submit(objects.map(object => ({ kind: 'Update', object })));
    }
    await quiet(scene);
    const { user, system } = process.cpuUsage(used);
    const add = (what: string, value: number, unit: Figure['unit']): void => {
      figures[`storm, ${name}: ${what}`] = { value: Number(value.toPrecision(3)), unit, better: 'less' };
    };
    add('pushes', scene.counts.pushes - before.pushes, 'pushes');
    add('responses', scene.counts.responses - before.responses, 'responses');
    add('sent', (scene.counts.bytes - before.bytes) / 1024, 'KiB');
    add('CPU', (user + system) / 1_000, 'ms');
  };
  const services = objectsOf('Service');
  await storm('1000 annotations', 1_000, i => annotated(services[i % SERVICES]!, i));
  await storm('1000 annotations of VirtualServices', 1_000, i => annotated(virtualService((i * 2) % SERVICES, 50), i));
  await storm('5000 endpoint flaps', 5_000, i => endpointSlice((i * 7) % SERVICES, 1 + (i % 4)));
  await storm('1000 labels that anonymous reads', 1_000, i => labelled(services[i % SERVICES]!, i));
  await scene.stop();
  return figures;
}

/** 30,000 ServiceEntries and as many WorkloadEntries, until one sidecar has all that it watches. */
export async function startFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const namespaces of ENTRY_NAMESPACES) Object.assign(figures, await startFigure(namespaces));
  return figures;
}

async function startFigure(namespaces: number): Promise<Figures> {
  const entries = Array.from({ length: ENTRIES }, (_, i) => {
    const namespace = `entries-${i % namespaces}`;
    return [serviceEntry(i, namespace), workloadEntry(i, namespace)];
  }).flat();
  const used = process.cpuUsage();
  const began = performance.now();
  const scene = await start(
    [...meshFacts(20), ...entries.map((object): Fact => ({ kind: 'Add', object }))],
    1,
    sidecars(20),
  );
  const seconds = (performance.now() - began - QUIET_MS) / 1_000;
  const { user, system } = process.cpuUsage(used);
  const sent = scene.counts.bytes / 2 ** 20;
  await scene.stop();
  const where = namespaces === 1 ? 'one namespace' : `${namespaces} namespaces`;
  const name = `start, ${ENTRIES} ServiceEntries and WorkloadEntries in ${where}`;
  return {
    [`${name}: until served`]: { value: Number(seconds.toPrecision(3)), unit: 's', better: 'less' },
    [`${name}: CPU`]: { value: Math.round((user + system) / 1_000), unit: 'ms', better: 'less' },
    [`${name}: sent`]: { value: Number((sent * 1024).toPrecision(3)), unit: 'KiB', better: 'less' },
  };
}

export async function start(facts: readonly Fact[], clients: number, watching: Watching): Promise<Scene> {
  const journal = openMemoryJournal();
  const log = (): void => undefined;
  const { world } = await startWorld(journal, { settings: defaultSettings, strict: false, clock: systemClock, log });
  const engine = new Engine(resourceSources);
  const counts = { pushes: 0, responses: 0, bytes: 0 };
  let connections = 0;
  const hub = new Hub({
    host: {
      clock: systemClock,
      record: recorded => world.record(recorded),
      state: () => world.state,
      ready: () => true,
      connectionName: id => `${id}-${++connections}`,
      log,
      observe: event => {
        if (event.kind === 'Released') counts.pushes++;
      },
    },
    engine,
    limits: { ...defaultXdsLimits, newStreamsPerSecond: 10_000 },
    schedule: watching.schedule ?? defaultScheduleSettings,
  });
  world.listen({ onFolded: (_, request) => hub.push(request) });
  const sink = sinkOf(world, SOURCE);
  await sink.relist(facts, []);
  for (let i = 0; i < clients; i++) {
    const client = new StormClient(counts, watching.node(i), watching.endpoints, watching.routes);
    client.open(await hub.open('delta', client, { peer: '', gone: () => false }));
  }
  const scene: Scene = {
    world,
    counts,
    submit: batch => sink.submit(batch),
    stop: async () => {
      await hub.stop(1_000);
      await world.stop();
      await journal.close();
    },
  };
  await quiet(scene, 4 * clients);
  return scene;
}

function sidecars(services: number): Watching {
  return { node: i => sidecarOf(i).node, endpoints: endpointNames(services), routes: ['80', '7070'] };
}

/** Waits until nothing has been sent for a while, and at least `responsesMin` responses have been. */
async function quiet({ counts }: Scene, responsesMin = 0): Promise<void> {
  for (let seen = -1; seen !== counts.responses || seen < responsesMin; ) {
    seen = counts.responses;
    await sleep(QUIET_MS);
  }
}

function endpointNames(services: number): readonly string[] {
  return Array.from({ length: services }, (_, i) =>
    [80, 7070].map(port => `outbound|${port}||svc-${i}.${namespaceOf(i)}.svc.cluster.local`),
  ).flat();
}

function objectsOf(kind: string): readonly JsonObject[] {
  return meshFacts(SERVICES).flatMap(fact => (fact.kind === 'Add' && fact.object.kind === kind ? [fact.object] : []));
}

function annotated(object: JsonObject, i: number): JsonObject {
  return withMetadata(object, { annotations: { 'example.com/touched': String(i) }, resourceVersion: String(i) });
}

function labelled(object: JsonObject, i: number): JsonObject {
  const labels = isObject(object.metadata) && isObject(object.metadata.labels) ? object.metadata.labels : {};
  return withMetadata(object, { labels: { ...labels, 'example.com/touched': String(i) } });
}

function withMetadata(object: JsonObject, more: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...more } };
}

function serviceEntry(i: number, namespace: string): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name: `entry-${i}`, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      hosts: [`entry-${i}.example.com`],
      location: 'MESH_INTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      workloadSelector: { labels: { entry: String(i) } },
    },
  };
}

function workloadEntry(i: number, namespace: string): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'WorkloadEntry',
    metadata: { name: `workload-${i}`, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { address: `10.${200 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`, labels: { entry: String(i) } },
  };
}
