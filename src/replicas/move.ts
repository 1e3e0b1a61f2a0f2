// A journal becomes a world log, and a world log a journal again: its facts of the world, in order, with the times at
// which they were recorded. What concerns the clients of one process stays behind.
//
// Of a mirror the facts are those that count: what an ignored entry said was never recorded in it. A journal that was
// compacted begins with what its snapshot holds.

import { isObject, type JsonObject } from '../core/base/json.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import type { Journal, SnapshotFact } from '../journal/journal.ts';
import { chainAfter, ENTRY_FORMAT, type EntryHeader, entryText, parseEntry } from './entry.ts';
import { isLocalSource, isWorldFact } from './which-log.ts';
import type { LogEntry, WorldLog } from './world-log.ts';

/** Facts and characters of one entry. */
const ENTRY_FACTS = 1_000;
const ENTRY_CHARS = 512 * 1024;
/** Who wrote the entries of the first term. */
export const MOVER = 'journal move';
const REPEATS_MAX = 20;

export type MoveProgress = (done: number, of: number) => void;

export class MoveFault extends Error {
  override readonly name = 'MoveFault';
}

/**
 * Writes a log that has no entry yet. Resolves with the number of its facts. Rejects with a MoveFault or JournalFault.
 */
export async function moveIntoLog(
  journal: Journal,
  log: WorldLog,
  { name, now, onProgress }: { readonly name: string; readonly now: () => number; readonly onProgress?: MoveProgress },
): Promise<number> {
  const last = await log.last();
  if (last > 0) throw new MoveFault(`${log.name} has entries, up to ${last}: a log begins with a move, or without one`);
  const writer = new LogWriter(log, name);
  await writer.write([], now(), true);
  const { seq: base } = journal.base();
  const head = journal.head().seq;
  let pending: Unrecorded[] = [];
  let time = 0;
  let facts = 0;
  const flush = async (): Promise<void> => {
    if (pending.length > 0) await writer.write(journal.toLines(pending), time, false);
    facts += pending.length;
    pending = [];
  };
  const add = async (fact: Unrecorded, at: number): Promise<void> => {
    if (!isWorldFact(fact) || isLocalSource(fact.source)) return;
    // An entry has one time, which its facts get where it is folded.
    if (at > time) await flush();
    pending.push(fact);
    time = Math.max(time, at);
    if (pending.length >= ENTRY_FACTS) await flush();
  };
  if (base > 0) {
    const snapshot = await journal.snapshots.read(base + 1);
    if (snapshot === undefined)
      throw new MoveFault(`${journal.path} begins after event ${base}, and its snapshot is missing`);
    for await (const page of snapshot.facts) {
      for (const fact of page.flatMap(factsOfSnapshot)) await add(fact, snapshot.info.time);
    }
  }
  const from = base > 0 ? base + 2 : 1;
  for await (const page of journal.read({ from })) {
    for (const event of page) await add(withoutPlace(event), event.time);
    onProgress?.(page.at(-1)?.seq ?? head, head);
  }
  await flush();
  return facts;
}

/** Appends what a log says to an empty journal, with the times of its entries. */
export async function moveOutOfLog(log: WorldLog, journal: Journal, onProgress?: MoveProgress): Promise<number> {
  if (journal.head().seq > 0) throw new MoveFault(`${journal.path} has events: name a file that is not there`);
  const last = await log.last();
  if (last === 0) throw new MoveFault(`${log.name} has no entry`);
  let facts = 0;
  let chain = '';
  let newest = { term: 0, writer: '' };
  const take = async (text: string): Promise<void> => {
    const entry = parseEntry(text);
    if (typeof entry === 'string') throw new MoveFault(`${log.name}: ${entry}`);
    const { header, lines } = entry;
    if (header.after !== chain) throw new MoveFault(`${log.name}: the chain breaks at entry ${header.id}`);
    chain = chainAfter(chain, text);
    const begins = header.begins === true && header.term > newest.term;
    if (begins) newest = header;
    if (!begins && (header.term !== newest.term || header.writer !== newest.writer)) return;
    await journal.appendCarried(journal.carriedFrom(lines, header.time));
    facts += lines.length;
  };
  await readTo(last, log, async ({ position, text }) => {
    await take(text);
    onProgress?.(position, last);
  });
  if (chain === '') throw new MoveFault(`${log.name} has no entry`);
  return facts;
}

