// An exported journal becomes a journal file again. Every hash is computed anew and compared with the one in the text,
// so a changed, missing or added line is found and named. The file appears under its name only if everything is
// correct.

import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Json, JsonObject } from '../core/base/json.ts';
import { canonicalJson, isObject } from '../core/base/json.ts';
import { shapeProblem } from '../core/fact-shape.ts';
import { chainHash } from './chain.ts';
import { EXPORT_FORMAT, EXPORT_VERSION } from './export.ts';
import { checkNames } from './fact-names.ts';
import { errorText, JournalFault } from './fault.ts';
import { headRecordPath } from './head-record.ts';
import { ImportedSnapshot } from './import-snapshot.ts';
import { BODY_CHARS_MAX, BODY_DEPTH_MAX, type Durability, type Head } from './journal.ts';
import { isDeeperThan } from './json-text.ts';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import type { PendingRow, StoredBase } from './store.ts';
import { BRACKETS_MAX, isTime } from './stored-body.ts';

const GROUP_EVENTS = 1_000;
const BLANK_LINES_MAX = 1_000;
/** The line, and what it holds. */
const LINE_DEPTH_MAX = BRACKETS_MAX + 1;
const HASH_TEXT = /^[0-9a-f]{64}$/;

export interface ImportOptions {
  /** Default `full`. */
  readonly durability?: Durability;
}

/**
 * Creates `path` from the lines of an export. Faults: `bad-import` with the line, `cannot-open` if the file exists, or
 * the write-ahead log of another one that was there.
 * Sealed values stay sealed: put the key file of the exported journal beside it to read them.
 */
export async function importJournal(
  path: string,
  lines: Iterable<string> | AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<Head> {
  if (existsSync(path)) {
    throw new JournalFault('cannot-open', 'there is a file already; import into a new one', { path });
  }
  for (const left of [`${path}-wal`, `${path}-shm`]) {
    // SQLite would play the log of the other journal into this one.
    if (existsSync(left)) {
      throw new JournalFault('cannot-open', 'it is left of another journal: move it to where that one is', {
        path: left,
      });
    }
  }
  const draft = `${path}.importing`;
  removeJournal(draft);
  try {
    const head = await new Importer(draft, options.durability ?? 'full').run(lines);
    // Should the place have had another journal before, its record goes first: it is not that of the new one.
    rmSync(headRecordPath(path), { force: true });
    renameSync(draft, path);
    if (existsSync(headRecordPath(draft))) renameSync(headRecordPath(draft), headRecordPath(path));
    return head;
  } finally {
    removeJournal(draft);
  }
}

function removeJournal(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '.lock', '.lock-journal', '.head']) rmSync(path + suffix, { force: true });
}

class Importer {
  readonly #path: string;
  readonly #durability: Durability;
  #store: SqliteStore | undefined;
  #keyCheck: string | undefined;
  #snapshot: ImportedSnapshot | undefined;
  #rows: PendingRow[] = [];
  #firstSeq = 1;
  #seq = 0;
  #time = 0;
  #hash: Buffer = Buffer.alloc(0);
  #line = 0;
  #blank = 0;
  #ended = false;

  constructor(path: string, durability: Durability) {
    this.#path = path;
    this.#durability = durability;
  }

