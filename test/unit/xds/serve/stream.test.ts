// One stream over a host and a transport in memory: what it records after the host refused something, and what it holds
// for a client that does not read.

import { describe, expect, test } from 'vitest';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { INTERNED_MAX } from '../../../../src/core/fold/apply-proxy.ts';
import type { State } from '../../../../src/core/state.ts';
import { Engine } from '../../../../src/xds/engine/engine.ts';
import { defaultScheduleSettings } from '../../../../src/xds/push/settings.ts';
import type { DebugReply } from '../../../../src/xds/serve/host.ts';
import { Hub } from '../../../../src/xds/serve/hub.ts';
import { NAMES_PER_TURN } from '../../../../src/xds/serve/large-request.ts';
import { defaultXdsLimits } from '../../../../src/xds/serve/limits.ts';
import type { AdsStream } from '../../../../src/xds/serve/stream.ts';
import { LISTED_NAMES_MIN } from '../../../../src/xds/serve/subscription-facts.ts';
import type { Transport } from '../../../../src/xds/serve/transport.ts';
import { CDS, EDS } from '../../../../src/xds/session/types.ts';
import { MemoryHost, testSources } from '../../../protocol/memory-host.ts';
import { nodeOf } from '../../world.ts';

const client = { peer: '10.0.0.1', gone: () => false };
const names = Array.from({ length: LISTED_NAMES_MIN }, (_, i) => `outbound|80||s${String(i).padStart(2, '0')}`);

function hubOf(host: MemoryHost): Hub {
  const engine = new Engine(testSources);
  return new Hub({ host, engine, limits: defaultXdsLimits, schedule: defaultScheduleSettings });
}

async function opened(hub: Hub, transport: Partial<Transport> = {}): Promise<AdsStream> {
  const nothing = (): void => undefined;
  const full = { send: nothing, end: nothing, pause: nothing, resume: nothing, ...transport };
  return (await hub.open('delta', full, client))!;
}

function ask(stream: AdsStream, proxy: string, typeUrl: string, subscribe: readonly string[]): void {
  const request = { protocol: 'delta', typeUrl, subscribe, unsubscribe: [], initial: new Map(), nonce: '' } as const;
  stream.receive({ node: nodeOf({ name: proxy }), request });
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 50));

describe('a list of names that several proxies subscribe to', () => {
  const subscribed = (host: MemoryHost): readonly (readonly [string, readonly string[] | undefined])[] =>
    [...host.state().proxies.values()].map(({ facets, subscriptions }) => [facets.id, subscriptions[EDS]?.names]);

  /** Refuses what concerns the proxy `refused`. */
  class PickyHost extends MemoryHost {
    override async record(facts: readonly Unrecorded[]): Promise<State> {
      await new Promise(resolve => setImmediate(resolve));
      if (facts.some(fact => JSON.stringify(fact).includes('refused'))) throw new Error('unfit');
      return super.record(facts);
    }
  }

  test('is recorded for the next one after the arrival of the first was refused', async () => {
    const host = new PickyHost();
    const hub = hubOf(host);
    ask(await opened(hub), 'refused', EDS, names);
    await settled();
    expect(host.state().proxies.size).toBe(0);
    ask(await opened(hub), 'second', EDS, names);
    ask(await opened(hub), 'third', EDS, names);
    await settled();
    expect(subscribed(host).map(([, listed]) => listed)).toEqual([names, names]);
    expect(host.facts('Names')).toHaveLength(1);
    await hub.stop(0);
  });

  test('is recorded for one that subscribed while the arrival of the first was being refused', async () => {
    const host = new PickyHost();
    const hub = hubOf(host);
    const [first, second] = [await opened(hub), await opened(hub)];
    ask(first, 'refused', EDS, names);
    ask(second, 'second', EDS, names);
    await settled();
    expect(subscribed(host).map(([, listed]) => listed)).toEqual([names]);
    ask(await opened(hub), 'third', EDS, names);
    await settled();
    expect(subscribed(host).map(([, listed]) => listed)).toEqual([names, names]);
    await hub.stop(0);
  });
});

