// A right to Secrets that is withdrawn while a proxy is connected: the API server's next answer keeps the private key
// from the next push and from new subscriptions; streams stay open. The roots of the same Secret need no right, so a
// response with them alone shows that the key was left out. Server, streams and adapter are real; the API server's
// answers and the waits are the test's.

import { describe, expect, it } from 'vitest';
import { AccessAdapter, ALLOWED_MS, DENIED_MS } from '../../src/identity/sources/access-adapter.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { XdsServer } from '../../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import { SDS } from '../../src/xds/session/types.ts';
import { makeCertificates } from '../e2e/certificates.ts';
import type { AdsClient } from '../protocol/ads-client.ts';
import { listen } from '../protocol/listen.ts';
import { MemoryHost } from '../protocol/memory-host.ts';
import { client, closing, until } from '../protocol/server-rig.ts';

const KEY = 'kubernetes://cert';
const ROOTS = 'kubernetes://cert-cacert';

const router = (cluster: string) => ({
  id: 'router~10.0.0.1~gw.edge~edge.svc.cluster.local',
  metadata: {
    fields: {
      NAMESPACE: { stringValue: 'edge' },
      SERVICE_ACCOUNT: { stringValue: 'gw' },
      CLUSTER_ID: { stringValue: cluster },
    },
  },
});

function secret(cluster: string, commonName: string) {
  const { certificate, privateKey } = makeCertificates(commonName);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'cert', namespace: 'edge' },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey), 'ca.crt': base64(certificate) },
  };
  return { source: `file/${cluster}`, kind: 'Add' as const, object };
}

interface Timer {
  readonly ms: number;
  readonly run: () => void;
}

/** Timers that elapse when the test says. */
class Timers {
  readonly #waiting = new Set<Timer>();

  readonly after = (ms: number, run: () => void): { cancel(): void } => {
    const timer = { ms, run };
    this.#waiting.add(timer);
    return { cancel: () => void this.#waiting.delete(timer) };
  };

  /** Waits until there is a timer of that length, and lets it elapse. */
  async elapse(ms: number): Promise<void> {
    const due = (): readonly Timer[] => [...this.#waiting].filter(timer => timer.ms === ms);
    await until(() => due().length > 0);
    for (const timer of due()) {
      this.#waiting.delete(timer);
      timer.run();
    }
  }
}

const GATHER_MS = 20;

async function rigOf(cluster: string) {
  const host = new MemoryHost();
  const timers = new Timers();
  const answer = { allowed: true };
  const adapter = new AccessAdapter({
    cluster,
    call: async () => ({ status: 201, body: { status: answer } }),
    after: timers.after,
    log: () => undefined,
  });
  const record = host.record.bind(host);
  host.record = async facts => {
    const state = await record(facts);
    adapter.onState(state);
    return state;
  };
  await host.record([
    { source: 'runtime', kind: 'Engine', settings: { env: { PERIPLUS_SECRET_ACCESS: 'review' } } },
    secret(cluster, 'first'),
  ]);
  await adapter.start({
    submit: async facts => void (await host.record(facts.map(fact => ({ ...fact, source: adapter.source })))),
    relist: async () => undefined,
    relistKinds: async () => undefined,
    holds: () => false,
  });
  closing.push(() => adapter.stop());
  const identities = ['spiffe://cluster.local/ns/edge/sa/gw'];
  const server = new XdsServer({
    host,
    engine: new Engine(resourceSources),
    limits: defaultXdsLimits,
    schedule: { ...defaultScheduleSettings, debounceAfterMs: 5 },
    authenticate: async () => ({ caller: { identities, proof: { how: 'forwarded', peer: '' } } }),
  });
  host.onPush = request => server.push(request);
  const port = await listen(server);
  closing.push(() => server.stop(500));
  const isAllowed = (): unknown =>
    [...host.state().objects.SecretAccess.values()].map(({ spec }) => (spec as { allowed: boolean }).allowed)[0];
  return { host, timers, answer, port, isAllowed };
}

async function received(stream: AdsClient) {
  const { resources, removedResources, nonce } = await stream.next();
  stream.send({ typeUrl: SDS, responseNonce: nonce });
  return { names: resources.map(({ name }) => name).sort(), removed: removedResources };
}

describe.each(['Kubernetes', 'remote'])('a right to Secrets of the cluster %s', { timeout: 60_000 }, cluster => {
  it('that is withdrawn keeps the key from the next push and from new subscriptions; streams stay open', async () => {
    const { host, timers, answer, port, isAllowed } = await rigOf(cluster);
    const open = client(port, 'delta');
    open.send({ node: router(cluster), typeUrl: SDS, resourceNamesSubscribe: [KEY, ROOTS] });
    // Before the first answer the key is denied.
    expect(await received(open)).toEqual({ names: [ROOTS], removed: [KEY] });
    await timers.elapse(GATHER_MS);
    expect(await received(open)).toEqual({ names: [KEY], removed: [] });

    answer.allowed = false;
    await timers.elapse(ALLOWED_MS);
    await until(() => isAllowed() === false);
    await host.record([secret(cluster, 'second')]);
    expect((await received(open)).names).toEqual([ROOTS]);
    const later = client(port, 'delta');
    later.send({ node: router(cluster), typeUrl: SDS, resourceNamesSubscribe: [KEY, ROOTS] });
    expect(await received(later)).toEqual({ names: [ROOTS], removed: [KEY] });

    answer.allowed = true;
    await timers.elapse(DENIED_MS);
    expect((await received(open)).names).toEqual([KEY]);
    expect((await received(later)).names).toEqual([KEY]);
  });
});
