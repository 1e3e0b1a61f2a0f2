import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { AccessAdapter, ALLOWED_MS, DENIED_MS, RETRY_MS } from '../../../src/identity/sources/access-adapter.ts';
import { RecordingSink } from '../adapters/recording-sink.ts';
import { nodeOf, proxyOf } from '../world.ts';

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

function connected(...names: readonly string[]): State {
  const proxy = {
    ...proxyOf(nodeOf({ type: 'router', namespace: 'edge', metadata: { SERVICE_ACCOUNT: 'gw' } })),
    identities: ['spiffe://td/ns/edge/sa/gw'],
    subscriptions: { [SECRETS]: { names } },
  };
  return { ...emptyState, proxies: new Map([['p', proxy]]) as unknown as State['proxies'] };
}

const answer = (allowed: boolean) => ({ status: 201, body: { status: { allowed } } });

/** An adapter whose API server gives `answers` in turn, the last one again and again, and whose clock stands still. */
function tested(answers: readonly { readonly status: number; readonly body: Json }[]) {
  const asked: Json[] = [];
  const timers: { readonly ms: number; readonly run: () => void; isCancelled: boolean }[] = [];
  const lines: string[] = [];
  const adapter = new AccessAdapter({
    cluster: 'Kubernetes',
    call: async (_method, _path, body) => {
      asked.push(body ?? null);
      return answers[Math.min(asked.length, answers.length) - 1]!;
    },
    after: (ms, run) => {
      const timer = { ms, run, isCancelled: false };
      timers.push(timer);
      return {
        cancel: () => {
          timer.isCancelled = true;
        },
      };
    },
    log: (_level, line) => void lines.push(line),
  });
  const sink = new RecordingSink();
  /** Runs what is due within `msMax`, and says what is planned then. */
  const elapse = async (msMax = Number.POSITIVE_INFINITY): Promise<number[]> => {
    const planned = timers.splice(0).filter(({ isCancelled }) => !isCancelled);
    for (const timer of planned) {
      if (timer.ms <= msMax) timer.run();
      else timers.push(timer);
    }
    await new Promise(resolve => setImmediate(resolve));
    return timers.filter(({ isCancelled }) => !isCancelled).map(({ ms }) => ms);
  };
  return { adapter, asked, lines, sink, elapse };
}

async function started(answers: Parameters<typeof tested>[0], state = connected('kubernetes://cert')) {
  const all = tested(answers);
  all.adapter.onState(state);
  await all.adapter.start(all.sink);
  await new Promise(resolve => setImmediate(resolve));
  return all;
}

describe('rights to Secrets', () => {
  it('are asked for about accounts that subscribe to private keys, by the user that the API server knows', async () => {
    const { asked, sink } = await started([answer(true)]);
    expect(asked).toMatchObject([
      {
        kind: 'SubjectAccessReview',
        spec: {
          user: 'system:serviceaccount:edge:gw',
          resourceAttributes: { namespace: 'edge', verb: 'list', resource: 'secrets' },
        },
      },
    ]);
    expect(sink.batches.flat()).toMatchObject([
      { kind: 'Update', object: { metadata: { namespace: 'edge', name: 'gw' }, spec: { allowed: true } } },
    ]);
    expect((await started([answer(true)], connected('default', 'kubernetes://a-cacert'))).asked).toEqual([]);
  });

  it('are asked for again after five minutes if given, after one if not', async () => {
    const { elapse, sink } = await started([answer(true), answer(false), answer(true)]);
    const waits = [await elapse(), await elapse()];
    expect(waits.flat()).toContain(DENIED_MS);
    expect(waits.flat()).toContain(ALLOWED_MS);
    expect(sink.batches.flat().map(fact => 'object' in fact && fact.object.spec)).toEqual([
      { allowed: true },
      { allowed: false },
      { allowed: true },
    ]);
  });

  it('stay as they were while the API server does not answer, and are denied when it does not let us ask', async () => {
    const { elapse, sink, adapter, lines } = await started([
      answer(true),
      { status: 0, body: 'connect ECONNREFUSED' },
      { status: 403, body: { message: 'cannot create resource' } },
    ]);
    expect(await elapse()).toContain(RETRY_MS);
    expect(sink.batches.flat()).toHaveLength(1);
    expect(adapter.status().troubles).toEqual([expect.stringContaining('ECONNREFUSED')]);
    await elapse();
    expect(sink.batches.flat().at(-1)).toMatchObject({ object: { spec: { allowed: false } } });
    expect(lines).toHaveLength(2);
  });

  it('are not asked for any more when the last subscribed proxy has gone', async () => {
    const { adapter, elapse, asked } = await started([answer(true)]);
    adapter.onState(emptyState);
    await elapse(1_000);
    expect(await elapse()).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});
