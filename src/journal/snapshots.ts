// Snapshots: canonical facts that replace all events up to a seq, so that a restart folds only the events after it.
//
// A snapshot is written segment by segment, each in a small transaction between the groups of events; the row that
// makes the segments a snapshot comes last. Reading checks every hash first and skips a damaged snapshot: an older one
// and more events give the same state (law 6).

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../core/base/json.ts';
import { segmentHash, snapshotHash } from './chain.ts';
import { encodeSnapshotFact, inspect } from './codec.ts';
import { JournalFault } from './fault.ts';
import type { Finding, Snapshot, SnapshotFact, SnapshotInfo, Snapshots } from './journal.ts';
import { segmentFacts, segmentsOf, segmentText } from './segments.ts';
import type { RawSegment, SnapshotRow, Store } from './store.ts';
import { holdsSealed, type Vault } from './vault.ts';

/** Format numbers are small; this many are tried to tell a changed format from a changed hash. */
const FORMATS_TRIED = 1_000;

type Secrets = NonNullable<Parameters<Snapshots['read']>[1]>;

/** Each throws if the journal does not allow it. */
interface AccessChecks {
  open(): void;
  writable(): void;
}

export class StoreSnapshots implements Snapshots {
  readonly #store: Store;
  readonly #vault: Vault;
  readonly #keyCheck: () => string | undefined;
  readonly #check: AccessChecks;
  /** Writes and deletions run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store, vault: Vault, keyCheck: () => string | undefined, check: AccessChecks) {
    this.#store = store;
    this.#vault = vault;
    this.#keyCheck = keyCheck;
    this.#check = check;
  }

  write(snapshot: { seq: number; format: number; facts: Iterable<SnapshotFact> }): Promise<SnapshotInfo> {
    return this.#serial(() => this.#write(snapshot.seq, snapshot.format, snapshot.facts));
  }

  drop(seq: number): Promise<void> {
    return this.#serial(() => this.#store.dropSnapshot(seq));
  }

  async #serial<A>(task: () => Promise<A>): Promise<A> {
    const run = this.#last.then(() => {
      this.#check.writable();
      return task();
    });
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #write(seq: number, format: number, facts: Iterable<SnapshotFact>): Promise<SnapshotInfo> {
    const chain = this.#store.hashAt(seq);
    const time = this.#store.timeAt(seq);
    if (chain === undefined || time === undefined) {
      throw new JournalFault('no-such-seq', 'no snapshot can be written here: the journal has no such event', {
        path: this.#store.path,
        seq,
      });
    }
    for (const left of [...this.#store.unfinishedSnapshots(), seq]) await this.#store.dropSnapshot(left);
    const hashes: Buffer[] = [];
    let count = 0;
    for (const segment of segmentsOf(this.#encoded(facts))) {
      const hash = segmentHash(segment.body);
      hashes.push(hash);
      count += segment.facts;
      await this.#store.writeSegment(seq, { number: hashes.length, body: segment.body, hash }, this.#keyCheck());
      await nextTurn();
    }
    const columns = { seq, format, time, facts: count, segments: hashes.length, chain };
    const row: SnapshotRow = { ...columns, hash: snapshotHash(columns, hashes) };
    await this.#store.writeSnapshot(row);
    return infoOf(row);
  }

  *#encoded(facts: Iterable<SnapshotFact>): Generator<string> {
    for (const fact of facts) yield encodeSnapshotFact(fact, this.#vault);
  }

  async list(): Promise<readonly SnapshotInfo[]> {
    this.#check.open();
    return this.#store.snapshots().map(infoOf);
  }

  async read(atMost = Number.MAX_SAFE_INTEGER, secrets: Secrets = 'unsealed'): Promise<Snapshot | undefined> {
    this.#check.open();
    const skipped: Finding[] = [];
    const candidates = this.#store.snapshots().filter(row => row.seq <= atMost);
    for (const row of candidates.reverse()) {
      const findings = await checkSnapshot(this.#store, row);
      if (findings.length === 0) return { info: infoOf(row), facts: this.#facts(row, secrets), skipped };
      skipped.push(...findings);
    }
    return undefined;
  }

  async *#facts(row: SnapshotRow, secrets: Secrets): AsyncGenerator<readonly SnapshotFact[]> {
    for (let number = 1; number <= row.segments; number += 1) {
      this.#check.open();
      const segment = this.#store.segment(row.seq, number);
      if (segment === undefined) {
        throw new JournalFault('damaged', `segment ${number} of the snapshot was deleted while it was read`, {
          path: this.#store.path,
          seq: row.seq,
        });
      }
      yield this.#decode(segment, row.seq, secrets);
      await nextTurn();
    }
  }

  #decode(segment: RawSegment, seq: number, secrets: Secrets): readonly SnapshotFact[] {
    const where = { path: this.#store.path, seq };
    const text = segmentText(segment.body, where);
    const items = segmentFacts(text, where);
    if (secrets === 'sealed' || (secrets === 'unsealed' && !holdsSealed(text))) return items;
    const shown = (fact: JsonObject): JsonObject =>
      secrets === 'redacted' ? this.#vault.redact(fact) : this.#vault.openFact(fact, seq);
    return items.map(({ source, fact }) => ({
      source,
      fact: inspect(fact, 'snapshot').isPrivate ? shown(fact) : fact,
    }));
  }
}

/** All findings about one snapshot. */
export async function checkSnapshot(store: Store, row: SnapshotRow): Promise<readonly Finding[]> {
  const { seq } = row;
  const finding = (column: string, message: string): Finding => ({ kind: 'snapshot', seq, column, message });
  const findings: Finding[] = [];
  const hashes: Buffer[] = [];
  for (let number = 1; number <= row.segments; number += 1) {
    const segment = store.segment(seq, number);
    if (segment === undefined) {
      const column = snapshotHash(row, hashes).equals(row.hash) ? 'snapshot.segments' : 'snapshot_segment.number';
      findings.push(finding(column, `snapshot ${seq}: segment ${number} is missing`));
      return findings;
    }
    hashes.push(segment.hash);
    if (!segmentHash(segment.body).equals(segment.hash)) {
      // The snapshot's hash, made of the segment hashes, tells which of the two was changed.
      const content = snapshotHash(row, await segmentHashes(store, row, number, segmentHash(segment.body)));
      const column = content.equals(row.hash) ? 'snapshot_segment.hash' : 'snapshot_segment.body';
      findings.push(finding(column, `snapshot ${seq}: segment ${number} was changed`));
    }
    await nextTurn();
  }
  if (store.segment(seq, row.segments + 1) !== undefined) {
    findings.push(finding('snapshot.segments', `snapshot ${seq}: has more segments than its row says`));
  }
  const chain = store.hashAt(seq);
  if (chain === undefined || !chain.equals(row.chain)) {
    const column = chain === undefined ? 'snapshot.seq' : 'snapshot.chain';
    findings.push(finding(column, `snapshot ${seq}: does not belong to the event of that seq`));
  }
  if (findings.length === 0 && !snapshotHash(row, hashes).equals(row.hash)) {
    findings.push(finding(changedColumn(store, row, hashes), `snapshot ${seq}: its row was changed`));
  }
  return findings;
}

/** What `verify` adds: the facts of an intact snapshot are read, and as many as its row says. */
export async function checkSnapshotFacts(store: Store, row: SnapshotRow): Promise<readonly Finding[]> {
  const { seq } = row;
  let facts = 0;
  try {
    for (let number = 1; number <= row.segments; number += 1) {
      const segment = store.segment(seq, number);
      const where = { path: store.path, seq };
      if (segment !== undefined) facts += segmentFacts(segmentText(segment.body, where), where).length;
      await nextTurn();
    }
  } catch (error) {
    if (!(error instanceof JournalFault)) throw error;
    return [{ kind: 'snapshot', seq, column: 'snapshot_segment.body', message: error.message }];
  }
  if (facts === row.facts) return [];
  const message = `snapshot ${seq}: it has ${facts} facts, and its row says ${row.facts}`;
  return [{ kind: 'snapshot', seq, column: 'snapshot.facts', message }];
}

/** The changed column: the one for which another plausible value restores the hash; else the hash itself. */
function changedColumn(store: Store, row: SnapshotRow, hashes: readonly Buffer[]): string {
  const mends = (columns: Partial<SnapshotRow>) => snapshotHash({ ...row, ...columns }, hashes).equals(row.hash);
  if (mends({ time: store.timeAt(row.seq) ?? row.time })) return 'snapshot.time';
  if (mends({ facts: countFacts(store, row) })) return 'snapshot.facts';
  for (let format = 0; format < FORMATS_TRIED; format += 1) if (mends({ format })) return 'snapshot.format';
  return 'snapshot.hash';
}

function countFacts(store: Store, row: SnapshotRow): number {
  let facts = 0;
  for (let number = 1; number <= row.segments; number += 1) {
    const segment = store.segment(row.seq, number);
    if (segment === undefined) continue;
    const where = { path: store.path, seq: row.seq };
    facts += segmentFacts(segmentText(segment.body, where), where).length;
  }
  return facts;
}

async function segmentHashes(store: Store, row: SnapshotRow, at: number, instead: Buffer): Promise<readonly Buffer[]> {
  const hashes: Buffer[] = [];
  for (let number = 1; number <= row.segments; number += 1) {
    const segment = number === at ? undefined : store.segment(row.seq, number);
    hashes.push(segment?.hash ?? instead);
    await nextTurn();
  }
  return hashes;
}

function infoOf(row: SnapshotRow): SnapshotInfo {
  return { ...row, chain: row.chain.toString('hex'), hash: row.hash.toString('hex') };
}
