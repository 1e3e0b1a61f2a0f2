// Refusals: one of the moment brings the object later, an object that cannot be recorded holds up no other, and a page
// that no API server wrote removes nothing.

import { expect, it } from 'vitest';
import { DEFINITIONS_PATH } from '../../src/adapters/kube/custom-resources.ts';
import { KubeAdapter } from '../../src/adapters/kube/kube-adapter.ts';
import { customKinds } from '../../src/adapters/kube/resource.ts';
import type { RawObject } from '../../src/core/event.ts';
import { JournalFault } from '../../src/journal/fault.ts';
import { NotLeading } from '../../src/replicas/proposals.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';
import { FakeApiServer } from './fake-api-server.ts';
import { VirtualTime } from './virtual-time.ts';

const MINUTE = 60_000;

const service = (name: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { ports: [{ name: 'http', port: 80 }] },
});

it.each([
  ['lists again after a refusal of the moment', new NotLeading('another replica writes'), 1, ['a', 'bad', 'good'], 2],
  // Refused with the other, then alone.
  ['goes on without an object that is unfit', new JournalFault('unfit-fact', 'nested too deep'), 2, ['a', 'good'], 1],
] as const)('the Kubernetes adapter %s', async (_what, refusal, times, expected, lists) => {
  const time = new VirtualTime();
  const server = new FakeApiServer(time);
  server.set(service('a'));
  const sink = new FoldingSink('kube/east');
  const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: () => undefined });
  adapter.start(sink).catch(() => undefined);
  await time.until(() => adapter.status().synced, MINUTE);
  const submit = sink.submit.bind(sink);
  let refused = 0;
  sink.submit = async batch => {
    if (refused >= times || !JSON.stringify(batch).includes('"bad"')) return submit(batch);
    refused += 1;
    throw refusal;
  };
  server.set(service('bad'));
  server.set(service('good'));
  await time.pass(MINUTE);
  const names = [...sink.state.objects.Service.values()].map(({ name }) => name);
  expect([names.sort(), refused]).toEqual([expected, times]);
  const asked = server.requests.filter(request => /^\/api\/v1\/services .*"limit"/.test(request));
  expect(asked).toHaveLength(lists);
  await adapter.stop();
});

it('the Kubernetes adapter keeps a kind whose definition is answered with a page that is not found', async () => {
  const time = new VirtualTime();
  const server = new FakeApiServer(time);
  const spec = { hosts: ['a'], http: [{ route: [{ destination: { host: 'a' } }] }] };
  const metadata = { name: 'r', namespace: 'default' };
  server.set({ apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec });
  const sink = new FoldingSink('kube/east');
  const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: () => undefined });
  adapter.start(sink).catch(() => undefined);
  await time.until(() => adapter.status().synced, MINUTE);
  const path = `${DEFINITIONS_PATH}/virtualservices.networking.istio.io`;
  const asked = (): number => server.requests.filter(request => request.startsWith(`${path} `)).length;
  const before = asked();
  server.refused.set(path, 404);
  server.define(customKinds.find(({ kind }) => kind === 'VirtualService')!);
  expect(await time.until(() => asked() > before, MINUTE)).toBe(true);
  await time.pass(MINUTE);
  expect(sink.state.objects.VirtualService.size).toBe(1);
  await adapter.stop();
});
