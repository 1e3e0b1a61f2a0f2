// A journal from elsewhere whose chain is right over content that no journal writes: reading names the row, and verify
// finds what reading refuses.

import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import { CHAIN_START, chainHashOfBytes, columnSums, segmentHash, snapshotHash } from '../../../src/journal/chain.ts';
import { JournalFault } from '../../../src/journal/fault.ts';
import { BODY_DEPTH_MAX, type Journal } from '../../../src/journal/journal.ts';
import { Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { TIME_MAX } from '../../../src/journal/stored-body.ts';
import { all, openHere, temporaryDirectory } from './helpers.ts';

interface HostileRow {
  readonly time?: number;
  readonly source?: string;
  readonly kind?: string;
  readonly body: string | Buffer;
}

const deep = `{"object":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
const bytes = (text: string | Buffer): Buffer => Buffer.from(text as string);

/** A journal of one event with a chain that is right, and of a snapshot of the segments there. */
async function hostile(row: HostileRow, segments: readonly string[] = [], facts = segments.length): Promise<string> {
  const path = join(temporaryDirectory(), 'j.db');
  await (await openHere(path)).close();
  const { time = 1_000, source = 'file/Kubernetes', kind = 'Add', body } = row;
  const stored = { seq: 1, time, source: bytes(source), kind: bytes(kind), body: bytes(body) };
  const hash = chainHashOfBytes(CHAIN_START, stored);
  const db = new Sqlite(path);
  db.prepare('INSERT INTO event VALUES (1, ?, ?, ?, CAST(? AS TEXT), ?, ?)').run(
    BigInt(time),
    source,
    kind,
    bytes(body),
    columnSums(time, stored.source, stored.kind, stored.body),
    hash,
  );
  const set = db.prepare('UPDATE meta SET value = ? WHERE key = ?');
  for (const [key, value] of Object.entries({ head_seq: 1n, head_time: BigInt(time), head_hash: hash })) {
    set.run(value, key);
  }
  const hashes = segments.map(segmentHash);
  for (const [i, text] of segments.entries()) {
    db.prepare('INSERT INTO snapshot_segment VALUES (1, ?, ?, ?)').run(i + 1, text, hashes[i]);
  }
  const columns = { seq: 1, format: 1, time, facts, segments: segments.length, chain: hash };
  if (segments.length > 0) {
    db.prepare('INSERT INTO snapshot VALUES (1, 1, ?, ?, ?, ?, ?)').run(
      BigInt(time),
      facts,
      segments.length,
      hash,
      snapshotHash(columns, hashes),
    );
  }
  db.close();
  return path;
}

async function faultOf(reading: (journal: Journal) => Promise<unknown>, journal: Journal): Promise<JournalFault> {
  const fault = await reading(journal).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(JournalFault);
  return fault as JournalFault;
}

const readings: readonly ((journal: Journal) => Promise<unknown>)[] = [
  journal => all(journal.read({ from: 1 })),
  journal => all(journal.records({ from: 1, secrets: 'redacted' })),
  async journal => {
    const [event] = await all(journal.readUnparsed({ from: 1 }));
    return event?.kind === 'Unread' ? event.object : undefined;
  },
];

describe('an event with a hash that is right', () => {
  it.each<[string, HostileRow, string]>([
    ['is no JSON', { body: 'nope' }, 'no JSON object'],
    ['is a list', { body: '[]' }, 'no JSON object'],
    ['is null', { body: 'null' }, 'no JSON object'],
    ['is a number', { body: '1e999' }, 'no JSON object'],
    ['is nested 10,000 deep', { body: deep }, 'nested too deep'],
    ['has no object', { body: '{}' }, 'Add.object is not an object'],
    ['has its object as inherited', { body: '{"__proto__":{"object":{}}}' }, 'Add.object is not an object'],
    ['has no connections', { kind: 'Receipt', body: '{}' }, 'Receipt.connections is not a list of texts'],
    ['lists numbers', { kind: 'Names', body: '{"digest":"d","names":[1]}' }, 'Names.names is not a list of texts'],
    ['has no seq', { kind: 'Rejected', body: '{"reason":"x","rejected":"1"}' }, 'Rejected.rejected is not a number'],
  ])('is named by every reader and by verify if its body %s', async (_, row, why) => {
    const path = await hostile(row);
    const journal = await openHere(path, { readonly: true });
    for (const reading of readings) {
      const { code, seq, message } = await faultOf(reading, journal);
      expect([code, seq]).toEqual(['damaged', 1]);
      expect(message).toContain(`${path}, seq 1: `);
      expect(message).toContain(why);
    }
    const { findings } = await journal.verify();
    expect(findings).toMatchObject([{ kind: 'unreadable', seq: 1, column: 'event.body' }]);
    expect(findings[0]?.message).toContain(why);
  });

  it.each([
    ['twice', '{"object":{"a":1,"a":2}}'],
    ['out of order', '{"object":{"b":1,"a":2}}'],
    ['twice, once escaped', '{"object":{"a":1,"\\u0061":2}}'],
  ])('is found by verify if members are %s', async (_, body) => {
    const { findings } = await (await openHere(await hostile({ body }), { readonly: true })).verify();
    expect(findings).toMatchObject([{ kind: 'unreadable', seq: 1, column: 'event.body' }]);
    expect(findings[0]?.message).toContain('members of an object are out of order, or twice there');
  });

  it('is refused if it names its object twice', async () => {
    const named = (name: string): string => `"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"}}`;
    const path = await hostile({ body: `{${named('a')},${named('b')}}` });
    const reading = readings[2]!;
    const fault = await faultOf(reading, await openHere(path, { readonly: true }));
    expect(fault.message).toBe('seq 1: the members that name its object are there twice');
  });

  it.each([TIME_MAX + 1, Number.MAX_SAFE_INTEGER])('is named if its time %d is none', async time => {
    const journal = await openHere(await hostile({ time, kind: 'Synced', body: '{}' }), { readonly: true });
    const reading = readings[0]!;
    expect((await faultOf(reading, journal)).message).toContain(`seq 1: the time ${time} is none`);
    expect((await journal.verify()).ok).toBe(false);
  });

  it.each<[string, HostileRow]>([
    ['source', { source: 's'.repeat(513), kind: 'Synced', body: '{}' }],
    ['kind', { kind: 'K'.repeat(65), body: '{}' }],
  ])('is named if its %s is longer than append takes', async (_, row) => {
    const journal = await openHere(await hostile(row), { readonly: true });
    const reading = readings[0]!;
    expect((await faultOf(reading, journal)).message).toContain('seq 1: a name is longer than a journal writes');
  });

  it.each<[string, HostileRow, string]>([
    ['source', { source: 'a\u001b[2J', kind: 'Synced', body: '{}' }, 'source must be 1 to 512 characters'],
    ['kind', { kind: 'K'.repeat(65), body: '{}' }, 'kind must be 1 to 64 characters'],
    ['body', { kind: 'Synced', body: Buffer.from([0x7b, 0xff, 0x7d]) }, 'it is no UTF-8'],
  ])('is found by verify if its %s is not what append takes', async (_, row, why) => {
    const { ok, findings } = await (await openHere(await hostile(row), { readonly: true })).verify();
    expect([ok, findings[0]?.kind]).toEqual([false, 'unreadable']);
    expect(findings[0]?.message).toContain(why);
  });

  it.each([
    [BODY_DEPTH_MAX, true],
    [BODY_DEPTH_MAX + 1, false],
  ])('is read, and right for verify, down to the level that append takes: %d', async (levels, isRead) => {
    const value: Json = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
    const journal = await openHere(join(temporaryDirectory(), 'j.db'));
    const appending = journal.append([{ source: 'x', kind: 'MeshConfig', value }]);
    await appending.then(
      () => expect(isRead).toBe(true),
      () => expect(isRead).toBe(false),
    );
    const body = `{"value":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const given = await openHere(await hostile({ kind: 'MeshConfig', body }), { readonly: true });
    expect((await given.verify()).ok).toBe(isRead);
    const reading = readings[0]!;
    if (isRead) await reading(given);
    else await faultOf(reading, given);
  });

  it.each([
    ['keys of prototypes', '{"object":{"__proto__":{"a":1},"constructor":{"toString":2}}}'],
    ['numbers beyond all', '{"object":{"a":1e999,"b":-0}}'],
    ['lone surrogates', '{"object":{"\\ud800":"\\udc00"}}'],
  ])('is read with %s', async (_, body) => {
    const journal = await openHere(await hostile({ body }), { readonly: true });
    for (const reading of readings) await reading(journal);
    expect((await journal.verify()).ok).toBe(true);
    expect(({} as { readonly a?: number }).a).toBeUndefined();
  });
});

