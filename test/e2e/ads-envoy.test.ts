// What the session takes for granted about a real Envoy, in both protocols: it accepts what it is sent, it warms a
// changed cluster only with endpoints sent again, it names the resource that it refuses, it comes back with what it
// has, and no request fails while routes and clusters are exchanged under it. The resources are written out in
// ConfigMaps, as JSON; everything else is the real thing.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Resource } from '../../src/core/model/resource.ts';
import type { ProxyReader } from '../../src/core/query/reader.ts';
import { type Envoy, findEnvoy, startEnvoy } from '../../src/demo/envoy.ts';
import type { ResourceSource } from '../../src/xds/assemble/source.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { XdsServer } from '../../src/xds/grpc/server.ts';
import { any } from '../../src/xds/proto/any.ts';
import { ApiVersion, Cluster_DiscoveryType } from '../../src/xds/proto/types.gen.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import { CDS, EDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { listen } from '../protocol/listen.ts';
import { MemoryHost } from '../protocol/memory-host.ts';
import { freePort } from './free-port.ts';
import { canRun } from './suite.ts';

const found = await findEnvoy(() => undefined);
const runs = canRun('test/e2e/ads-envoy.test.ts', 'missing' in found ? found.missing : undefined);

const made = {
  name: 'e2e/json',
  run: ({ name, text }: { readonly name: string; readonly text: string }): Resource<object> => ({
    name,
    message: JSON.parse(text) as object,
    problems: [],
  }),
};
const texts = (reader: ProxyReader, kind: string): Readonly<Record<string, string>> =>
  reader.object('ConfigMap', `Kubernetes/ns/${kind}`)?.spec.data ?? {};
const whole = (kind: string): ResourceSource['all'] => ({
  name: `e2e/${kind}`,
  run: reader => Object.entries(texts(reader, kind)).map(([name, text]) => reader.make(made, { name, text })),
});
const single = (kind: string): ResourceSource['named'] => ({
  name: `e2e/${kind}`,
  run: (reader, name) => {
    const text = texts(reader, kind)[name];
    return text === undefined ? undefined : reader.make(made, { name, text });
  },
});
const sources: readonly ResourceSource[] = [
  { url: CDS, all: whole('cds') },
  { url: EDS, named: single('eds') },
  { url: LDS, all: whole('lds') },
  { url: RDS, named: single('rds') },
];