describe('a request with thousands of names', () => {
  const many = Array.from({ length: NAMES_PER_TURN + 1 }, (_, i) => `n${i}`);

  /** Counts what is recorded. */
  class CountingHost extends MemoryHost {
    calls = 0;
    override async record(facts: readonly Unrecorded[]): Promise<State> {
      this.calls += 1;
      return super.record(facts);
    }
  }

  test.each([
    ['few', names, 1],
    ['many', many, 0],
  ])('is recorded in a turn of its own, in order: %s', async (_, subscribe, calls) => {
    const host = new CountingHost();
    const hub = hubOf(host);
    const stream = await opened(hub);
    ask(stream, 'a', EDS, subscribe);
    expect(host.calls).toBe(calls);
    ask(stream, 'a', CDS, []);
    await expect.poll(() => host.facts('ProxySubscribed').map(({ typeUrl }) => typeUrl)).toEqual([EDS, CDS]);
    await hub.stop(0);
  });

  test('is not recorded if the stream ends before its turn', async () => {
    const host = new CountingHost();
    const hub = hubOf(host);
    const stream = await opened(hub);
    ask(stream, 'a', EDS, many);
    await new Promise(resolve => setImmediate(resolve));
    stream.end('UNAVAILABLE', 'over');
    await settled();
    expect(host.facts('ProxySubscribed')).toEqual([]);
    await hub.stop(0);
  });
});

describe('answers to debug requests', () => {
  const reply: DebugReply = { resources: [{ name: 'a', body: Buffer.alloc(1_000) }] };

  test('wait until the client has taken the one before, and end with the stream', async () => {
    let asked = 0;
    const host = Object.assign(new MemoryHost(), {
      debug: async () => {
        asked += 1;
        return reply;
      },
    });
    const hub = hubOf(host);
    const taken: (() => void)[] = [];
    let isPaused = false;
    const stream = await opened(hub, {
      send: (_message, done) => void taken.push(() => done()),
      pause: () => {
        isPaused = true;
      },
    });
    for (let i = 0; i < 1_000; i++) ask(stream, 'reader', 'istio.io/debug/syncz', []);
    await settled();
    expect([asked, taken.length, isPaused]).toEqual([1, 1, true]);
    taken[0]!();
    await settled();
    expect([asked, taken.length]).toEqual([2, 2]);
    stream.closed('gone');
    const stopped = hub.stop(5_000).then(() => 'stopped');
    expect(await Promise.race([stopped, settled()])).toBe('stopped');
    expect(asked).toBe(2);
  });
});

describe('a client that lists extensions of its own', () => {
  const listing = (chars: number) => ({
    ...nodeOf({ name: 'a' }),
    extensions: [{ name: 'x'.repeat(chars) }],
  });
  const arrive = async (hub: Hub, chars: number): Promise<string> => {
    let ended = '';
    const stream = await opened(hub, {
      end: (_code, message) => {
        ended = message;
      },
    });
    const request = { protocol: 'delta', typeUrl: EDS, subscribe: ['a'], unsubscribe: [], initial: new Map() } as const;
    stream.receive({ node: listing(chars), request: { ...request, nonce: '' } });
    await settled();
    if (ended === '') stream.closed('gone');
    return ended;
  };

  test('is charged for each list that is not on record, and not for one that is', async () => {
    const hub = hubOf(new MemoryHost());
    for (let i = 0; i < 3; i++) expect(await arrive(hub, 200_000)).toBe('');
    const once = hub.budget.stats.charged;
    expect(once).toBeGreaterThan(200_000);
    expect(once).toBeLessThan(220_000);
    await arrive(hub, 200_001);
    expect(hub.budget.stats.charged).toBeGreaterThan(400_000);
  });

  test('is refused if the list is too large', async () => {
    const host = new MemoryHost();
    expect(await arrive(hubOf(host), 512 * 1024)).toBe('the extensions of the node are larger than 512 KiB');
    expect(host.events).toEqual([]);
  });

  test('has them although the state drops the list before the proxy refers to it', async () => {
    const host = new MemoryHost();
    const hub = hubOf(host);
    expect(await arrive(hub, 10)).toBe('');
    const record = host.record.bind(host);
    host.record = async facts => {
      host.record = record;
      const others = Array.from(
        { length: INTERNED_MAX },
        (_, i): Unrecorded => ({ source: 'xds', kind: 'Interned', digest: `other-${i}`, value: [{ name: 'other' }] }),
      );
      return record([...others, ...facts]);
    };
    const stream = await opened(hub);
    const request = { protocol: 'delta', typeUrl: EDS, subscribe: ['a'], unsubscribe: [], initial: new Map() } as const;
    stream.receive({ node: listing(10), request: { ...request, nonce: '' } });
    await settled();
    expect(host.state().proxies.get(stream.connection)?.extensions).toEqual(new Set(['x'.repeat(10)]));
  });
});
