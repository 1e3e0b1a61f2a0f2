import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AdapterLog,
  FoldingSink,
  getJson,
  liveChanges,
  PolledRegistry,
  type RegistryService,
  registrySource,
  relistAfterGap,
  resync,
} from '../../src/adapters/main.ts';

interface EurekaInstance {
  readonly instanceId: string;
  readonly ipAddr: string;
  readonly status: string;
  readonly port: { readonly $: number };
  readonly metadata?: Readonly<Record<string, string>>;
}
interface EurekaApps {
  readonly applications: {
    readonly application: readonly { readonly name: string; readonly instance: readonly EurekaInstance[] }[];
  };
}

/** A Eureka server as a source of Periplus. */
function eureka(url: string, everyMs: number, log: AdapterLog): PolledRegistry {
  const read = async (signal: AbortSignal) => {
    const answer = await getJson(new URL('eureka/apps', url), { timeoutMs: 10_000, bodyBytesMax: 2 ** 26, signal });
    if (answer.body === undefined) throw new Error(`status ${answer.status}`);
    const { applications } = answer.body as unknown as EurekaApps;
    return { services: applications.application.map(serviceOf) };
  };
  return new PolledRegistry({ registry: 'eureka', name: 'main', everyMs, read, log });
}

function serviceOf({ name, instance }: EurekaApps['applications']['application'][number]): RegistryService {
  const protocol =
    instance.map(({ metadata }) => metadata?.['istio.protocol']).find(text => text !== undefined) ?? 'TCP';
  const port = protocol.toLowerCase();
  return {
    name,
    host: `${name.toLowerCase()}.eureka.internal`,
    ports: [{ name: port, number: Math.min(...instance.map(one => one.port.$)), protocol }],
    instances: instance
      .filter(({ status }) => status === 'UP')
      .map(({ instanceId, ipAddr, port: { $: number }, metadata }) => ({
        id: instanceId,
        address: ipAddr,
        ports: { [port]: number },
        labels: metadata,
      })),
  };
}

const apps = new Map<string, EurekaInstance>();
let failing = false;
const server = createServer((_request, response) => {
  const application = [...apps].map(([name, instance]) => ({ name, instance: [instance] }));
  if (failing) response.writeHead(503).end();
  else response.end(JSON.stringify({ applications: { application } }));
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

const source = () =>
  registrySource({
    put: async (name, { port, version }) => {
      apps.set(name, { instanceId: name, ipAddr: '10.1.0.7', status: 'UP', port: { $: port }, metadata: { version } });
    },
    remove: async name => void apps.delete(name),
    open: () => eureka(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 20, () => {}),
  });

test('changes are seen while the adapter polls', async () => {
  expect(await liveChanges(source(), 'eureka/main', false)).toEqual([]);
});

test('after a gap the differences are recorded, deletions included', async () => {
  apps.clear();
  expect(await relistAfterGap(source(), 'eureka/main')).toEqual([]);
  expect(await resync(source(), 'eureka/main')).toEqual([]);
});

test('a server that is away loses nothing', async () => {
  apps.clear();
  apps.set('shop', { instanceId: 'shop', ipAddr: '10.1.0.7', status: 'UP', port: { $: 80 } });
  const adapter = eureka(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 20, () => {});
  const sink = new FoldingSink('eureka/main');
  await adapter.start(sink);
  failing = true;
  await expect.poll(() => adapter.status().troubles).toHaveLength(1);
  expect(sink.state.objects.WorkloadEntry.size).toBe(1);
  await adapter.stop();
});
