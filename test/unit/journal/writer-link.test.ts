// The writer thread may die (out of memory, a fault in native code): what was asked is rejected, the file stays whole,
// and the next request starts another thread.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openForWriting } from '../../../src/journal/sqlite-file.ts';
import { WriterLink } from '../../../src/journal/writer-link.ts';
import { openHere, temporaryDirectory } from './helpers.ts';

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
    if (fault !== undefined) expect(fault).toMatchObject({ code: 'write-failed', path });
  }
  const { seq } = (await commit(head.seq + 1)).head;
  expect(seq).toBe(head.seq + 50_000);
  await link.close();
  const reader = await openHere(path, { readonly: true });
  expect(await reader.verify()).toMatchObject({ ok: true, events: seq });
});

test('a group that does not follow the head is refused', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  openForWriting(path).close();
  const link = new WriterLink({ path, durability: 'off', fileBytesMax: undefined });
  onTestFinished(() => link.close());
  for (const [firstSeq, time] of [
    [2, 1],
    [1, -1],
  ] as const) {
    const asked = link.ask({
      kind: 'commit',
      group: { firstSeq, rows: [[time, 'x', 'Synced', '{}']], keyCheck: undefined },
    });
    await expect(asked).rejects.toMatchObject({ code: 'write-failed' });
  }
});
