// Programs with gRPC's own xDS clients, without a proxy: grpc-js and grpc-go dial a service of the mesh, and what they
// reach follows from VirtualServices, endpoints and policies.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { freePort } from './free-port.ts';
import { type Answer, certificates, GrpcClient, GrpcServer, goEcho } from './grpc/programs.ts';
import { Plane } from './kube/plane.ts';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const echo = await goEcho();
const runs = canRun('the tests with grpc-go', echo.missing);

const HOST = 'echo.shop.svc.cluster.local';
const ADDRESSES = { v1: '127.0.0.21', v2: '127.0.0.22' } as const;
const CALLS = 40;
const WEIGHED = 200;

function pod(version: keyof typeof ADDRESSES, port: number): JsonObject {
  const labels = { app: 'echo', version, 'security.istio.io/tlsMode': 'istio' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `echo-${version}`, namespace: 'shop', labels },
    spec: { serviceAccountName: 'echo', containers: [{ name: 'echo', ports: [{ containerPort: port }] }] },
    status: {
      phase: 'Running',
      podIP: ADDRESSES[version],
      podIPs: [{ ip: ADDRESSES[version] }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

function endpoints(port: number, versions: readonly (keyof typeof ADDRESSES)[]): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'echo-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'echo' } },
    addressType: 'IPv4',
    ports: [{ name: 'grpc', port, protocol: 'TCP' }],
    endpoints: versions.map(version => ({
      addresses: [ADDRESSES[version]],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name: `echo-${version}`, namespace: 'shop' },
    })),
  };
}

function istio(group: string, kind: string, spec: JsonObject): JsonObject {
  return { apiVersion: `${group}.istio.io/v1`, kind, metadata: { name: 'echo', namespace: 'shop' }, spec };
}

const weighted = (v1: number, v2: number): JsonObject =>
  istio('networking', 'VirtualService', {
    hosts: ['echo'],
    http: [
      {
        match: [{ headers: { 'x-version': { exact: 'v2' } } }],
        route: [{ destination: { host: 'echo', subset: 'v2' } }],
      },
      {
        route: [
          { destination: { host: 'echo', subset: 'v1' }, weight: v1 },
          { destination: { host: 'echo', subset: 'v2' }, weight: v2 },
        ],
      },
    ],
  });
const rule = (tls?: JsonObject): JsonObject =>
  istio('networking', 'DestinationRule', {
    host: 'echo',
    ...(tls === undefined ? {} : { trafficPolicy: { tls } }),
    subsets: (['v1', 'v2'] as const).map(name => ({ name, labels: { version: name } })),
  });

