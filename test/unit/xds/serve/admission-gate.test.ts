// The gate for new streams, on a clock of its own: at a rate, and as the machine can serve.

import { describe, expect, it } from 'vitest';
import {
  AdmissionGate,
  GATE_PAUSE_MS,
  IN_HAND_MAX,
  IN_HAND_MS_MAX,
  IN_HAND_OF_PEER_MAX,
  LATE_MS,
  type Release,
} from '../../../../src/xds/serve/admission-gate.ts';

/** Timers run when they are due, or `late` after. */
class TestClock {
  late = 0;
  #now = 10_000;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run };
    this.#timers.push(timer);
    return {
      cancel: (): void => {
        this.#timers = this.#timers.filter(other => other !== timer);
      },
    };
  }

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at + this.late <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at + this.late);
      this.#timers = this.#timers.filter(other => other !== next);
      next.run();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

function gateOf(perSecond: number | undefined, waitMsMax = 60_000) {
  const clock = new TestClock();
  const began = clock.now();
  const gate = new AdmissionGate({ clock, perSecond, waitMsMax });
  const turns: (readonly [peer: string, at: number, release: Release | undefined])[] = [];
  const enter = (peer: string, count = 1, gone = (): boolean => false): void => {
    for (let i = 0; i < count; i++) {
      void gate.enter(peer, gone).then(release => turns.push([peer, clock.now() - began, release]));
    }
  };
  const of = (peer: string): readonly number[] => turns.filter(turn => turn[0] === peer).map(([, at]) => at);
  return { clock, gate, turns, enter, of };
}

describe('the admission gate with a rate', () => {
  it('admits one batch at once and the others at the rate, and refuses a wait that is too long', async () => {
    const { clock, turns, enter } = gateOf(10, 600);
    enter('a', 13);
    await settled();
    await clock.pass(2_000);
    const admitted = turns.filter(([, , release]) => release !== undefined).map(([, at]) => at);
    expect(admitted).toEqual([0, 0, 0, 0, 0, 0, 500, 500, 500, 500, 500]);
    expect(turns).toHaveLength(13);
  });

  it('never exceeds its rate', async () => {
    const { clock, enter, of } = gateOf(25);
    enter('a', 400);
    await settled();
    await clock.pass(60_000);
    expect(Math.max(...of('a'))).toBe(15_500);
    for (const at of of('a')) expect(of('a').filter(other => other === at).length).toBeLessThanOrEqual(13);
  });

  it('admits a single stream without a wait', async () => {
    const { clock, gate, enter, of } = gateOf(25);
    for (let i = 0; i < 10; i++) {
      enter('a');
      await settled();
      await clock.pass(1_000);
    }
    expect(of('a')).toEqual(Array.from({ length: 10 }, (_, i) => i * 1_000));
    expect(gate.isBusy).toBe(false);
  });

  it('gives a peer with one stream its turn beside one with thousands', async () => {
    const { clock, enter, of } = gateOf(25);
    enter('greedy', 1_400);
    enter('modest');
    await clock.pass(1_000);
    expect(of('modest')).toEqual([500]);
  });

  it('gives back the turns of streams that ended while they waited', async () => {
    const { clock, enter, of } = gateOf(25);
    let ended = false;
    enter('a', 1_400, () => ended);
    ended = true;
    enter('a');
    await clock.pass(1_000);
    expect(of('a').at(-1)).toBe(500);
    expect(of('a')).toHaveLength(1_401);
  });
});

describe('the admission gate without a rate', () => {
  it('holds as many in hand as it may, and admits the next as soon as one is served', async () => {
    const { clock, gate, turns, enter } = gateOf(undefined);
    enter('a', 400);
    await settled();
    expect(turns).toHaveLength(IN_HAND_OF_PEER_MAX);
    expect(gate.isBusy).toBe(true);
    for (let served = 0; served < turns.length; served++) {
      turns[served]![2]!();
      if (served % 16 === 15) await clock.pass(GATE_PAUSE_MS);
    }
    expect(turns).toHaveLength(400);
    expect(gate.isBusy).toBe(false);
    // As fast as they are served: nothing waits for a rate.
    expect(turns.at(-1)![1]).toBeLessThanOrEqual(25 * GATE_PAUSE_MS);
  });

  it('leaves room for other peers beside one whose streams take nothing', async () => {
    const { clock, enter, of } = gateOf(undefined);
    enter('greedy', 5_000);
    await settled();
    expect(of('greedy')).toHaveLength(IN_HAND_OF_PEER_MAX);
    enter('other', IN_HAND_MAX - IN_HAND_OF_PEER_MAX);
    await clock.pass(GATE_PAUSE_MS);
    expect(of('other')).toEqual(Array(IN_HAND_MAX - IN_HAND_OF_PEER_MAX).fill(GATE_PAUSE_MS));
  });

  it('no longer counts a stream that takes nothing for a while', async () => {
    const { clock, turns, enter } = gateOf(undefined);
    enter('a', IN_HAND_OF_PEER_MAX + 1);
    await clock.pass(IN_HAND_MS_MAX - 1);
    expect(turns).toHaveLength(IN_HAND_OF_PEER_MAX);
    await clock.pass(GATE_PAUSE_MS + 1);
    expect(turns).toHaveLength(IN_HAND_OF_PEER_MAX + 1);
  });

  it('lets in fewer at once while the event loop is late', async () => {
    const { clock, turns, enter } = gateOf(undefined);
    enter('a', 2 * IN_HAND_OF_PEER_MAX);
    await settled();
    clock.late = LATE_MS + 1;
    for (const [, , release] of turns) release?.();
    await clock.pass(GATE_PAUSE_MS + clock.late);
    expect(turns).toHaveLength(IN_HAND_OF_PEER_MAX + 8);
  });
});