/**
 * Gives every entry up to a position; the log may end with a part of an entry whose writer died. Rejects with the first
 * error of `take`, or a MoveFault if the log is lost.
 */
function readTo(last: number, log: WorldLog, take: (entry: LogEntry) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (result: () => void): void => {
      if (isOver) return;
      isOver = true;
      // Not at once: `follow` may give entries before it returns.
      setImmediate(() => following.stop().then(result, reject));
    };
    const passed = (position: number): void => {
      if (position >= last) end(resolve);
    };
    const following = log.follow(0, {
      onEntry: async entry => {
        if (isOver) return;
        try {
          await take(entry);
          passed(entry.position);
        } catch (error) {
          end(() => reject(error));
        }
      },
      onPassed: passed,
      onReachable: () => undefined,
      onLost: why => end(() => reject(new MoveFault(`${log.name}: ${why}`))),
    });
  });
}

class LogWriter {
  readonly #log: WorldLog;
  readonly #name: string;
  #position = 0;
  #chain = '';
  #entries = 0;
  #time = 0;

  constructor(log: WorldLog, name: string) {
    this.#log = log;
    this.#name = name;
  }

  async write(lines: readonly string[], time: number, begins: boolean): Promise<void> {
    for (const part of begins ? [lines] : partsBySize(lines)) await this.#entry(part, time, begins);
  }

  async #entry(lines: readonly string[], time: number, begins: boolean): Promise<void> {
    this.#time = Math.max(this.#time, begins ? 0 : time);
    const header: EntryHeader = {
      format: ENTRY_FORMAT,
      log: this.#name,
      id: `${this.#name}-${++this.#entries}`,
      writer: MOVER,
      term: 1,
      ...(begins ? { begins: true as const } : {}),
      time: this.#time,
      after: this.#chain,
      facts: lines.length,
    };
    const text = entryText({ header, lines });
    for (let tries = 0; ; tries++) {
      const appended = await this.#log.append(text, this.#position, header.id);
      if (appended.kind === 'written') {
        this.#position = appended.position;
        this.#chain = chainAfter(this.#chain, text);
        return;
      }
      if (appended.kind === 'conflict')
        throw new MoveFault(`something else writes ${this.#log.name}: stop every replica`);
      if (tries >= REPEATS_MAX) throw new MoveFault(`${this.#log.name} gives no answer: ${appended.why}`);
    }
  }
}

function* partsBySize(lines: readonly string[]): IterableIterator<readonly string[]> {
  let part: string[] = [];
  let chars = 0;
  for (const line of lines) {
    if (part.length > 0 && chars + line.length > ENTRY_CHARS) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(line);
    chars += line.length;
  }
  if (part.length > 0) yield part;
}

function withoutPlace(event: Event): Unrecorded {
  const { seq: _seq, time: _time, ...fact } = event;
  return fact as Unrecorded;
}

/** The facts that lead to what a snapshot holds of the world. */
function factsOfSnapshot({ source, fact }: SnapshotFact): readonly Unrecorded[] {
  const { kind, at: _at, ...rest } = fact;
  switch (kind) {
    case 'Object': {
      const versions = [fact, fact.refused].filter(isObject);
      return versions.flatMap(version => addOf(source, version));
    }
    case 'Engine':
    case 'Synced':
    case 'Malformed':
      return [{ source, kind, ...rest } as unknown as Unrecorded];
    case 'MeshConfig':
    case 'MeshNetworks': {
      const { value = null, layer, refused } = fact;
      const place = layer === undefined ? {} : { layer };
      const said = (of: unknown, reason?: unknown): Unrecorded =>
        ({ source, kind, value: of, ...place, ...(reason === undefined ? {} : { reason }) }) as unknown as Unrecorded;
      const isRefused = isObject(refused) && 'raw' in refused;
      return isRefused ? [said(value), said(refused.raw, refused.reason)] : [said(value)];
    }
    default:
      return [];
  }
}

/** `object` of an accepted version, `raw` of a refused one. */
function addOf(source: string, version: JsonObject): readonly Unrecorded[] {
  const object = version.object ?? version.raw;
  if (!isObject(object)) return [];
  const origin = isObject(version.origin) ? { origin: version.origin } : {};
  return [{ source, kind: 'Add', object, ...origin } as unknown as Unrecorded];
}
