// A Wasm module really runs: a stock Envoy as a gateway, configured over ADS, fetches a module of the test's own by
// HTTP and digest, and the module adds a header to every response. Another module follows, then modules that Envoy
// cannot have.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, get, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { findEnvoy, startEnvoy } from '../../src/demo/envoy.ts';
import { claimedIdentities } from '../../src/offline/generate.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { XdsServer } from '../../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import { listen } from '../protocol/listen.ts';
import { MemoryHost } from '../protocol/memory-host.ts';
import { freePort } from './free-port.ts';
import { canRun } from './suite.ts';
import { headerModule } from './wasm-module.ts';

/** The first release of the package whose Envoy has the V8 engine; earlier ones list the runtime `null` alone. */
const VERSION_WITH_V8 = '1.40.0';

const found = await findEnvoy(line => process.stderr.write(`${line}\n`), VERSION_WITH_V8);
const runs = canRun('test/e2e/wasm.test.ts', 'missing' in found ? found.missing : undefined);

const SOURCE = 'file/Kubernetes';
const hello = headerModule('x-greeting', 'hello');
const bye = headerModule('x-farewell', 'bye');
const modules: ReadonlyMap<string, Buffer> = new Map([
  ['/hello.wasm', hello.bytes],
  ['/bye.wasm', bye.bytes],
]);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function httpServer(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const istio = (kind: string, group: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: group,
  kind,
  metadata: { name, namespace: 'edge' },
  spec,
});

function gatewayTo(port: number, backend: number): readonly JsonObject[] {
  const host = 'backend.test';
  return [
    istio('Gateway', 'networking.istio.io/v1', 'gw', {
      selector: { app: 'gw' },
      servers: [{ port: { number: port, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    }),
    istio('VirtualService', 'networking.istio.io/v1', 'all', {
      hosts: ['*'],
      gateways: ['gw'],
      http: [{ route: [{ destination: { host } }] }],
    }),
    istio('ServiceEntry', 'networking.istio.io/v1', 'backend', {
      hosts: [host],
      location: 'MESH_EXTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: backend }],
      endpoints: [{ address: '127.0.0.1' }],
    }),
  ];
}

const plugin = (spec: JsonObject): JsonObject =>
  istio('WasmPlugin', 'extensions.istio.io/v1alpha1', 'greet', { selector: { matchLabels: { app: 'gw' } }, ...spec });

const node = {
  id: 'router~10.0.0.9~gw.edge~edge.svc.cluster.local',
  cluster: 'gw.edge',
  metadata: {
    NAMESPACE: 'edge',
    SERVICE_ACCOUNT: 'gw',
    INSTANCE_IPS: '10.0.0.9',
    CLUSTER_ID: 'Kubernetes',
    LABELS: { app: 'gw' },
  },
};

async function rig(protocol: 'sotw' | 'delta') {
  if ('missing' in found) throw new Error(found.missing);
  const fetched: string[] = [];
  const moduleServer = await httpServer((request, response) => {
    fetched.push(request.url ?? '');
    const bytes = modules.get(request.url ?? '');
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  const backend = await httpServer((_request, response) => response.end('backend'));
  const port = await freePort();
  const host = new MemoryHost();
  const server = new XdsServer({
    host,
    engine: new Engine(resourceSources),
    limits: defaultXdsLimits,
    schedule: { ...defaultScheduleSettings, debounceAfterMs: 20 },
    authenticate: async () => ({
      caller: { identities: claimedIdentities(node), proof: { how: 'forwarded', peer: '' } },
    }),
  });
  host.onPush = request => server.push(request);
  closing.push(() => server.stop(1_000));
  const put = (...objects: readonly JsonObject[]) =>
    host.record(objects.map(object => ({ source: SOURCE, kind: 'Update', object }) as const));
  await host.record([{ source: 'runtime', kind: 'Engine', settings: {} }]);
  await put(...gatewayTo(port, backend));
  const at = `http://127.0.0.1:${moduleServer}`;
  await put(plugin({ url: `${at}/hello.wasm`, sha256: hello.sha256 }));
  const xdsPort = await listen(server);
  const folder = await mkdtemp(join(tmpdir(), 'periplus-wasm-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const log = join(folder, 'envoy.log');
  const envoy = await startEnvoy({ binary: found.binary, name: protocol, node, xdsPort, protocol, log });
  closing.push(() => envoy.stop());
  const ask = (): Promise<string> => answerOf(port);
  const output = () => envoy.output();
  return { host, put, at, ask, fetched, output };
}

/**
 * Status and the headers that modules add, of a response through Envoy. Over a connection of its own: an old listener
 * goes on serving the connections that it has.
 */
function answerOf(port: number): Promise<string> {
  return new Promise(resolve => {
    get({ host: '127.0.0.1', port, agent: false }, response => {
      response.resume();
      const { statusCode, headers } = response;
      const parts = [statusCode, headers['x-greeting'], headers['x-farewell']];
      response.on('end', () => resolve(parts.filter(part => part !== undefined).join(' ')));
    }).on('error', error => resolve(String(error)));
  });
}

async function eventually(what: () => Promise<string>, wanted: string, said: () => Promise<string>): Promise<void> {
  let last = '';
  for (let i = 0; i < 200; i++) {
    last = await what();
    if (last === wanted) return;
    await new Promise<void>(resolve => setTimeout(resolve, 50));
  }
  expect(last, (await said()).slice(-2_000)).toBe(wanted);
}

/** Until another module answers. */
const REQUESTS_MAX = 5_000;

describe.runIf(runs)('a Wasm module in a stock Envoy', () => {
  test.each(['delta', 'sotw'] as const)(
    'is fetched by digest, runs, and is replaced without a failed request, over %s',
    async protocol => {
      const { host, put, at, ask, fetched, output } = await rig(protocol);
      await eventually(ask, '200 hello', output);
      expect(fetched).toEqual(['/hello.wasm']);

      // Another module: the listener that has it warms until it is fetched, and no request fails meanwhile.
      let failed = 0;
      let asked = 0;
      await put(plugin({ url: `${at}/bye.wasm`, sha256: bye.sha256 }));
      for (let last = ''; last !== '200 bye'; asked++) {
        last = await ask();
        if (!last.startsWith('200 ')) failed++;
        expect(asked, `${last}\n${await output()}`).toBeLessThan(REQUESTS_MAX);
      }
      expect(failed).toBe(0);
      expect(fetched).toEqual(['/hello.wasm', '/bye.wasm']);

      // A module that Envoy cannot have denies everything, unless it is to fail open.
      await put(plugin({ url: 'oci://registry.test/greet:1' }));
      await eventually(ask, '403', output);
      await put(plugin({ url: 'oci://registry.test/greet:1', failStrategy: 'FAIL_OPEN' }));
      await eventually(ask, '200', output);

      // A digest that is not the module's is a module that does not start.
      await put(plugin({ url: `${at}/hello.wasm`, sha256: bye.sha256.replace(/^../, '00') }));
      await eventually(ask, '503', output);
      expect(host.nacks).toEqual([]);
    },
  );
});
