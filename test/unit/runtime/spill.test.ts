// A full disk at the end of a run: what was served goes to another place, and the next start records it.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
