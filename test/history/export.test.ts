// `periplus journal export` and `import`: whole, in ranges, compressed, redacted; what comes back answers as before.

import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import { History, openHistory } from '../../src/history/history.ts';
import { openJournal } from '../../src/journal/open.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
let journal: string;
const SECRET = 'bm90IGEgc2VjcmV0OiBwYXJ0IG9mIGEgdGVzdA==';

beforeAll(async () => {
  samples = await openSamples('subset-outage');
  journal = samples.path('subset-outage');
  const writing = await openJournal(journal);
  const metadata = { name: 'key', namespace: 'shop' };
  const object = { apiVersion: 'v1', kind: 'Secret', metadata, data: { token: SECRET } };
  await writing.append([{ source: 'file/Kubernetes', kind: 'Add', object }]);
  const state = await new History(writing).at(164);
  await writing.append([{ source: 'runtime', kind: 'TimerFired', name: 'last' }]);
  await writing.snapshots.write({
    seq: 100,
    format: SNAPSHOT_FORMAT,
    facts: snapshotOf(await new History(writing).at(100)),
  });
  await writing.snapshots.write({ seq: 164, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
  await writing.close();
});
afterAll(() => samples.remove());

const path = (name: string): string => join(samples.folder, name);

async function hashAt(file: string, seq: number): Promise<string> {
  const history = await openHistory(file);
  const found = stateHash(await history.at(seq));
  await history.close();
  return found;
}

describe('export and import', () => {
  test('reproduce chain and states through a compressed file', async () => {
    expect((await periplus('journal', 'export', '-j', journal, '--file', path('all.jsonl.gz'))).code).toBe(0);
    const text = gunzipSync(readFileSync(path('all.jsonl.gz'))).toString('utf8');
    expect(text.split('\n')[0]).toContain('"version":1');
    expect(text).toBe((await periplus('journal', 'export', '-j', journal)).out);
    const { code, out } = await periplus('journal', 'import', path('all.jsonl.gz'), '-j', path('all.db'));
    expect([code, out]).toEqual([0, `imported 165 events into ${path('all.db')}\n`]);
    expect(await hashAt(path('all.db'), 163)).toBe(await hashAt(journal, 163));
  });

  test('begin a range with its snapshot, so that its state can be queried', async () => {
    const range = ['--from', '110', '--to', '157'];
    expect((await periplus('journal', 'export', '-j', journal, ...range, '--file', path('part.jsonl'))).code).toBe(0);
    const lines = readFileSync(path('part.jsonl'), 'utf8').split('\n');
    expect(lines[0]).toContain('"seq":99');
    expect(lines[0]).toContain('"version":2');
    expect((await periplus('journal', 'import', path('part.jsonl'), '-j', path('part.db'))).out).toMatch(
      /^imported 58 events/,
    );
    for (const seq of [100, 112, 157]) expect(await hashAt(path('part.db'), seq)).toBe(await hashAt(journal, seq));
    expect((await periplus('journal', 'verify', '-j', path('part.db'))).out).toMatch(/^ok: 58 events, 1 snapshots/);
    const outage = await periplus('bisect', '-j', path('part.db'), '-p', 'productpage', '--cluster-missing');
    expect(outage.out).toContain('since event 112');
    // Exported again it is the same text.
    expect((await periplus('journal', 'export', '-j', path('part.db'))).out).toBe(
      readFileSync(path('part.jsonl'), 'utf8'),
    );
  });

  test('redacts facts and snapshots, and the result can be imported', async () => {
    const { out } = await periplus('journal', 'export', '-j', journal, '--from', '164', '--redact');
    expect(out).not.toContain(SECRET);
    expect(out).not.toContain('sealed:v1:');
    expect(out.match(/"kind":"Secret"/g)).toHaveLength(2);
    writeFileSync(path('redacted.jsonl'), out);
    expect((await periplus('journal', 'import', path('redacted.jsonl'), '-j', path('redacted.db'))).code).toBe(0);
    expect((await periplus('journal', 'verify', '-j', path('redacted.db'))).code).toBe(0);
  });

  test('refuse a changed snapshot, a truncated file and an existing file', async () => {
    const { out } = await periplus('journal', 'export', '-j', journal, '--from', '110');
    writeFileSync(path('changed.jsonl'), out.replace('"seq":100,"time"', '"seq":101,"time"'));
    const changed = await periplus('journal', 'import', path('changed.jsonl'), '-j', path('changed.db'));
    expect([changed.code, changed.err]).toEqual([1, expect.stringMatching(/the snapshot or its hash was changed/)]);
    await periplus('journal', 'export', '-j', journal, '--file', path('cut.jsonl.gz'));
    truncateSync(path('cut.jsonl.gz'), 2_000);
    const cut = await periplus('journal', 'import', path('cut.jsonl.gz'), '-j', path('cut.db'));
    expect([cut.code, cut.err]).toEqual([1, expect.stringMatching(/not a whole gzip file/)]);
    const again = await periplus('journal', 'export', '-j', journal, '--file', path('cut.jsonl.gz'));
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/file already exists/)]);
    const empty = await periplus('journal', 'export', '-j', journal, '--from', '165', '--to', '100');
    expect([empty.code, empty.err]).toEqual([1, expect.stringMatching(/nothing to export/)]);
  });
});
