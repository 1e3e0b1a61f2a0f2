// The writer thread may die (out of memory, a fault in native code): what was asked is rejected unless the file has it,
// the file stays whole, and the next request starts another thread.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AppendQueue } from '../../../src/journal/append-queue.ts';
import { encodeFact } from '../../../src/journal/codec.ts';
import { JournalFault } from '../../../src/journal/fault.ts';
import { openForReading, openForWriting } from '../../../src/journal/sqlite-file.ts';
import { SqliteStore } from '../../../src/journal/sqlite-store.ts';
import type { StoredHead } from '../../../src/journal/store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { HANDED_CHARS_AT_ONCE, WriterLink } from '../../../src/journal/writer-link.ts';
import { added, openHere, temporaryDirectory, tickingClock } from './helpers.ts';

test('a dead writer thread fails its write, and the next write has a new thread', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: undefined });
  onTestFinished(() => link.close());
  const commit = (firstSeq: number) =>
    link.ask({
      kind: 'commit',
      group: {
        firstSeq,
        rows: Array.from({ length: 50_000 }, () => [1, 'x', 'Synced', '{}'] as const),
        keyCheck: undefined,
      },
    });
  let { head } = await commit(1);
  // Let the request reach the thread before it dies. On a busy machine it may be done by then: then once more.
  for (let fault: unknown; fault === undefined; ) {
    const worker = await link.start();
    const interrupted = commit(head.seq + 1).then(
      done => {
        head = done.head;
      },
      (error: unknown) => {
        fault = error;
      },
    );
    await new Promise(resolve => setTimeout(resolve, 20));
    await worker.terminate();
    await interrupted;
    if (fault === undefined) continue;
    expect(fault).toMatchObject({ code: 'write-failed', path });
    expect((fault as JournalFault).message).toContain('the writer thread ended');
  }
  const { seq } = (await commit(head.seq + 1)).head;
  expect(seq).toBe(head.seq + 50_000);
  await link.close();
  const reader = await openHere(path, { readonly: true });
  expect(await reader.verify()).toMatchObject({ ok: true, events: seq });
});

/** Characters as a few turns of the event loop hand over. */
function largeGroup(firstSeq: number, source: string) {
  const body = JSON.stringify({ x: 'x'.repeat(HANDED_CHARS_AT_ONCE / 2) });
  const rows = Array.from({ length: 12 }, (_, i) => [firstSeq + i, source, 'Synced', body] as const);
  return { kind: 'commit', group: { firstSeq, rows, keyCheck: undefined } } as const;
}

test('a large group is handed over in several turns of the event loop and stored whole', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: undefined });
  onTestFinished(() => link.close());
  const worker = await link.start();
  const { postMessage } = worker;
  const handed: number[] = [];
  let turn = 0;
  const ticking = setInterval(() => turn++, 0);
  worker.postMessage = message => {
    handed.push(turn);
    postMessage.call(worker, message);
    // Long enough for the interval to be due.
    for (const start = performance.now(); performance.now() < start + 3; );
  };
  const { head } = await link.ask(largeGroup(1, 'x'));
  clearInterval(ticking);
  expect(head.seq).toBe(12);
  expect(handed).toHaveLength(6);
  expect(new Set(handed).size).toBeGreaterThan(3);
  const reader = await openHere(path, { readonly: true });
  expect(await reader.verify()).toMatchObject({ ok: true, events: 12 });
});

test('of a large group that fails, or whose thread dies on the way, nothing is in the next one', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: 8 * HANDED_CHARS_AT_ONCE });
  onTestFinished(() => link.close());
  await link.ask(largeGroup(1, 'x'));
  await expect(link.ask(largeGroup(13, 'too large'))).rejects.toThrow('full');
  const dies = link.ask(largeGroup(13, 'dead'));
  await new Promise(resolve => setImmediate(resolve));
  await (await link.start()).terminate();
  await expect(dies).rejects.toMatchObject({ code: 'write-failed' });
  const rows = [[20, 'last', 'Synced', '{}']] as const;
  expect((await link.ask({ kind: 'commit', group: { firstSeq: 13, rows, keyCheck: undefined } })).head.seq).toBe(13);
  const reader = await openHere(path, { readonly: true });
  expect(await reader.verify()).toMatchObject({ ok: true, events: 13 });
});

