// One stream over a host and a transport in memory: what it records after the host refused something, and what it holds
// for a client that does not read.

import { describe, expect, test } from 'vitest';
import type { Unrecorded } from '../../../../src/core/event.ts';
import type { State } from '../../../../src/core/state.ts';
import { Engine } from '../../../../src/xds/engine/engine.ts';
import { defaultScheduleSettings } from '../../../../src/xds/push/settings.ts';
import type { DebugReply } from '../../../../src/xds/serve/host.ts';
import { Hub } from '../../../../src/xds/serve/hub.ts';
import { defaultXdsLimits } from '../../../../src/xds/serve/limits.ts';
import type { AdsStream } from '../../../../src/xds/serve/stream.ts';
import { LISTED_NAMES_MIN } from '../../../../src/xds/serve/subscription-facts.ts';
import type { Transport } from '../../../../src/xds/serve/transport.ts';
import { EDS } from '../../../../src/xds/session/types.ts';
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
