// A journal becomes a log and a log a journal again: the same world, with the same times.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { snapshotOf } from '../../../src/core/fold/snapshot.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { foldHistory } from '../../../src/offline/load-state.ts';
import { chainAfter, ENTRY_FORMAT, entryText } from '../../../src/replicas/entry.ts';
import { MoveFault, moveIntoLog, moveOutOfLog } from '../../../src/replicas/move.ts';
import { worldDigest } from '../../../src/replicas/world-digest.ts';
import { MemoryLog, TornLog } from './memory-log.ts';

const source = 'file/Kubernetes';
const service = (name: string, port: number | string): Unrecorded => ({
  source,
  kind: 'Add',
  object: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port }] },
  },
});
const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'b' };
const HISTORY: readonly Unrecorded[] = [
  { source, kind: 'MeshConfig', value: { accessLogFile: '/dev/stdout' } },
  service('a', 80),
  service('b', 80),
  { source: 'xds', kind: 'Receipt', typeUrl: 't', connections: [], stateSeq: 3, digest: 'd', count: 0 },
  service('a', 'none'),
  { source, kind: 'Delete', ref },
  { source, kind: 'Synced' },
];

async function written(): Promise<Journal> {
  let time = 1_000;
  const journal = openMemoryJournal({ clock: () => time });
  for (const fact of HISTORY) {
    await journal.append([fact]);
    time += 1_000;
  }
  return journal;
}

const digestOf = async (journal: Journal): Promise<string> =>
  worldDigest((await foldHistory(journal, { fromSnapshot: false })).state);
async function timesOf(journal: Journal): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const page of journal.read({ from: 1 })) times.push(...page.map(({ time }) => time));
  return times;
}
const move = (journal: Journal, log: MemoryLog) => moveIntoLog(journal, log, { name: 'moved', now: () => 500 });

describe('a journal that is moved into a log and back', () => {
  it('holds the same world, and nothing about the proxies of one process', async () => {
    const from = await written();
    const log = new MemoryLog();
    expect(await move(from, log)).toBe(HISTORY.length - 1);
    const to = openMemoryJournal();
    expect(await moveOutOfLog(log, to)).toBe(HISTORY.length - 1);
    expect(await digestOf(to)).toBe(await digestOf(from));
    expect(await to.seqsOf('Receipt', { from: 1 })).toEqual([]);
    expect(await timesOf(to)).toEqual([1_000, 2_000, 3_000, 5_000, 6_000, 7_000]);
  });

  it('keeps what a compacted journal begins with, a refused version beside the accepted one too', async () => {
    const from = await written();
    const { state } = await foldHistory(from, { fromSnapshot: false, to: 5 });
    await from.snapshots.write({ seq: 5, format: 1, facts: snapshotOf(state) });
    await from.compact(5);
    const log = new MemoryLog();
    await move(from, log);
    const to = openMemoryJournal();
    await moveOutOfLog(log, to);
    const { state: moved } = await foldHistory(to, { fromSnapshot: false });
    expect([...moved.objects.Service.keys()]).toEqual(['Kubernetes/default/a']);
    expect([...moved.records.values()].filter(({ refused }) => refused !== undefined)).toHaveLength(1);
  });

  it('leaves out what counts at no replica', async () => {
    const log = new MemoryLog();
    await move(await written(), log);
    const end = await log.at(await log.last());
    const { after } = JSON.parse(end!.text.split('\n')[0]!) as { readonly after: string };
    const lines = openMemoryJournal().toLines([service('stale', 80)]);
    const header = { format: ENTRY_FORMAT, log: 'moved', id: 'x', writer: 'another', term: 1, time: 1, facts: 1 };
    await log.append(
      entryText({ header: { ...header, after: chainAfter(after, end!.text) }, lines }),
      await log.last(),
    );
    expect(await moveOutOfLog(log, openMemoryJournal())).toBe(HISTORY.length - 1);
  });

  it('is refused where something would be lost or mixed', async () => {
    const from = await written();
    const log = new MemoryLog();
    await expect(moveOutOfLog(log, openMemoryJournal())).rejects.toThrow('has no entry');
    await move(from, log);
    await expect(move(from, log)).rejects.toThrow(MoveFault);
    await expect(moveOutOfLog(log, from)).rejects.toThrow('has events');
  });

  it('is refused where the chain of the log breaks', async () => {
    const log = new MemoryLog();
    await move(await written(), log);
    const header = {
      format: ENTRY_FORMAT,
      log: 'moved',
      id: 'x',
      writer: 'w',
      term: 1,
      time: 1,
      facts: 0,
      after: 'no',
    };
    await log.append(entryText({ header, lines: [] }), await log.last());
    await expect(moveOutOfLog(log, openMemoryJournal())).rejects.toThrow('the chain breaks at entry x');
  });

  it('ends where the log ends with a part of an entry whose writer died', async () => {
    const log = new TornLog();
    await move(await written(), log);
    log.isTorn = true;
    expect(await moveOutOfLog(log, openMemoryJournal())).toBe(HISTORY.length - 1);
  });

  it('is refused where the log holds nothing else', async () => {
    const log = new TornLog();
    log.isTorn = true;
    await expect(moveOutOfLog(log, openMemoryJournal())).rejects.toThrow('has no entry');
  });
});