const ads = { ads: {}, resourceApiVersion: ApiVersion.V3 };
const edsCluster = (name: string, seconds = 1): Json => ({
  name,
  type: Cluster_DiscoveryType.EDS,
  connectTimeout: { seconds, nanos: 0 },
  edsClusterConfig: { edsConfig: ads },
});
const address = (port: number): Json => ({ socketAddress: { address: '127.0.0.1', portValue: port } });
const endpoints = (clusterName: string, port: number): Json => ({
  clusterName,
  endpoints: [{ lbEndpoints: [{ endpoint: { address: address(port) } }] }],
});
const route = (cluster: string): Json => ({
  name: 'http',
  virtualHosts: [{ name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster } }] }],
});
const listener = (port: number): Json => ({
  name: 'in',
  address: address(port),
  filterChains: [
    {
      filters: [
        {
          name: 'http',
          typedConfig: any('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
            statPrefix: 'in',
            rds: { routeConfigName: 'http', configSource: ads },
            httpFilters: [{ name: 'router', typedConfig: any('envoy.extensions.filters.http.router.v3.Router', {}) }],
          }) as unknown as Json,
        },
      ],
    },
  ],
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function backend(says: string): Promise<number> {
  const server: Server = createServer((_request, response) => response.end(says));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

interface Rig {
  readonly host: MemoryHost;
  readonly server: XdsServer;
  readonly envoy: Envoy;
  readonly port: number;
  /** Body of an answer through Envoy, or its status. */
  readonly ask: () => Promise<string>;
  readonly stat: (name: string) => Promise<number>;
}

async function rig(protocol: 'sotw' | 'delta', first: number): Promise<Rig> {
  if ('missing' in found) throw new Error(found.missing);
  const host = new MemoryHost();
  const server = new XdsServer({
    host,
    engine: new Engine(sources),
    limits: defaultXdsLimits,
    schedule: { ...defaultScheduleSettings, debounceAfterMs: 20 },
  });
  host.onPush = request => server.push(request);
  closing.push(() => server.stop(1_000));
  const xdsPort = await listen(server);
  const port = await freePort();
  await put(host, 'cds', { web: edsCluster('web') });
  await put(host, 'eds', { web: endpoints('web', first) });
  await put(host, 'lds', { in: listener(port) });
  await put(host, 'rds', { http: route('web') });
  const id = 'sidecar~127.0.0.1~web.ns~ns.svc.cluster.local';
  const folder = await mkdtemp(join(tmpdir(), 'periplus-ads-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const envoy = await startEnvoy({
    binary: found.binary,
    name: protocol,
    node: { id, cluster: 'web.ns' },
    xdsPort,
    protocol,
    log: join(folder, 'envoy.log'),
  });
  closing.push(() => envoy.stop());
  const ask = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => String(error));
    if (typeof response === 'string') return response;
    return response.ok ? await response.text() : `status ${response.status}`;
  };
  const stat = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${envoy.adminPort}/stats?filter=^${name}$`)).text();
    return Number(text.split(': ')[1] ?? Number.NaN);
  };
  return { host, server, envoy, port, ask, stat };
}

function put(host: MemoryHost, kind: string, data: Readonly<Record<string, Json>>): Promise<void> {
  return host.set(kind, Object.fromEntries(Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)])));
}

async function eventually(what: () => Promise<unknown>, wanted: unknown): Promise<void> {
  let last: unknown;
  for (let i = 0; i < 200; i++) {
    last = await what();
    if (Object.is(last, wanted)) return;
    await new Promise<void>(resolve => setTimeout(resolve, 50));
  }
  expect(last).toBe(wanted);
}

describe.runIf(runs)('a real Envoy', () => {
  for (const protocol of ['sotw', 'delta'] as const) {
    test(`passes traffic over ${protocol} with warming, NACKs, changes under load and a reconnect`, async () => {
      const [a, b] = [await backend('a'), await backend('b')];
      const { host, server, ask, stat } = await rig(protocol, a);
      await eventually(ask, 'a');

      // A changed cluster warms, and becomes active because its endpoints are sent again.
      await put(host, 'cds', { web: edsCluster('web', 2) });
      await eventually(() => stat('cluster_manager.cluster_modified'), 1);
      await eventually(() => stat('cluster_manager.warming_clusters'), 0);
      expect(await ask()).toBe('a');
      await put(host, 'eds', { web: endpoints('web', b) });
      await eventually(ask, 'b');

      // A refusal names its resource, and the rest stays in force.
      const bad: JsonObject = {
        name: 'bad',
        type: Cluster_DiscoveryType.STATIC,
        connectTimeout: { seconds: 1, nanos: 0 },
      };
      const malformed = {
        ...bad,
        loadAssignment: {
          clusterName: 'bad',
          endpoints: [
            { lbEndpoints: [{ endpoint: { address: { socketAddress: { address: 'not-an-ip', portValue: 1 } } } }] },
          ],
        },
      };
      await put(host, 'cds', { web: edsCluster('web', 2), bad: malformed });
      await eventually(async () => host.nacks.length, 1);
      expect(host.nacks[0]).toMatchObject({ typeUrl: CDS, resources: ['bad'] });
      expect(server.connections()[0]?.types.find(({ short }) => short === 'CDS')).toMatchObject({ sync: 'ERROR' });
      expect(await ask()).toBe('b');
      await put(host, 'cds', { web: edsCluster('web', 2) });
      await eventually(async () => server.connections()[0]?.types.every(({ sync }) => sync === 'SYNCED'), true);

      // Clusters and routes are exchanged again and again; no request notices.
      const seen = new Map<string, number>();
      let asking = true;
      const load = (async () => {
        while (asking) {
          const answer = await ask();
          seen.set(answer, (seen.get(answer) ?? 0) + 1);
        }
      })();
      for (let i = 0; i < 10; i++) {
        const name = `web-${i}`;
        const changes: readonly (readonly [string, Readonly<Record<string, Json>>])[] = [
          ['eds', { [name]: endpoints(name, i % 2 === 0 ? a : b) }],
          ['cds', { [name]: edsCluster(name) }],
          ['rds', { http: route(name) }],
        ];
        // Delta holds the old cluster until the route is accepted; state of the world has to be told in two steps.
        if (protocol === 'sotw') {
          await put(host, 'eds', {
            ...changes[0]![1],
            [`web-${i - 1}`]: endpoints(`web-${i - 1}`, b),
            web: endpoints('web', b),
          });
          await put(host, 'cds', {
            ...changes[1]![1],
            [i === 0 ? 'web' : `web-${i - 1}`]: edsCluster(i === 0 ? 'web' : `web-${i - 1}`),
          });
          await put(host, 'rds', changes[2]![1]);
          await eventually(async () => server.connections()[0]?.types.every(({ sync }) => sync === 'SYNCED'), true);
          // Envoy's workers take the accepted routes a moment later.
          await new Promise<void>(resolve => setTimeout(resolve, 400));
        }
        await host.setAll(
          changes.map(([kind, data]) => [
            kind,
            Object.fromEntries(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)])),
          ]),
        );
        await eventually(ask, i % 2 === 0 ? 'a' : 'b');
      }
      asking = false;
      await load;
      expect([...seen.keys()].filter(answer => answer !== 'a' && answer !== 'b')).toEqual([]);
      await eventually(() => stat('cluster_manager.active_clusters'), 2);

      // It comes back, and a delta client is sent nothing that it has.
      await eventually(async () => server.connections()[0]?.types.every(({ sync }) => sync === 'SYNCED'), true);
      const before = host.observations.length;
      const { connection } = server.connections()[0]!;
      server.disconnect(connection);
      await eventually(
        async () => server.connections().some(one => one.connection !== connection && one.types.length === 4),
        true,
      );
      await eventually(async () => server.connections().length, 1);
      await eventually(async () => server.connections()[0]?.types.every(({ sync }) => sync === 'SYNCED'), true);
      const resent = host.observations.slice(before).flatMap(event => (event.kind === 'Sent' ? [event.resources] : []));
      expect(resent.reduce((sum, count) => sum + count, 0)).toBe(protocol === 'delta' ? 0 : 4);
      expect(await ask()).toBe('b');
    });
  }
});
