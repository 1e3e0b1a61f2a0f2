// The write window: order of slots, slots that expire, the limit of bytes, and no memory of finished writes.

import { describe, expect, test } from 'vitest';
import { collectGarbage } from '../../../../src/runtime/garbage.ts';
import { type SlotRequest, WriteWindow } from '../../../../src/xds/serve/write-window.ts';

describe('the write window', () => {
  test('grants slots in order, and takes the slot of a slow write away once', () => {
    const timers: (() => void)[] = [];
    let now = 0;
    const clock = {
      now: () => now,
      after: (_: number, run: () => void) => ({
        cancel: () => timers.splice(timers.indexOf(run), 1),
        at: timers.push(run),
      }),
    };
    const window = new WriteWindow(clock, { writesMax: 1, writeBytesMax: 10, writeSlotMs: 100 });
    const log: string[] = [];
    const take = (name: string, wanted = true): SlotRequest => {
      const writing = {
        bytes: 1,
        onSlotGranted: () => {
          log.push(name);
          return wanted;
        },
        onSlotExpired: () => log.push(`${name} slow`),
      };
      window.acquire(writing);
      return writing;
    };
    const first = take('first');
    const second = take('second');
    take('gone', false);
    const third = take('third');
    expect([window.slotsTaken, log]).toEqual([1, ['first']]);
    now = 100;
    timers.shift()!();
    expect(log).toEqual(['first', 'second', 'first slow']);
    window.release(first);
    expect(log).toHaveLength(3);
    window.release(second);
    expect(log.slice(3)).toEqual(['gone', 'third']);
    window.release(third);
    expect([window.slotsTaken, timers]).toEqual([0, []]);
  });

  test('counts bytes as well, and lets a larger write through alone', () => {
    const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
    const window = new WriteWindow(clock, { writesMax: 3, writeBytesMax: 10, writeSlotMs: 100 });
    const order: number[] = [];
    const take = (bytes: number): SlotRequest => {
      const writing = { bytes, onSlotGranted: () => order.push(bytes) > 0, onSlotExpired: () => undefined };
      window.acquire(writing);
      return writing;
    };
    const [large, four, six, one] = [take(11), take(4), take(6), take(1)] as const;
    expect(order).toEqual([11]);
    window.release(large);
    expect(order).toEqual([11, 4, 6]);
    window.release(four);
    expect(order).toEqual([11, 4, 6, 1]);
    window.release(one);
    window.release(six);
    expect([order, window.slotsTaken]).toEqual([[11, 4, 6, 1], 0]);
  });

  test('frees finished writes, also while the queue never empties', async () => {
    const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
    const window = new WriteWindow(clock, { writesMax: 1, writeBytesMax: 10, writeSlotMs: 100 });
    const take = (): SlotRequest => {
      const writing = { bytes: 1, onSlotGranted: () => true, onSlotExpired: () => undefined };
      window.acquire(writing);
      return writing;
    };
    const waiting = [take(), take()];
    const left: WeakRef<SlotRequest>[] = [];
    for (let i = 0; i < 1_000; i++) {
      waiting.push(take());
      const first = waiting.shift()!;
      window.release(first);
      left.push(new WeakRef(first));
    }
    await new Promise(resolve => setImmediate(resolve));
    collectGarbage();
    expect(left.filter(one => one.deref() !== undefined).length).toBeLessThan(100);
  });
});