  async run(lines: Iterable<string> | AsyncIterable<string>): Promise<Head> {
    try {
      for await (const text of lines) {
        this.#line += 1;
        if (text.trim() !== '') await this.#take(text);
        else if (++this.#blank > BLANK_LINES_MAX) throw this.#bad(`more than ${BLANK_LINES_MAX} lines are blank`);
      }
      if (!this.#ended) throw this.#bad('the export is cut off: there is no end line');
      return { seq: this.#seq, time: this.#time, hash: this.#hash.toString('hex') };
    } finally {
      await this.#store?.close();
    }
  }

  async #take(text: string): Promise<void> {
    const value = this.#parse(text);
    if (this.#ended) throw this.#bad('there is more after the end line');
    if (this.#store === undefined) return this.#header(value);
    if (this.#snapshot !== undefined && !this.#snapshot.whole) {
      const wrong = this.#snapshot.take(value);
      if (wrong !== undefined) throw this.#bad(wrong);
      return;
    }
    if (isObject(value.snapshot)) return this.#startSnapshot(value.snapshot);
    if (isObject(value.end)) return this.#end(value.end);
    this.#event(value);
    if (this.#rows.length >= GROUP_EVENTS) await this.#flush(this.#store);
  }

  #parse(text: string): JsonObject {
    if (isDeeperThan(text, LINE_DEPTH_MAX)) throw this.#bad(`nested deeper than ${BODY_DEPTH_MAX} levels`);
    try {
      const value = JSON.parse(text) as Json;
      if (isObject(value)) return value;
    } catch {
      // Without the reason that JSON.parse gives: it quotes the text.
      throw this.#bad('not JSON');
    }
    throw this.#bad('not a JSON object');
  }

  async #header(value: JsonObject): Promise<void> {
    if (value.format !== EXPORT_FORMAT) throw this.#bad('not an exported Periplus journal');
    if (typeof value.version !== 'number' || value.version > EXPORT_VERSION) {
      throw this.#bad(`an export of version ${canonicalJson(value.version)}; this release reads ${EXPORT_VERSION}`);
    }
    const start = this.#chainPoint(value.start);
    this.#keyCheck = typeof value.keyCheck === 'string' ? value.keyCheck : undefined;
    this.#seq = start.seq;
    this.#firstSeq = start.seq + 1;
    this.#hash = start.hash;
    this.#store = await openSqliteStore(this.#path, {
      durability: this.#durability,
      readonly: false,
      fileBytesMax: undefined,
      start,
    });
  }

  #startSnapshot({ seq, format }: JsonObject): void {
    if (this.#snapshot !== undefined || this.#rows.length > 0 || seq !== this.#firstSeq || typeof format !== 'number') {
      throw this.#bad('a snapshot stands before the events, once, and is of the first of them');
    }
    this.#snapshot = new ImportedSnapshot(this.#firstSeq, format);
  }

  #event(value: JsonObject): void {
    const { seq, time, source, kind, body, hash } = value;
    if (seq !== this.#seq + 1) throw this.#bad(`seq ${this.#seq + 1} expected, ${canonicalJson(seq)} found`);
    if (typeof time !== 'number' || !isTime(time) || time < this.#time) {
      throw this.#bad(`the time of seq ${seq} is missing or goes back`, seq);
    }
    if (typeof source !== 'string' || typeof kind !== 'string' || !isObject(body)) {
      throw this.#bad('source, kind or body is missing', seq);
    }
    this.#checkNames(source, kind, seq);
    const problem = shapeProblem(kind, body);
    if (problem !== undefined) throw this.#bad(problem, seq);
    const text = canonicalJson(body);
    if (text.length > BODY_CHARS_MAX) throw this.#bad(`a body of more than ${BODY_CHARS_MAX} characters`, seq);
    const computed = chainHash(this.#hash, seq, time, source, kind, text);
    if (computed.toString('hex') !== hash) {
      throw this.#bad('the chain breaks: this event or its hash was changed', seq);
    }
    this.#rows.push([time, source, kind, text]);
    this.#seq = seq;
    this.#time = time;
    this.#hash = computed;
  }

  /** A name that `append` refuses, in an export that somebody wrote. */
  #checkNames(source: string, kind: string, seq: number): void {
    try {
      checkNames(source, kind);
    } catch (error) {
      throw this.#bad(errorText(error), seq);
    }
  }

  async #end(end: JsonObject): Promise<void> {
    const { seq, hash } = this.#chainPoint(end);
    if (seq !== this.#seq || !hash.equals(this.#hash)) {
      throw this.#bad(`the export is cut off: it should end at seq ${seq}, the last event is ${this.#seq}`);
    }
    if (this.#store !== undefined) {
      await this.#flush(this.#store);
      await this.#snapshot?.write(this.#store, this.#keyCheck);
    }
    this.#ended = true;
  }

  async #flush(store: SqliteStore): Promise<void> {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    const head = await store.commit({ firstSeq: this.#firstSeq, rows, keyCheck: this.#keyCheck });
    this.#firstSeq = head.seq + 1;
  }

  #chainPoint(value: Json | undefined): StoredBase {
    const { seq, hash } = isObject(value) ? value : {};
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) throw this.#bad('a seq is missing');
    if (typeof hash !== 'string' || !HASH_TEXT.test(hash)) throw this.#bad('a hash is missing');
    return { seq, hash: Buffer.from(hash, 'hex') };
  }

  #bad(why: string, seq?: number): JournalFault {
    return new JournalFault('bad-import', why, { line: this.#line, seq });
  }
}
