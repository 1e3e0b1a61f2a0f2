// What an import refuses, line by line, and what it keeps: ranges with their snapshot, sealed values, the record of the
// head.

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../src/core/base/json.ts';
import { CHAIN_START, chainHash } from '../../../src/journal/chain.ts';
import { exportJournal } from '../../../src/journal/export.ts';
import { readHeadRecord } from '../../../src/journal/head-record.ts';
import { importJournal } from '../../../src/journal/import.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { added, all, lines, openHere, secret, temporaryDirectory, tickingClock } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.db');
const VALUE = 'c2VjcmV0LW9mLXRlc3Q=';
const whole = { redact: false } as const;

async function withSnapshots(): Promise<Journal> {
  const journal = openMemoryJournal({ clock: tickingClock() });
  await journal.append(Array.from({ length: 6 }, (_, i) => added(`s${i}`)));
  const facts = [
    { source: 'x', fact: { kind: 'Secret', metadata: { name: 's' }, data: { k: VALUE } } },
    ...Array.from({ length: SEGMENT_FACTS_MAX + 1 }, (_, n) => ({ source: 'x', fact: { n } })),
  ];
  for (const seq of [3, 5]) await journal.snapshots.write({ seq, format: 7, facts });
  return journal;
}

/** An export of one event that is correct in itself. */
function exportOf(event: { readonly [member: string]: unknown }): string[] {
  const { seq, time, source, kind, body } = { seq: 1, time: 5, source: 'x', kind: 'Synced', body: {}, ...event };
  const start = { seq: 0, hash: CHAIN_START.toString('hex') };
  const sum = chainHash(
    CHAIN_START,
    seq as number,
    time as number,
    `${source}`,
    `${kind}`,
    canonicalJson(body as JsonObject),
  );
  const hash = sum.toString('hex');
  return [
    { format: 'periplus-journal', version: 1, redacted: false, start },
    { seq, time, source, kind, body, hash },
    { end: { seq, hash } },
  ].map(line => JSON.stringify(line));
}

