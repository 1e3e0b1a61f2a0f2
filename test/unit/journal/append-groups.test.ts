// How batches become groups: what waits, what is refused, in which order all of it is committed.

import { describe, expect, it } from 'vitest';
import { AppendQueue } from '../../../src/journal/append-queue.ts';
import type { Encoded } from '../../../src/journal/codec.ts';
import { JournalFault } from '../../../src/journal/fault.ts';
import type { Carried } from '../../../src/journal/journal.ts';
import {
  GROUP_EVENTS_MAX,
  QUEUE_CHARS_MAX,
  QUEUE_EVENTS_MAX,
  QUEUE_WAITING_MAX,
} from '../../../src/journal/journal.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import type { Group, StoredHead } from '../../../src/journal/store.ts';

/** Holds each commit until the test releases it. */
class HeldStore extends MemoryStore {
  readonly groups: Group[] = [];
  #releases: ((fault?: JournalFault) => void)[] = [];

  override commit(group: Group): Promise<StoredHead> {
    this.groups.push(group);
    return new Promise((resolve, reject) => {
      this.#releases.push(fault => (fault === undefined ? resolve(super.commit(group)) : reject(fault)));
    });
  }

  /** Ends the commits under way, and lets what follows begin. */
  async next(fault?: JournalFault): Promise<void> {
    for (const release of this.#releases.splice(0)) release(fault);
    await new Promise(resolve => setImmediate(resolve));
  }
}

const fact = { source: 'x', kind: 'Synced' } as const;
/** Texts of `chars` are one and the same text. */
const batch = (events: number, chars = 2): readonly Encoded[] => {
  const one: Encoded = { ...fact, body: ' '.repeat(chars), fact };
  return new Array<Encoded>(events).fill(one);
};

function bench(keyCheck?: string) {
  const store = new HeldStore();
  const order: string[] = [];
  const queue = new AppendQueue(
    store,
    () => 7,
    () => keyCheck,
    events => order.push(`committed ${events[0]!.seq}`),
  );
  const append = (events: readonly (Encoded | Carried)[]): Promise<void> =>
    queue.append(events).then(
      appended => void order.push(`resolved ${appended[0]?.seq}`),
      (fault: JournalFault) => void order.push(`rejected ${fault.code}`),
    );
  const sizes = (): readonly number[] => store.groups.map(({ rows }) => rows.length);
  const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
  return { store, queue, order, append, sizes, settle };
}

describe('the append queue', () => {
  it('commits nothing for an empty batch', async () => {
    const { queue, store } = bench();
    expect(await queue.append([])).toEqual([]);
    await queue.drained();
    expect(store.groups).toEqual([]);
  });

  it('makes one group of the batches of one task, and the next of those that came meanwhile', async () => {
    const { store, append, sizes, settle, order, queue } = bench('k');
    for (const events of [1, 2, 3]) void append(batch(events));
    await settle();
    expect(sizes()).toEqual([6]);
    for (const events of [4, 5]) void append(batch(events));
    await settle();
    expect(sizes()).toEqual([6]);
    await store.next();
    expect(sizes()).toEqual([6, 9]);
    expect(store.groups.map(({ firstSeq, keyCheck, unparsed }) => [firstSeq, keyCheck, unparsed])).toEqual([
      [1, 'k', false],
      [7, 'k', false],
    ]);
    let drained = false;
    void queue.drained().then(() => {
      drained = true;
    });
    await settle();
    expect(drained).toBe(false);
    await store.next();
    await queue.drained();
    expect(order).toEqual([
      ...['committed 1', 'committed 2', 'committed 4', 'resolved 1', 'resolved 2', 'resolved 4'],
      ...['committed 7', 'committed 11', 'resolved 7', 'resolved 11'],
    ]);
  });

  it('ends a group before the batch that makes it too large, and takes a larger batch alone', async () => {
    const { store, append, sizes, settle } = bench();
    const half = GROUP_EVENTS_MAX / 2;
    for (const events of [half, half, 1, GROUP_EVENTS_MAX + 1, 1]) void append(batch(events));
    await settle();
    for (let i = 0; i < 3; i++) await store.next();
    expect(sizes()).toEqual([GROUP_EVENTS_MAX, 1, GROUP_EVENTS_MAX + 1, 1]);
  });

  it.each([
    ['events', QUEUE_EVENTS_MAX - 1, 1, 1],
    ['characters', 1, QUEUE_CHARS_MAX - 10, 10],
  ])('takes as many %s as the limit says, and lets what is more wait for room', async (_what, events, chars, rest) => {
    const { store, append, settle, order } = bench();
    void append(batch(events, chars));
    void append(batch(1, rest));
    void append(batch(1, rest));
    void append(batch(2, 0));
    await settle();
    // The first two have their seqs; what waits has none, also what is small.
    await store.next();
    while (!order.includes(`resolved ${events + 3}`)) await store.next();
    expect(order.filter(text => text.startsWith('resolved'))).toEqual(
      [1, events + 1, events + 2, events + 3].map(seq => `resolved ${seq}`),
    );
    const groupOf = (seq: number): number =>
      store.groups.findIndex(({ firstSeq, rows }) => seq >= firstSeq && seq < firstSeq + rows.length);
    expect(groupOf(events + 1)).toBe(chars === 1 ? 1 : 0);
    expect(groupOf(events + 2)).toBeGreaterThan(0);
  });

  it('refuses a batch when too many wait, and no other', async () => {
    const { store, append, settle, order } = bench();
    void append(batch(QUEUE_EVENTS_MAX));
    for (let i = 0; i < QUEUE_WAITING_MAX; i++) void append(batch(1));
    await settle();
    expect(order).toEqual([]);
    void append(batch(1));
    await settle();
    expect(order).toEqual(['rejected overloaded']);
    while (!order.includes(`resolved ${QUEUE_EVENTS_MAX + QUEUE_WAITING_MAX}`)) await store.next();
    expect(order.filter(text => text.startsWith('rejected'))).toHaveLength(1);
  });

  it('refuses with a group that fails all that is behind it, waiting or not, and begins again at the head', async () => {
    const { store, append, settle, order } = bench();
    void append(batch(1));
    await settle();
    void append(batch(QUEUE_EVENTS_MAX - 1));
    void append(batch(2));
    await store.next(new JournalFault('write-failed', 'the disk is full'));
    expect(order).toEqual(new Array(3).fill('rejected write-failed'));
    void append(batch(1));
    await settle();
    await store.next();
    expect(order.slice(3)).toEqual(['committed 1', 'resolved 1']);
  });

  it('says of a group with a fact that was not parsed that it has one', async () => {
    const { store, append, settle } = bench();
    const carried: Carried = {
      ...fact,
      kind: 'Add',
      body: '{}',
      time: 9,
      fact: fact as never,
      ref: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'b' },
    };
    void append(batch(1));
    void append([...batch(1), carried]);
    await settle();
    expect(store.groups[0]?.unparsed).toBe(true);
    expect(store.groups[0]?.rows.map(([time, , kind]) => [time, kind])).toEqual([
      [7, 'Synced'],
      [7, 'Synced'],
      [9, 'Add'],
    ]);
  });
});
