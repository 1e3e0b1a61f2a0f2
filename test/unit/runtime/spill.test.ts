// A full disk at the end of a run: what was served goes to another place, and the next start records it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { foldHistory } from '../../../src/offline/load-state.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { recordSpill, spillPath, writeSpill } from '../../../src/runtime/spill.ts';
import { World } from '../../../src/runtime/world.ts';

let folder: string;
let logged: string[];
const log = (_level: string, message: string): void => void logged.push(message);
const added = (name: string, kind: string, data: string): Unrecorded => ({
  source: 'file/Kubernetes',
  kind: 'Add',
  object: { apiVersion: 'v1', kind, metadata: { name, namespace: 'default' }, data: { key: data } },
});
const VALUE = Buffer.from('hunter2').toString('base64');

/** Times aside: what is recorded late has the time of its recording. */
const contents = (state: State) =>
  [...state.records.values()].map(({ key, raw, acceptedAt }) => ({ key, raw, acceptedAt }));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'periplus-spill-'));
  logged = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A run that serves a Secret and a large object on a disk without room for it; gives what it served. */
async function stoppedOnFullDisk(
  spill: (journal: Journal) => ((facts: readonly Unrecorded[]) => Promise<string>) | undefined,
) {
  const journal = await openJournal(join(folder, 'j.db'), { durability: 'off', fileBytesMax: 300_000 });
  const world = new World({
    journal,
    state: emptyState,
    clock: systemClock,
    strict: false,
    spill: spill(journal),
    log,
  });
  await world.record([added('a', 'ConfigMap', 'x')]);
  await world.record([added('large', 'ConfigMap', 'x'.repeat(1_000_000)), added('own', 'Secret', VALUE)]);
  expect(world.durable).toBe(false);
  const served = contents(world.state);
  await world.stop();
  await journal.close();
  return { served, seq: world.state.seq };
}

describe('a journal that cannot be written when the process stops', () => {
  it('leaves its facts in the spill folder, sealed, and the next start records them with their seqs', async () => {
    const { served, seq } = await stoppedOnFullDisk(journal => facts => writeSpill(folder, journal, facts));
    const path = join(folder, 'j.db.spill');
    expect(logged.at(-1)).toBe(`2 facts that could not be recorded are in ${path}`);
    expect(readFileSync(path, 'utf8')).not.toContain(VALUE);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const journal = await openJournal(join(folder, 'j.db'));
    expect(spillPath(folder, journal)).toBe(path);
    await recordSpill(folder, journal, log);
    expect(journal.head().seq).toBe(seq);
    expect(contents((await foldHistory(journal, { fromSnapshot: false })).state)).toEqual(served);
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
    await recordSpill(folder, journal, log);
    expect(journal.head().seq).toBe(seq);
    await journal.close();
  });

  it('says how many facts are lost without a folder, or when that cannot be written either', async () => {
    await stoppedOnFullDisk(() => undefined);
    expect(logged.at(-1)).toBe('2 facts are lost: they were served but could not be recorded');
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'periplus-spill-'));
    await stoppedOnFullDisk(journal => facts => writeSpill('/dev/null/none', journal, facts));
    expect(logged.slice(-2)).toEqual([
      expect.stringContaining('--journal-spill: '),
      '2 facts are lost: they were served but could not be recorded',
    ]);
  });

  it.each([
    ['follows another event', (text: string) => text.replace(/"seq":1/, '"seq":7')],
    ['was cut off', (text: string) => text.slice(0, -20)],
    ['is something else', () => 'notes\n'],
  ])('records nothing from a file that %s', async (_, change) => {
    await stoppedOnFullDisk(journal => facts => writeSpill(folder, journal, facts));
    const path = join(folder, 'j.db.spill');
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    const journal = await openJournal(join(folder, 'j.db'));
    await recordSpill(folder, journal, log);
    expect(journal.head().seq).toBe(1);
    expect(logged.at(-1)).toContain(path);
    expect(statSync(path).size).toBeGreaterThan(0);
    await journal.close();
  });
});

