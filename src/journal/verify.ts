// Reads everything and names what is wrong: which event, which column. It works on stored bytes, so that decoding hides
// nothing, and never throws because of what it finds.
//
// The chain tells that a row was changed, the sums beside it which column, and the next row whether the hash was. After
// a finding the chain continues from the stored hash, so one changed byte is one finding.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { chainHashOfBytes, columnSums, HASH_BYTES, SUMMED_COLUMNS } from './chain.ts';
import { errorText } from './fault.ts';
import type { Finding, Verdict } from './journal.ts';
import { checkSnapshot, checkSnapshotFacts } from './snapshots.ts';
import type { RawRow, Store, StoredBase, StoredHead } from './store.ts';
import { unreadableColumn } from './stored-body.ts';

export const VERIFY_FINDINGS_MAX = 100;

interface Cursor {
  readonly findings: Finding[];
  readonly headSeq: number;
  /** The stored hash of the row before; undefined after a hole. */
  previous: Buffer | undefined;
  /** The computed hash of the row before, if it differs from the stored one. */
  recomputed: Buffer | undefined;
  /** Index of a finding "the hash was changed" that the next row has not confirmed yet. */
  suspect: number | undefined;
  expectedSeq: number;
  time: number;
  events: number;
  beyondHead: boolean;
}

export async function verifyStore(store: Store, onProgress?: (done: number, of: number) => void): Promise<Verdict> {
  const findings: Finding[] = [];
  let events = 0;
  let snapshots = 0;
  const acknowledged = store.acknowledged() ?? 0;
  try {
    for (const message of store.check()) findings.push({ kind: 'file', message: `${store.path}: ${message}` });
    events = await verifyEvents(store, findings, onProgress);
    snapshots = await verifySnapshots(store, findings);
  } catch (error) {
    findings.push({ kind: 'file', message: `${store.path}: reading stopped: ${errorText(error)}` });
  }
  const { seq, time, hash } = store.recordedHead();
  if (acknowledged > seq && findings.length === 0) {
    const message = `seq ${seq + 1} to ${acknowledged} are missing: they were acknowledged, as the record beside the file says`;
    findings.push({ kind: 'lost-tail', seq: seq + 1, message });
  }
  return {
    ok: findings.length === 0,
    events,
    snapshots,
    head: { seq, time, hash: hash.toString('hex') },
    findings: findings.slice(0, VERIFY_FINDINGS_MAX),
  };
}

async function verifyEvents(
  store: Store,
  findings: Finding[],
  onProgress?: (done: number, of: number) => void,
): Promise<number> {
  const head = store.recordedHead();
  const start = store.base;
  const cursor: Cursor = {
    findings,
    headSeq: head.seq,
    previous: start.hash,
    recomputed: undefined,
    suspect: undefined,
    expectedSeq: start.seq + 1,
    time: 0,
    events: 0,
    beyondHead: false,
  };
  // Rows up to the base are what an interrupted compaction has not deleted yet.
  let after = start.seq === 0 ? Number.MIN_SAFE_INTEGER : start.seq;
  let base = start;
  for (;;) {
    // Another process may append meanwhile: events above the head at the start are not checked.
    const now = store.head().seq;
    const page = store.rawPage(after).filter(row => row.seq <= head.seq || row.seq > now);
    // Read after the page: events that a compaction deleted before are behind it.
    base = store.base;
    if (base.seq >= cursor.expectedSeq) goOnBehind(cursor, base);
    if (page.length === 0 || findings.length >= VERIFY_FINDINGS_MAX) break;
    for (const row of page) if (base.seq === start.seq || row.seq > base.seq) verifyRow(cursor, row);
    after = page.at(-1)!.seq;
    onProgress?.(cursor.events, head.seq - start.seq);
    await nextTurn();
  }
  // Another process may have forgotten what was the last event at the start.
  if (base.seq === start.seq || base.seq < head.seq) verifyEnd(cursor, head);
  return cursor.events;
}

/** Another process forgot the events up to the new base: they are not missing. */
function goOnBehind(cursor: Cursor, base: StoredBase): void {
  cursor.previous = base.hash;
  cursor.recomputed = undefined;
  cursor.suspect = undefined;
  cursor.expectedSeq = base.seq + 1;
}

function verifyRow(cursor: Cursor, row: RawRow): void {
  const beyond = row.seq > cursor.headSeq;
  const belongs = !beyond || follows(cursor.previous, row);
  if (row.seq < cursor.expectedSeq || !belongs) {
    cursor.findings.push({
      kind: 'changed',
      seq: row.seq,
      column: 'event.seq',
      message: `seq ${row.seq}: no event belongs here; the column event.seq was changed, or the row was added`,
    });
    return;
  }
  if (beyond && !cursor.beyondHead) {
    cursor.beyondHead = true;
    cursor.findings.push(metaFinding(cursor.headSeq, 'head_seq', 'there are later events'));
  }
  cursor.events += 1;
  if (row.seq > cursor.expectedSeq) {
    cursor.findings.push(holeFinding(cursor.expectedSeq, row.seq - 1));
    cursor.previous = undefined;
    cursor.recomputed = undefined;
  }
  verifyContent(cursor, row);
  cursor.expectedSeq = row.seq + 1;
}

