// A reader's journal looks at the head of its file now and then: what wakes its followers, and what they get then.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FOLLOW_POLL_MS, JournalOnStore } from '../../../src/journal/journal-on-store.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import type { StoredHead } from '../../../src/journal/store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { bySeq } from './helpers.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** Another process writes it; its head is unreadable while `unreadable`. */
class ReadStore extends MemoryStore {
  heads = 0;
  unreadable = false;

  constructor() {
    super();
    Object.defineProperty(this, 'readonly', { value: true });
  }

  override head(): StoredHead {
    this.heads += 1;
    if (this.unreadable) throw new Error('disk I/O error');
    return super.head();
  }

  async write(firstSeq: number): Promise<void> {
    await this.commit({ firstSeq, rows: [[firstSeq, 'x', 'Synced', '{}']], keyCheck: undefined });
  }
}

const journalOn = (store: MemoryStore): JournalOnStore =>
  new JournalOnStore(store, new Vault({ keyFile: undefined, recorded: undefined, readonly: true }), () => 1);

async function polls(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    vi.advanceTimersByTime(FOLLOW_POLL_MS);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

describe('a follower in a process that only reads', () => {
  it('reads when the head has moved, and not at the polls that find it as it was', async () => {
    const store = new ReadStore();
    await store.write(1);
    const journal = journalOn(store);
    const seen: number[] = [];
    const follow = journal.follow(1, events => void seen.push(...bySeq(events)));
    await polls(2);
    expect(seen).toEqual([1]);
    store.heads = 0;
    await polls(4);
    expect(store.heads).toBe(4);
    await store.write(2);
    await polls(2);
    expect(seen).toEqual([1, 2]);
    store.heads = 0;
    await polls(4);
    expect(store.heads).toBe(4);
    await follow.stop();
    await journal.close();
  });

  it('gets the fault of a head that cannot be read', async () => {
    const store = new ReadStore();
    const journal = journalOn(store);
    const { done } = journal.follow(1, () => undefined);
    const failed = expect(done).rejects.toThrow('disk I/O error');
    await polls(1);
    store.unreadable = true;
    await polls(1);
    await failed;
    store.unreadable = false;
    await journal.close();
  });

  it('is polled for no longer once its journal is closed', async () => {
    const store = new ReadStore();
    const journal = journalOn(store);
    journal.follow(1, () => undefined);
    await polls(1);
    await journal.close();
    store.heads = 0;
    await polls(3);
    expect(store.heads).toBe(0);
  });
});

describe('a journal that is only read', () => {
  it('takes no snapshot', async () => {
    const store = new ReadStore();
    await store.write(1);
    const { snapshots } = journalOn(store);
    await expect(snapshots.write({ seq: 1, format: 1, facts: [] })).rejects.toMatchObject({ code: 'read-only' });
    await expect(snapshots.drop(1)).rejects.toMatchObject({ code: 'read-only' });
  });
});
