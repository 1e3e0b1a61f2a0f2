// A follower by itself: what it takes from memory and what from the store, and what it does not believe.

import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import { Follower, FRESH_EVENTS_MAX } from '../../../src/journal/follower.ts';
import { until } from './helpers.ts';

const events = (from: number, to: number): readonly Event[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ seq: from + i, time: 1, source: 'x', kind: 'Synced' }) as Event);

/** A follower from seq 1 of a store that has `stored` events; the first delivery waits until `release` is called. */
function following(stored: { head: number }) {
  const seen: number[] = [];
  const reads: number[] = [];
  let release: () => void = () => undefined;
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  const read = (from: number): readonly Event[] => {
    reads.push(from);
    return events(from, Math.min(stored.head, from + 999));
  };
  const follower = new Follower(1, read, async page => {
    seen.push(...page.map(({ seq }) => seq));
    await released;
  });
  return { follower, seen, reads, release };
}
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1);

describe('a follower', () => {
  it('ends behind the page that it is delivering when it is stopped', async () => {
    const { follower, seen, release } = following({ head: 1_500 });
    await until(() => seen.length > 0);
    const stopped = follower.stop();
    release();
    await stopped;
    expect(seen).toEqual(upTo(1_000));
  });

  it('that keeps up takes events from memory, however many there have been', async () => {
    const stored = { head: 0 };
    const { follower, seen, reads, release } = following(stored);
    release();
    const asked: number[] = [];
    while (stored.head < 3 * FRESH_EVENTS_MAX) {
      stored.head += 500;
      follower.committed(events(stored.head - 499, stored.head));
      asked.push(stored.head + 1);
      await new Promise(resolve => setImmediate(resolve));
    }
    expect(seen).toEqual(upTo(3 * FRESH_EVENTS_MAX));
    // The store is asked behind each delivery, and has no more.
    expect(reads).toEqual(asked);
    await follower.stop();
  });

  it('takes from memory what is committed while it delivers, and reads nothing of that', async () => {
    const stored = { head: 1 };
    const { follower, seen, reads, release } = following(stored);
    await until(() => seen.length === 1);
    follower.committed(events(2, 3));
    follower.committed(events(4, 4));
    stored.head = 4;
    release();
    await until(() => seen.length === 4);
    await follower.stop();
    expect(seen).toEqual(upTo(4));
    expect(reads.filter(from => from > 1 && from <= 4)).toEqual([]);
  });

  it('delivers once what it reads and is told, too', async () => {
    const stored = { head: 3 };
    const { follower, seen, release } = following(stored);
    await until(() => seen.length === 3);
    follower.committed(events(2, 3));
    follower.committed(events(4, 5));
    stored.head = 5;
    release();
    await until(() => seen.length === 5);
    follower.committed(events(5, 5));
    follower.committed(events(6, 6));
    await until(() => seen.length === 6);
    await follower.stop();
    expect(seen).toEqual(upTo(6));
  });

  it('keeps no more than a limit of events in memory, and reads those it let go', async () => {
    const stored = { head: 1 };
    const { follower, seen, reads, release } = following(stored);
    await until(() => seen.length === 1);
    for (; stored.head <= 2 * FRESH_EVENTS_MAX; stored.head += 500) {
      follower.committed(events(stored.head + 1, stored.head + 500));
    }
    const count = stored.head;
    release();
    await until(() => seen.length === count);
    await follower.stop();
    expect(seen).toEqual(upTo(count));
    expect(reads).toContain(2);
  });

  it('is woken by events that another process committed', async () => {
    const stored = { head: 0 };
    const { follower, seen, reads, release } = following(stored);
    release();
    await until(() => reads.length === 1);
    stored.head = 2;
    follower.committed();
    await until(() => seen.length === 2);
    await follower.stop();
    expect(seen).toEqual(upTo(2));
  });

  it('ends with a fault where it is given another event than the next', async () => {
    const follower = new Follower(
      1,
      () => events(2, 2),
      () => undefined,
    );
    await expect(follower.done).rejects.toThrow('a follower at seq 1 was given 2');
  });
});