function verifyContent(cursor: Cursor, row: RawRow): void {
  const { previous, recomputed } = cursor;
  const byStored = follows(previous, row);
  const sums = changedBySums(row);
  const intact = previous === undefined ? sums.length === 0 : byStored || follows(recomputed, row);
  if (byStored) amendSuspect(cursor, row.seq - 1);
  cursor.suspect = undefined;
  const unreadable = intact && sums.length === 0 ? unreadableColumn(row) : undefined;
  if (sums.length > 0) cursor.findings.push(changed(row.seq, intact ? ['sums'] : sums));
  else if (!intact) cursor.suspect = cursor.findings.push(changed(row.seq, ['hash'])) - 1;
  else if (unreadable !== undefined) cursor.findings.push(unreadableFinding(row.seq, ...unreadable));
  else if (row.time < cursor.time) cursor.findings.push(timeFinding(row.seq, row.time, cursor.time));
  cursor.recomputed = intact || previous === undefined ? undefined : chainHashOfBytes(recomputed ?? previous, row);
  cursor.previous = row.hash;
  // A changed time is one finding: later rows are not compared with it.
  if (intact) cursor.time = Math.max(cursor.time, row.time);
}

function follows(previous: Buffer | undefined, row: RawRow): boolean {
  return previous !== undefined && chainHashOfBytes(previous, row).equals(row.hash);
}

/** The next row confirms the stored hash, so the content was changed, and its sums with it. */
function amendSuspect(cursor: Cursor, seq: number): void {
  if (cursor.suspect === undefined) return;
  cursor.findings[cursor.suspect] = {
    kind: 'changed',
    seq,
    column: SUMMED_COLUMNS.map(name => `event.${name}`).join(', '),
    message: `seq ${seq}: the content was changed after it was written, and its sums were adapted to it`,
  };
}

function changed(seq: number, columns: readonly string[]): Finding {
  const column = columns.map(name => `event.${name}`).join(', ');
  return { kind: 'changed', seq, column, message: `seq ${seq}: the column ${column} was changed after it was written` };
}

function changedBySums(row: RawRow): readonly string[] {
  const sums = columnSums(row.time, row.source, row.kind, row.body);
  if (row.sums.length !== sums.length) return ['sums'];
  if (row.hash.length !== HASH_BYTES) return ['hash'];
  return SUMMED_COLUMNS.filter(
    (_, index) => !sums.subarray(index * 4, index * 4 + 4).equals(row.sums.subarray(index * 4, index * 4 + 4)),
  );
}

function holeFinding(from: number, to: number): Finding {
  const what = from === to ? `seq ${from} is missing` : `seq ${from} to ${to} are missing`;
  return { kind: 'hole', seq: from, column: 'event.seq', message: what };
}

function unreadableFinding(seq: number, column: string, why: string): Finding {
  const message = `seq ${seq}: the column event.${column} holds what no journal writes: ${why}`;
  return { kind: 'unreadable', seq, column: `event.${column}`, message };
}

function timeFinding(seq: number, time: number, before: number): Finding {
  return {
    kind: 'time-went-back',
    seq,
    column: 'event.time',
    message: `seq ${seq}: time ${time} is before ${before}, the time of an earlier event`,
  };
}

function verifyEnd(cursor: Cursor, head: StoredHead): void {
  if (cursor.expectedSeq <= head.seq) {
    cursor.findings.push({
      kind: 'lost-tail',
      seq: cursor.expectedSeq,
      message: `seq ${cursor.expectedSeq} to ${head.seq} are missing: the journal recorded ${head.seq} as its last event`,
    });
    return;
  }
  if (cursor.beyondHead || cursor.previous === undefined) return;
  if (cursor.previous.equals(head.hash)) amendSuspect(cursor, head.seq);
  else if (cursor.recomputed === undefined || !cursor.recomputed.equals(head.hash)) {
    cursor.findings.push(metaFinding(head.seq, 'head_hash', 'it is not the hash of that event'));
  }
  if (head.time !== cursor.time && cursor.findings.length === 0) {
    cursor.findings.push(metaFinding(head.seq, 'head_time', 'it is not the time of that event'));
  }
}

function metaFinding(seq: number, name: string, why: string): Finding {
  const message = `what the journal records of its last event (meta.${name}, seq ${seq}) is wrong: ${why}`;
  return { kind: 'meta', seq, column: `meta.${name}`, message };
}

async function verifySnapshots(store: Store, findings: Finding[]): Promise<number> {
  const rows = store.snapshots();
  let checked = rows.length;
  for (const row of rows) {
    const changed = await checkSnapshot(store, row);
    const found = changed.length === 0 ? await checkSnapshotFacts(store, row) : changed;
    // Another process may have dropped it while it was read.
    if (found.length === 0 || store.snapshots().some(one => isDeepStrictEqual(one, row))) findings.push(...found);
    else checked -= 1;
  }
  return checked;
}