test('a group that does not follow the head is refused', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: undefined });
  onTestFinished(() => link.close());
  for (const [firstSeq, time, why] of [
    [2, 1, 'seq 2 does not follow 0'],
    [1, -1, 'time -1 is before 0'],
  ] as const) {
    const asked = link.ask({
      kind: 'commit',
      group: { firstSeq, rows: [[time, 'x', 'Synced', '{}']], keyCheck: undefined },
    });
    await expect(asked).rejects.toMatchObject({ code: 'write-failed' });
    await expect(asked).rejects.toThrow(why);
  }
});

test('a thread that cannot open its file says why, and the next task is tried anew', async () => {
  const path = join(temporaryDirectory(), 'none', 'j.db');
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: undefined });
  for (const _ of [1, 2]) {
    const asked = link.ask({ kind: 'shrink' });
    await expect(asked).rejects.toMatchObject({ code: 'write-failed', path });
    await expect(asked).rejects.toThrow(
      /could not be written \(the writer thread failed: .*cannot be opened.*\); free space or mend the disk/,
    );
  }
  // Nothing is to be closed.
  await link.close();
});

/** Its thread dies before or after the next task, and the answer is lost. */
class DyingLink extends WriterLink {
  dies: 'before' | 'after' | undefined;

  override async ask(task: Parameters<WriterLink['ask']>[0]): ReturnType<WriterLink['ask']> {
    const { dies } = this;
    this.dies = undefined;
    if (dies !== 'before') {
      const answer = await super.ask(task);
      if (dies === undefined) return answer;
    }
    await (await this.start()).terminate();
    throw new JournalFault('write-failed', 'the writer thread ended');
  }
}

test.each(['before', 'after'] as const)(
  'the outcome of a group whose thread dies %s its commit is that of the file',
  async dies => {
    const path = join(temporaryDirectory(), 'j.db');
    openForWriting(path).close();
    const link = new DyingLink({ path, durability: 'off', fileBytesMax: undefined });
    const store = new SqliteStore(path, openForReading(path), link, () => undefined);
    onTestFinished(() => store.close());
    const vault = new Vault({ keyFile: undefined, recorded: undefined, readonly: false });
    const told: number[] = [];
    const queue = new AppendQueue(
      store,
      tickingClock(),
      () => undefined,
      events => told.push(...events.map(({ seq }) => seq)),
    );
    const append = (...names: readonly string[]) => queue.append(names.map(name => encodeFact(added(name), vault)));
    await append('a');
    link.dies = dies;
    const second = append('b', 'b2');
    if (dies === 'before') await expect(second).rejects.toMatchObject({ code: 'write-failed' });
    else await second;
    await append('c');
    const stored = store.page(1, 9).map(({ seq }) => seq);
    expect(stored).toEqual(dies === 'before' ? [1, 2] : [1, 2, 3, 4]);
    expect(told).toEqual(stored);
  },
);

/** Cannot read its file while `blind`. */
class BlindStore extends SqliteStore {
  blind = false;

  override recordedHead(): StoredHead {
    if (this.blind) throw new Error('disk I/O error');
    return super.recordedHead();
  }
}

test('a group is not taken for another one that was stored while the file could not be read', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new DyingLink({ path, durability: 'off', fileBytesMax: undefined });
  const store = new BlindStore(path, openForReading(path), link, () => undefined);
  onTestFinished(() => store.close());
  const group = (firstSeq: number, source: string) => ({
    firstSeq,
    rows: [[1, source, 'Synced', '{}'] as const],
    keyCheck: undefined,
  });
  await store.commit(group(1, 'a'));
  link.dies = 'after';
  store.blind = true;
  await expect(store.commit(group(2, 'b'))).rejects.toMatchObject({ code: 'write-failed' });
  store.blind = false;
  for (const _ of [1, 2]) {
    await expect(store.commit(group(2, 'c'))).rejects.toMatchObject({
      code: 'damaged',
      message: `${path}, seq 2: events up to 2 are stored that this process took for lost; restart it to fold them`,
    });
  }
  expect(store.page(1, 9).map(({ source }) => source)).toEqual(['a', 'b']);
});