describe('a file in the spill folder that no run of ours left', () => {
  const digestOf = (lines: readonly string[]): string => createHash('sha256').update(lines.join('\n')).digest('hex');
  async function started(put: (path: string, journal: Journal) => void): Promise<string> {
    const journal = await openJournal(join(folder, 'j.db'), { durability: 'off' });
    try {
      put(spillPath(folder, journal), journal);
      await recordSpill(folder, journal, log);
      expect(journal.head().seq).toBe(0);
    } finally {
      await journal.close();
    }
    expect(logged).toHaveLength(1);
    return logged[0]!;
  }
  const written =
    (lines: readonly string[], change: object = {}) =>
    (path: string, journal: Journal): void => {
      const { seq, hash } = journal.head();
      const digest = digestOf(lines);
      const header = { format: 'periplus-spill-v1', after: { seq, hash }, facts: lines.length, digest, ...change };
      writeFileSync(path, `${[JSON.stringify(header), ...lines].join('\n')}\n`, { mode: 0o600 });
    };
  const synced = '{"body":{},"kind":"Synced","source":"file/Kubernetes"}';
  const sparse = (path: string): void => {
    writeFileSync(path, '', { mode: 0o600 });
    truncateSync(path, 1e10);
  };
  const openToAll = (path: string, journal: Journal): void => {
    written([synced])(path, journal);
    chmodSync(path, 0o666);
  };
  const deepLine = `{"body":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}},"kind":"Synced","source":"file/x"}`;

  it.each<[string, (path: string, journal: Journal) => void, string]>([
    ['a pipe', path => execFileSync('mkfifo', [path]), 'is not a file'],
    ['a link', path => symlinkSync('/etc/hostname', path), 'is not a file'],
    ['a folder', path => mkdirSync(path), 'is not a file'],
    ['ten sparse gigabytes', sparse, 'is larger'],
    ['open to all', openToAll, 'can be written by every user'],
    ['without a place', written([synced], { after: undefined }), 'was changed or cut off'],
    ['null', path => writeFileSync(path, 'null\n'), 'is no file of facts'],
    ['of more facts than it says', written([synced], { facts: 7 }), 'was changed or cut off'],
    ['of lines that are none', written(['{"body":{nope},"kind":"Synced","source":"x"}']), 'holds what is no fact'],
    ['of a fact too deep', written([deepLine]), 'holds what is no fact'],
    ['of a source with escapes', written([synced.replace('file/', '\\u001b[2J')]), 'holds what is no fact'],
  ])('is left as it is, and the log says why: %s', async (_, put, why) => {
    const said = await started(put);
    expect(said).toContain(`${join(folder, 'j.db.spill')} ${why}`);
    expect(lstatSync(join(folder, 'j.db.spill'))).toBeDefined();
  });

  it.runIf(process.getuid?.() === 0)('is left as it is if it belongs to another user', async () => {
    const said = await started((path, journal) => {
      written([synced])(path, journal);
      chownSync(path, 12_345, 12_345);
    });
    expect(said).toContain('belongs to another user (uid 12345)');
  });

  it('is left as it is wherever it was cut', async () => {
    const journal = await openJournal(join(folder, 'j.db'), { durability: 'off' });
    const path = spillPath(folder, journal);
    written([synced, synced])(path, journal);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length - 1; length++) {
      writeFileSync(path, whole.subarray(0, length));
      await recordSpill(folder, journal, log);
      expect([length, journal.head().seq, logged.length]).toEqual([length, 0, length + 1]);
    }
    await journal.close();
  });

  it('is not written through: a link where its draft goes leads nowhere', async () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'precious');
    const journal = await openJournal(join(folder, 'j.db'), { durability: 'off' });
    symlinkSync(other, `${spillPath(folder, journal)}.draft`);
    await writeSpill(folder, journal, [added('a', 'ConfigMap', 'x')]);
    await journal.close();
    expect(readFileSync(other, 'utf8')).toBe('precious');
  });
});