describe.runIf(runs)('gRPC programs without a proxy', () => {
  let folder: string;
  let plane: Plane;
  let port: number;
  const servers: GrpcServer[] = [];
  const clients: GrpcClient[] = [];
  const config = (): string => join(folder, 'config');
  const put = (name: string, object: JsonObject): Promise<void> =>
    writeFile(join(config(), `${name}.yaml`), JSON.stringify(object));
  const drop = (name: string): Promise<void> => rm(join(config(), `${name}.yaml`), { force: true });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-grpc-test-'));
    await mkdir(config());
    port = await freePort();
    await certificates(echo.binary, folder, ['echo', 'client', 'stranger']);
    await put('service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo', namespace: 'shop' },
      spec: {
        clusterIP: '10.0.0.5',
        selector: { app: 'echo' },
        ports: [{ name: 'grpc', port: 50_051, targetPort: port }],
      },
    });
    for (const version of ['v1', 'v2'] as const) await put(`pod-${version}`, pod(version, port));
    await put('slice', endpoints(port, ['v1', 'v2']));
    await put('rule', rule());
    await put('routes', weighted(100, 0));
    plane = await Plane.serve(['--configDir', config(), '--journal', join(folder, 'journal.db')]);
    await plane.ready();
  });

  afterAll(async () => {
    for (const client of clients) await client.end();
    for (const server of servers) await server.end();
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(plane?.log ?? '');
    await plane?.end('SIGKILL');
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const place = (account: string, name: string, address: string) => ({
    folder,
    account,
    xds: `127.0.0.1:${plane.grpc}`,
    id: `sidecar~${address}~${name}.shop~shop.svc.cluster.local`,
    namespace: 'shop',
  });

  const dial = async (program: 'go' | 'js', account = 'client'): Promise<GrpcClient> => {
    const at = place(account, `client-${clients.length}`, '127.0.0.30');
    const client = await GrpcClient.start(program === 'go' ? echo.binary : undefined, `xds:///${HOST}:50051`, at);
    clients.push(client);
    return client;
  };

  const whoAnswers = async (client: GrpcClient, calls = CALLS): Promise<readonly string[]> => {
    const heard: Answer[] = [];
    for (let i = 0; i < calls; i++) heard.push(await client.call());
    return [...new Set(heard.map(({ who, code }) => (code === 'OK' ? who : code)))].sort();
  };

  describe.each(['js', 'go'] as const)('that dial with grpc-%s', program => {
    let client: GrpcClient;

    beforeAll(async () => {
      if (servers.length === 0) {
        for (const version of ['v1', 'v2'] as const) {
          servers.push(await GrpcServer.start(echo.binary, version, `${ADDRESSES[version]}:${port}`));
        }
      }
      await put('routes', weighted(100, 0));
      await put('slice', endpoints(port, ['v1', 'v2']));
      client = await dial(program);
      // The describe before leaves v1 alone without a route, so only the header shows that both files arrived.
      await until('v2 by header', async () => (await client.call('x-version=v2')).who === 'v2');
    });

    it('reach the subset that the VirtualService names', async () => {
      await until('v1 alone', async () => (await whoAnswers(client, 10)).join() === 'v1');
      expect(await whoAnswers(client)).toEqual(['v1']);
    });

    it('reach the subset of a header match', async () => {
      expect((await client.call('x-version=v2')).who).toBe('v2');
    });

    it('follow weights that shift', async () => {
      await put('routes', weighted(0, 100));
      await until('v2 alone', async () => (await whoAnswers(client, 5)).join() === 'v2');
      await put('routes', weighted(25, 75));
      await until('both', async () => (await whoAnswers(client)).join() === 'v1,v2');
      let first = 0;
      for (let i = 0; i < WEIGHED; i++) if ((await client.call()).who === 'v1') first += 1;
      // A quarter; a share this far off comes once in ten million runs.
      expect(Math.abs(first / WEIGHED - 0.25)).toBeLessThan(0.16);
    });

    it('leave an endpoint that is gone', async () => {
      await drop('routes');
      // Both answer under the weights, too; v1 answers this header only when the VirtualService is gone.
      await until('v1 by header', async () => (await client.call('x-version=v2')).who === 'v1');
      await put('slice', endpoints(port, ['v2']));
      await until('v2 alone', async () => (await whoAnswers(client, 10)).join() === 'v2');
      expect(await whoAnswers(client)).toEqual(['v2']);
    });

    it('get no answer of a service that is gone, and the next one when it is back', async () => {
      await put('slice', endpoints(port, []));
      await until('nothing', async () => (await whoAnswers(client, 3)).join().toUpperCase() === 'UNAVAILABLE');
      await put('slice', endpoints(port, ['v1']));
      await until('v1', async () => (await whoAnswers(client, 3)).join() === 'v1');
    });
  });

  describe('that prove who they are by certificate files', () => {
    let client: GrpcClient;

    beforeAll(async () => {
      for (const server of servers.splice(0)) await server.end();
      await drop('routes');
      await put('peers', {
        apiVersion: 'security.istio.io/v1',
        kind: 'PeerAuthentication',
        metadata: { name: 'default', namespace: 'shop' },
        spec: { mtls: { mode: 'STRICT' } },
      });
      await put('rule', rule({ mode: 'ISTIO_MUTUAL' }));
      await put('slice', endpoints(port, ['v1']));
      const at = place('echo', 'echo-v1', ADDRESSES.v1);
      servers.push(await GrpcServer.start(echo.binary, 'v1', `${ADDRESSES.v1}:${port}`, at));
      client = await dial('go');
    });

    it('call over mTLS', async () => {
      await until('an answer', async () => (await client.call()).code === 'OK');
      expect(await client.call()).toMatchObject({ who: 'v1', code: 'OK', tls: true });
    });

    it('are refused without TLS', async () => {
      const plain = await dial('js');
      await until('an answer', async () => (await plain.call()).code === 'UNAVAILABLE');
    });

    it('are let in by an ALLOW policy that names them, and others are not', async () => {
      const principals = ['cluster.local/ns/shop/sa/client'];
      await put(
        'policy',
        istio('security', 'AuthorizationPolicy', { rules: [{ from: [{ source: { principals } }] }] }),
      );
      const stranger = await dial('go', 'stranger');
      await until('a refusal', async () => (await stranger.call()).code === 'PermissionDenied');
      expect((await client.call()).code).toBe('OK');
    });

    it('are refused by an ALLOW policy without rules', async () => {
      await put('policy', istio('security', 'AuthorizationPolicy', {}));
      await until('a refusal', async () => (await client.call()).code === 'PermissionDenied');
    });
  });
});