describe('an export of a range', () => {
  test('begins at the last snapshot up to its first event, and ends at its last', async () => {
    const journal = await withSnapshots();
    const seqsOf = async (from: number | undefined, to?: number): Promise<readonly unknown[]> => {
      const options = { ...whole, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const text = (await lines(exportJournal(journal, options))).map(line => JSON.parse(line) as JsonObject);
      expect(text[0]).toMatchObject({ version: text.some(({ snapshot }) => snapshot !== undefined) ? 2 : 1 });
      return [text[0]!.start, ...text].flatMap(line => {
        const { seq, end } = line as { readonly seq?: number; readonly end?: { readonly seq: number } };
        return [...(seq === undefined ? [] : [seq]), ...(end === undefined ? [] : [`end ${end.seq}`])];
      });
    };
    expect(await seqsOf(undefined)).toEqual([0, 1, 2, 3, 4, 5, 6, 'end 6']);
    expect(await seqsOf(2, 4)).toEqual([0, 1, 2, 3, 4, 'end 4']);
    expect(await seqsOf(3)).toEqual([2, 3, 4, 5, 6, 'end 6']);
    expect(await seqsOf(4, 5)).toEqual([2, 3, 4, 5, 'end 5']);
    expect(await seqsOf(6, 99)).toEqual([4, 5, 6, 'end 6']);
  });

  test('is refused if nothing stands in it', async () => {
    const journal = await withSnapshots();
    const exporting = lines(exportJournal(journal, { ...whole, from: 6, to: 4 }));
    await expect(exporting).rejects.toMatchObject({ code: 'no-such-seq', path: 'memory' });
    await expect(exporting).rejects.toThrow('the range ends at 4, and the first event it can begin with is 5');
    const one = openMemoryJournal();
    expect(await lines(exportJournal(one, whole))).toHaveLength(2);
    await one.append([added('a')]);
    await expect(lines(exportJournal(one, { ...whole, to: 0 }))).rejects.toThrow('the range ends at 0, and');
  });

  test('is refused where a compacted journal has lost the snapshot it begins with', async () => {
    const journal = await withSnapshots();
    await journal.compact(3);
    await journal.snapshots.drop(3);
    const exporting = lines(exportJournal(journal, whole));
    await expect(exporting).rejects.toMatchObject({ code: 'damaged', seq: 3 });
  });

  test('is imported with its snapshot, whole, and exported again is the same text', async () => {
    const journal = await withSnapshots();
    const text = await lines(exportJournal(journal, { ...whole, from: 4 }));
    const copy = path();
    const head = await importJournal(copy, text);
    expect(head).toEqual(journal.head());
    const imported = await openHere(copy, { readonly: true });
    expect(imported.base().seq).toBe(2);
    expect(await imported.verify()).toMatchObject({ ok: true, events: 4, snapshots: 1 });
    const [info] = await journal.snapshots.list();
    expect(await imported.snapshots.list()).toEqual([info]);
    expect(imported.keyCheck()).toBe(journal.keyCheck());
    expect(await lines(exportJournal(imported, whole))).toEqual(text);
  });

  test('has placeholders for the private values of its snapshot if it is redacted', async () => {
    const text = await lines(exportJournal(await withSnapshots(), { redact: true, from: 4 }));
    expect(text.join('\n')).not.toContain('sealed:v1:');
    expect(text.join('\n')).not.toContain(VALUE);
    const copy = path();
    await importJournal(copy, text);
    expect(await (await openHere(copy)).verify()).toMatchObject({ ok: true, events: 4, snapshots: 1 });
  });

  test.each<[string, (text: string[]) => string[], string]>([
    ['a fact that was changed', text => text.map(line => line.replace('{"n":1}', '{"n":2}')), 'hash was changed'],
    ['a fact that is gone', text => text.filter(line => !line.includes('{"n":1}')), 'hash was changed'],
    ['a fact without a source', text => text.with(2, '{"fact":{}}'), 'a fact of the snapshot expected'],
    ['a fact that is no object', text => text.with(2, '{"source":"x","fact":1}'), 'a fact of the snapshot expected'],
    ['a snapshot of another event', text => text.with(1, '{"snapshot":{"format":7,"seq":4}}'), 'of the first of them'],
    ['a snapshot without a format', text => text.with(1, '{"snapshot":{"seq":3}}'), 'of the first of them'],
    [
      'two snapshots',
      text => text.toSpliced(text.findIndex(line => line.includes('snapshotHash')) + 1, 0, text[1]!),
      'stands before the events, once',
    ],
    ['a snapshot behind events', text => text.toSpliced(-1, 0, text[1]!), 'stands before the events, once'],
    ['no hash of the snapshot', text => text.filter(line => !line.includes('snapshotHash')), 'of the snapshot'],
  ])('is not imported with %s', async (_what, change, message) => {
    const text = await lines(exportJournal(await withSnapshots(), { ...whole, from: 4 }));
    const copy = path();
    const importing = importJournal(copy, change(text));
    await expect(importing).rejects.toMatchObject({ code: 'bad-import' });
    await expect(importing).rejects.toThrow(message);
    expect(existsSync(copy)).toBe(false);
  });
});

describe('an import', () => {
  test('takes an export that is correct in itself', async () => {
    const copy = path();
    expect(await importJournal(copy, exportOf({ time: 0 }))).toMatchObject({ seq: 1, time: 0 });
  });

  test.each<[string, { readonly [member: string]: unknown }, string]>([
    ['a time that is no whole number', { time: 1.5 }, 'seq 1: the time of seq 1 is missing or goes back'],
    ['a time below zero', { time: -1 }, 'the time of seq 1 is missing or goes back'],
    ['a time that is text', { time: '5' }, 'the time of seq 1 is missing or goes back'],
    ['a source that is no text', { source: 1 }, 'source, kind or body is missing'],
    ['a kind that is no text', { kind: null }, 'source, kind or body is missing'],
    ['a body that is a list', { body: [] }, 'source, kind or body is missing'],
    ['a source of two lines', { source: 'a\nb' }, 'source must be 1 to 512 characters'],
    ['an empty kind', { kind: '' }, 'kind must be 1 to 64 characters'],
    ['a first event that is the second', { seq: 2 }, 'seq 1 expected, 2 found'],
  ])('refuses %s', async (_what, event, message) => {
    const importing = importJournal(path(), exportOf(event));
    await expect(importing).rejects.toMatchObject({ code: 'bad-import', line: 2 });
    await expect(importing).rejects.toThrow(message);
  });

  test.each<[string, JsonObject, string]>([
    ['another format', { format: 'other' }, 'not an exported Periplus journal'],
    ['a version that is no number', { version: '1' }, 'an export of version "1"; this release reads 2'],
    ['a newer version', { version: 3 }, 'an export of version 3; this release reads 2'],
    ['no start', { start: null }, 'a seq is missing'],
    ['a start below zero', { start: { seq: -1, hash: '0'.repeat(64) } }, 'a seq is missing'],
    ['a start that is no whole number', { start: { seq: 0.5, hash: '0'.repeat(64) } }, 'a seq is missing'],
    ['no hash of the start', { start: { seq: 0 } }, 'a hash is missing'],
    ['a hash that is too long', { start: { seq: 0, hash: '0'.repeat(65) } }, 'a hash is missing'],
    ['a hash in a list', { start: { seq: 0, hash: ['0'.repeat(64)] } }, 'a hash is missing'],
    ['a hash that is no hex', { start: { seq: 0, hash: 'x'.repeat(64) } }, 'a hash is missing'],
  ])('refuses a header with %s', async (_what, change, message) => {
    const [header, ...rest] = exportOf({});
    const importing = importJournal(path(), [
      JSON.stringify({ ...(JSON.parse(header!) as JsonObject), ...change }),
      ...rest,
    ]);
    await expect(importing).rejects.toMatchObject({ code: 'bad-import', line: 1 });
    await expect(importing).rejects.toThrow(message);
  });

  test.each([
    ['another seq', { seq: 2 }],
    ['another hash', { hash: '0'.repeat(64) }],
  ])('refuses an end line with %s', async (_what, change) => {
    const text = exportOf({});
    const { end } = JSON.parse(text[2]!) as { readonly end: JsonObject };
    const importing = importJournal(path(), text.with(2, JSON.stringify({ end: { ...end, ...change } })));
    await expect(importing).rejects.toThrow('line 3: the export is cut off: it should end at seq');
  });

  test('refuses a snapshot that stands behind events, is of another event or has no format', async () => {
    const [header, event, end] = exportOf({}) as [string, string, string];
    const snapshot = (seq: number, format: unknown = 1): string => JSON.stringify({ snapshot: { seq, format } });
    for (const text of [
      [header, event, snapshot(1), end],
      [header, event, snapshot(2), end],
      [header, snapshot(2), event, end],
      [header, snapshot(1, '1'), event, end],
    ]) {
      await expect(importJournal(path(), text)).rejects.toThrow(
        'a snapshot stands before the events, once, and is of the first of them',
      );
    }
  });

  test('refuses a line that is no JSON object, and quotes nothing of it', async () => {
    const text = exportOf({});
    await expect(importJournal(path(), text.with(1, '[1]'))).rejects.toThrow('line 2: not a JSON object');
    const broken = importJournal(path(), text.with(1, `{"k":${VALUE}}`));
    await expect(broken).rejects.toThrow('line 2: not JSON');
    await expect(broken).rejects.not.toThrow(VALUE.slice(0, 4));
  });

  test('counts empty lines, and passes them over', async () => {
    const text = exportOf({});
    expect(await importJournal(path(), ['', ...text.flatMap(line => [line, ' '])])).toMatchObject({ seq: 1 });
    await expect(importJournal(path(), ['', text[0]!, '', 'x'])).rejects.toMatchObject({ line: 4 });
  });

  test('of more events than one transaction takes has all of them', async () => {
    const journal = openMemoryJournal();
    await journal.append(Array.from({ length: 2_500 }, (_, i) => added(`s${i}`)));
    const copy = path();
    expect(await importJournal(copy, exportJournal(journal, whole), { durability: 'off' })).toEqual(journal.head());
    const imported = await openHere(copy);
    expect(await imported.verify()).toMatchObject({ ok: true, events: 2_500 });
    expect(await all(imported.read({ from: 1 }))).toEqual(await all(journal.read({ from: 1 })));
  });

  test('leaves the journal with a record of its head, and nothing else beside it', async () => {
    const journal = openMemoryJournal();
    await journal.append([secret('s', { k: VALUE })]);
    const copy = path();
    // Of a journal that stood in the same place before, and of an import that was interrupted.
    writeFileSync(`${copy}.head`, 'old');
    writeFileSync(`${copy}.importing`, 'half');
    const { seq, hash } = await importJournal(copy, exportJournal(journal, whole));
    expect(readHeadRecord(copy)).toEqual({ seq, hash });
    expect(readdirSync(dirname(copy)).sort()).toEqual(['j.db', 'j.db.head']);
  });

  test.each(['-wal', '-shm'])('refuses a place where the %s of another journal is left', async suffix => {
    const copy = path();
    writeFileSync(copy + suffix, 'of another journal');
    const importing = importJournal(copy, exportOf({}));
    await expect(importing).rejects.toMatchObject({ code: 'cannot-open', path: copy + suffix });
    await expect(importing).rejects.toThrow('left of another journal: move it to where that one is');
    expect(readdirSync(dirname(copy))).toEqual([`j.db${suffix}`]);
  });

  test('of an empty journal removes the record of another one', async () => {
    const copy = path();
    writeFileSync(`${copy}.head`, `periplus-head-v1 ${'7'.padStart(16)} ${'0'.repeat(64)}\n`);
    await importJournal(copy, exportJournal(openMemoryJournal(), whole));
    expect(readHeadRecord(copy)).toBeUndefined();
    expect((await openHere(copy)).lost()).toBeUndefined();
  });
});
