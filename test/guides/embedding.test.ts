import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type EmbeddedPlane,
  MemoryAdapter,
  type RawObject,
  settingsFrom,
  startControlPlane,
  systemClock,
} from '../../src/index.ts';

const inventory = new MemoryAdapter('Kubernetes');
const service = (name: string, address: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { clusterIP: address, ports: [{ name: 'http', port: 80 }] },
});
const rule = (maxConnections: number, resourceVersion?: string): RawObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'DestinationRule',
  metadata: { name: 'catalog', namespace: 'shop', resourceVersion },
  spec: { host: 'catalog', trafficPolicy: { connectionPool: { tcp: { maxConnections } } } },
});
const name = { kind: 'DestinationRule', namespace: 'shop', name: 'catalog' } as const;

let folder: string;
let plane: EmbeddedPlane;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  const anywhere = { host: '127.0.0.1', port: 0 };
  await inventory.set(service('catalog', '10.96.7.1'));
  const flags = { domainSuffix: 'cluster.local', clusterId: 'Kubernetes', systemNamespace: 'istio-system' };
  const options = {
    settings: settingsFrom(flags, process.env),
    adapters: [inventory],
    journal: join(folder, 'journal.db'),
    journalDurability: 'normal',
    journalStrict: false,
    grpcAddr: anywhere,
    httpAddr: anywhere,
    monitoringAddr: anywhere,
    shutdownMs: 1_000,
  } as const;
  plane = await startControlPlane(options, systemClock, () => {});
});
afterAll(async () => {
  await plane.stop();
  await rm(folder, { recursive: true });
});

test('handlers are called for existing objects, then for every change', async () => {
  const seen: string[] = [];
  plane.config.registerEventHandler('Service', (old, now, event) => seen.push(`${event} ${(now ?? old)?.name}`));
  plane.config.run();
  await inventory.set(service('basket', '10.96.7.2'));
  await inventory.remove(service('basket', '10.96.7.2'));
  expect(seen).toEqual(['add catalog', 'add basket', 'delete basket']);
  expect(plane.config.hasSynced('memory/Kubernetes')).toBe(true);
});

test('the second of two concurrent writers gets a conflict', async () => {
  await plane.written.write(store => store.create(rule(10)));
  const found = plane.written.store.get(name)!;
  const [first, second] = await Promise.all([
    plane.written.write(store => store.update(rule(20, found.resourceVersion))),
    plane.written.write(store => store.update(rule(30, found.resourceVersion))),
  ]);
  expect(first._tag).toBe('Right');
  expect(second).toMatchObject({ left: { kind: 'Conflict', given: found.resourceVersion } });
  expect(plane.config.store.get(name)?.obj.spec).toMatchObject({
    trafficPolicy: { connectionPool: { tcp: { maxConnections: 20 } } },
  });
});

test('an invalid object is refused with the path of the problem', async () => {
  const wrong = await plane.written.write(store => store.patch(name, { spec: { trafficPolicy: { nonsense: 1 } } }));
  expect(wrong).toMatchObject({ left: { kind: 'Invalid', problems: [{ path: 'spec.trafficPolicy.nonsense' }] } });
});
