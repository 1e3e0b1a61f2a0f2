// What the queue counts as waiting when what waits is refused, and errors of the callback after a commit.

import { afterEach, expect, it, vi } from 'vitest';
import { AppendQueue } from '../../../src/journal/append-queue.ts';
import type { Encoded } from '../../../src/journal/codec.ts';
import { JournalFault } from '../../../src/journal/fault.ts';
import { GROUP_EVENTS_MAX, QUEUE_CHARS_MAX, QUEUE_EVENTS_MAX } from '../../../src/journal/journal.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import type { Group, StoredHead } from '../../../src/journal/store.ts';

class FailingStore extends MemoryStore {
  failing = true;

  override commit(group: Group): Promise<StoredHead> {
    return this.failing ? Promise.reject(new JournalFault('write-failed', 'the disk is full')) : super.commit(group);
  }
}

const batch = (events: number, chars = 2): readonly Encoded[] => {
  const body = ' '.repeat(chars);
  const fact = { source: 'x', kind: 'Synced' } as const;
  return Array.from({ length: events }, () => ({ ...fact, body, fact }));
};

it.each([
  ['events', batch(QUEUE_EVENTS_MAX / 2)],
  ['characters', batch(GROUP_EVENTS_MAX, Math.floor(QUEUE_CHARS_MAX / 2 / GROUP_EVENTS_MAX))],
])('a burst that failed counts no more towards the limit of %s', async (_, half) => {
  const store = new FailingStore();
  const queue = new AppendQueue(
    store,
    () => 1,
    () => undefined,
    () => undefined,
  );
  // The first is being written, the second is queued behind it, the third waits for room.
  const burst = [batch(1), half, half, half].map(one => queue.append(one));
  for (const outcome of await Promise.allSettled(burst)) expect(outcome.status).toBe('rejected');
  store.failing = false;
  // As much as the limit allows: with anything still counted it would wait for ever.
  const appended = await queue.append([...half, ...half]);
  expect(appended[0]?.seq).toBe(1);
  expect(store.head().seq).toBe(2 * half.length);
});

afterEach(() => void vi.unstubAllGlobals());

it('an error of the callback after a commit stops neither the queue nor its callers, and is thrown outside of both', async () => {
  const uncaught: (() => void)[] = [];
  vi.stubGlobal('queueMicrotask', (run: () => void) => void uncaught.push(run));
  const queue = new AppendQueue(
    new MemoryStore(),
    () => 1,
    () => undefined,
    () => {
      throw new Error('a follower broke');
    },
  );
  const seqs = [await queue.append(batch(2)), await queue.append(batch(1))].flat().map(({ seq }) => seq);
  expect(seqs).toEqual([1, 2, 3]);
  await queue.drained();
  for (const run of uncaught) expect(run).toThrow('a follower broke');
  expect(uncaught).toHaveLength(2);
});

it.each([
  ['one', 10, ['commit', 'turn']],
  ['two, of thousands of events', 5_000, ['turn', 'commit']],
])('a batch is queued and committed in %s turns of the event loop', async (_, events, expected) => {
  const order: string[] = [];
  class ObservedStore extends MemoryStore {
    override commit(group: Group): Promise<StoredHead> {
      order.push('commit');
      return super.commit(group);
    }
  }
  const queue = new AppendQueue(
    new ObservedStore(),
    () => 1,
    () => undefined,
    () => undefined,
  );
  const turned = new Promise<void>(resolve => {
    setImmediate(() => {
      order.push('turn');
      resolve();
    });
  });
  await Promise.all([queue.append(batch(events)), turned]);
  expect(order).toEqual(expected);
});
