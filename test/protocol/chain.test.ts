// Chains of control planes: one serves configuration (the generator `api`) and another takes it (`xds://`), over a real
// connection. What the second knows is what the first knows.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { KindName } from '../../src/core/model/kind.ts';
import {
  type EmbeddedPlane,
  MemoryAdapter,
  type RawObject,
  settingsFrom,
  startControlPlane,
  systemClock,
} from '../../src/index.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const object = (kind: string, name: string, spec: RawObject, more: RawObject = {}): RawObject => ({
  apiVersion: kind === 'Service' ? 'v1' : 'networking.istio.io/v1',
  kind,
  metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-02T03:04:05Z', ...more },
  spec,
});
const route = (timeout: string): RawObject =>
  object('VirtualService', 'catalog', {
    hosts: ['catalog'],
    http: [{ timeout, route: [{ destination: { host: 'catalog' } }] }],
  });
const group = (app: string): RawObject =>
  object('WorkloadGroup', 'vms', { template: {}, metadata: { labels: { app } } });

interface Started {
  readonly plane: EmbeddedPlane;
  readonly log: string[];
  readonly grpc: number;
}

async function start(
  inventory: MemoryAdapter,
  env: Record<string, string>,
  sources: readonly number[] = [],
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-'));
  closing.push(() => rm(folder, { recursive: true }));
  const meshConfig = join(folder, 'mesh.yaml');
  const listed = sources.map(port => `- address: xds://127.0.0.1:${port}`);
  // A mesh file takes the place of the ConfigMap of the cluster, so there is none without sources.
  if (listed.length > 0) await writeFile(meshConfig, `configSources:\n${listed.join('\n')}\n`);
  const anywhere = { host: '127.0.0.1', port: 0 };
  const flags = { domainSuffix: 'cluster.local', clusterId: 'Kubernetes', systemNamespace: 'istio-system' };
  const log: string[] = [];
  const options = {
    settings: settingsFrom(flags, { PILOT_DEBOUNCE_AFTER: '5ms', ...env }),
    adapters: [inventory],
    meshConfig,
    journal: join(folder, 'journal.db'),
    journalDurability: 'off',
    journalStrict: false,
    grpcAddr: anywhere,
    httpAddr: anywhere,
    monitoringAddr: anywhere,
    shutdownMs: 1_000,
  } as const;
  const plane = await startControlPlane(options, systemClock, (level, message) => void log.push(`${level} ${message}`));
  closing.push(() => plane.stop());
  return { plane, log, grpc: plane.ports.grpc };
}

const OPEN = { ENABLE_XDS_API_GENERATOR_AUTH: 'false' };
const known = ({ plane }: Started, kind: KindName, key: string): RawObject | undefined =>
  plane.world.state.objects[kind].get(key)?.spec as RawObject | undefined;
const PATIENCE = { timeout: 30_000 };

describe('a chain of control planes', () => {
  test('hands on objects, their changes and their removal', async () => {
    const inventory = new MemoryAdapter('Kubernetes');
    await inventory.set(route('5s'));
    await inventory.set(group('old'));
    const first = await start(inventory, OPEN);
    const second = await start(new MemoryAdapter('Kubernetes'), OPEN, [first.grpc]);
    const third = await start(new MemoryAdapter('Kubernetes'), OPEN, [second.grpc]);
    const timeout = (of: Started) => JSON.stringify(known(of, 'VirtualService', 'shop/catalog'));
    for (const [plane, before] of [
      [second, first],
      [third, second],
    ] as const) {
      await expect.poll(() => timeout(plane), PATIENCE).toContain('"seconds":5,');
      await expect.poll(() => plane.plane.config.hasSynced(`mcp/127.0.0.1:${before.grpc}`), PATIENCE).toBe(true);
    }
    await inventory.set(route('2.5s'));
    await inventory.set(group('new'));
    for (const plane of [second, third]) {
      await expect.poll(() => timeout(plane), PATIENCE).toContain('"seconds":2,"nanos":500000000');
      await expect.poll(() => JSON.stringify(known(plane, 'WorkloadGroup', 'shop/vms')), PATIENCE).toContain('new');
    }
    await inventory.remove(route('2.5s'));
    for (const plane of [second, third]) await expect.poll(() => timeout(plane), PATIENCE).toBeUndefined();
    expect(known(third, 'WorkloadGroup', 'shop/vms')).toEqual(known(first, 'WorkloadGroup', 'shop/vms'));
  });

  test('begins with the mesh configuration of the cluster too', async () => {
    const inventory = new MemoryAdapter('Kubernetes');
    await inventory.set(route('5s'));
    const first = await start(inventory, OPEN);
    const cluster = new MemoryAdapter('Kubernetes');
    const mesh = `configSources:\n- address: xds://127.0.0.1:${first.grpc}\n`;
    const metadata = { name: 'istio', namespace: 'istio-system' };
    await cluster.set({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { mesh } });
    const second = await start(cluster, OPEN);
    await expect.poll(() => known(second, 'VirtualService', 'shop/catalog'), PATIENCE).toBeDefined();
    await cluster.set({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { mesh: `${mesh}- address: xds://nowhere\n` },
    });
    await expect.poll(() => second.log.join('\n'), PATIENCE).toContain('xds://nowhere: expected xds://HOST:PORT');
    expect(known(second, 'VirtualService', 'shop/catalog')).toBeDefined();
  });

  test('hands on services as entries', async () => {
    const inventory = new MemoryAdapter('Kubernetes');
    const ports = [{ name: 'http', port: 80 }];
    await inventory.set(object('Service', 'catalog', { clusterIP: '10.0.0.7', selector: { app: 'catalog' }, ports }));
    const first = await start(inventory, OPEN);
    const second = await start(new MemoryAdapter('Kubernetes'), OPEN, [first.grpc]);
    await expect
      .poll(() => known(second, 'ServiceEntry', 'shop/synthetic-catalog'), PATIENCE)
      .toEqual({
        hosts: ['catalog.shop.svc.cluster.local'],
        addresses: ['10.0.0.7'],
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
        location: 'MESH_INTERNAL',
        resolution: 'STATIC',
        exportTo: ['*'],
        workloadSelector: { labels: { app: 'catalog' } },
      });
  });

  test('refuses a client that proves no identity of its own namespace, and the client keeps what it has', async () => {
    const inventory = new MemoryAdapter('Kubernetes');
    await inventory.set(route('5s'));
    const first = await start(inventory, {});
    const second = start(new MemoryAdapter('Kubernetes'), {}, [first.grpc]);
    const { log, plane } = await second;
    await expect
      .poll(() => log.join('\n'), PATIENCE)
      .toContain('configuration is for identities of the namespace istio-system');
    expect(plane.config.hasSynced(`mcp/127.0.0.1:${first.grpc}`)).toBe(false);
  });
});