describe('a snapshot with hashes that are right', () => {
  const packed = (text: string | Buffer): string => deflateSync(text).toString('base64');
  it.each<[string, string, string]>([
    ['inflates to 200 megabytes', packed(Buffer.alloc(200 << 20, '[')), 'cannot be inflated'],
    ['inflates to too many characters', packed(Buffer.alloc(65 << 20, '[')), 'more than'],
    ['is not packed', 'garbage', 'cannot be inflated'],
    ['is nested 10,000 deep', packed(`[${deep}]`), 'no JSON array of facts'],
    ['holds no facts', packed('[1,null,"x"]'), 'no JSON array of facts'],
    ['names no source', packed('[{"fact":{}}]'), 'no JSON array of facts'],
  ])('is refused by readers and by verify if a segment %s', async (_, segment, why) => {
    const path = await hostile({ kind: 'Synced', body: '{}' }, [segment]);
    const journal = await openHere(path, { readonly: true });
    const reading = async (): Promise<unknown> => all((await journal.snapshots.read())!.facts);
    const { code, seq, message } = await faultOf(reading, journal);
    expect([code, seq]).toEqual(['damaged', 1]);
    expect(message).toContain(why);
    expect((await journal.verify()).findings).toMatchObject([{ kind: 'snapshot', column: 'snapshot_segment.body' }]);
  });

  it('is found if it has other than its number of facts', async () => {
    const path = await hostile({ kind: 'Synced', body: '{}' }, ['[{"fact":{},"source":"x"}]'], 1_000_000_000);
    const { findings } = await (await openHere(path, { readonly: true })).verify();
    expect(findings[0]?.message).toBe('snapshot 1: it has 1 facts, and its row says 1000000000');
  });
});
