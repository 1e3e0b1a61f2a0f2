// States that took long to fold to, kept for the next process that asks: a journal of an incident is asked many times,
// and has no snapshots if it was imported. The journal is not touched: its states lie in files beside it, or in the
// user's cache folder where nothing may be written there.
//
// Invariants: a file is used only for the journal whose chain has its hash at its position, and only if it is
// authenticated with a key that this user alone has (in the cache folder), so it holds what folding gave: states may
// lie beside a journal that came from elsewhere. A file is there whole or not at all (renamed when it is written).
// Objects with private values (those of Secrets, and what the journal sealed because its writer marked it) are not
// copied into it: it names the event that the journal has them in, and a state with any other private value is not
// kept. Nothing depends on a file: what cannot be read is folded.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { isObject, type JsonObject } from '../core/base/json.ts';
import { Restoring } from '../core/fold/restore.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import { emptyState, type State } from '../core/state.ts';
import { inspect } from '../journal/codec.ts';
import type { Journal } from '../journal/journal.ts';
import { isSecret } from '../journal/private-values.ts';
import { holdsSealed, SEALED_IN_TEXT } from '../journal/vault.ts';
import { cacheFolder } from './cache-folder.ts';

/** Files of one journal; the oldest make room. */
export const STATE_FILES_MAX = 24;
/** Facts that one process writes at its end: some seconds of work at most. */
export const FACTS_WRITTEN_MAX = 100_000;
/** Of a file, unpacked; a larger one is not read. */
const FILE_BYTES_MAX = 448 * 1024 * 1024;
const FORMAT = 2;
const ENDING = '.facts';
/** Of the key, and of the code that a file begins with (HMAC-SHA-256 of the rest). */
const KEY_BYTES = 32;
export const CODE_BYTES = 32;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

interface Header {
  readonly format: number;
  readonly snapshotFormat: number;
  readonly seq: number;
  /** The journal's chain hash at `seq`. */
  readonly chain: string;
  readonly facts: number;
}

interface Line {
  readonly source: string;
  readonly fact: JsonObject;
  /** The event that has the fact's object, which is left out. */
  readonly objectAt?: number;
}

/** Undefined: the journal is no file, or PERIPLUS_NO_CACHE forbids to keep anything. */
export function stateCacheOf(journal: Journal, env: NodeJS.ProcessEnv = process.env): StateCache | undefined {
  if (journal.path === 'memory' || (env.PERIPLUS_NO_CACHE ?? '') !== '') return undefined;
  const digest = createHash('sha256').update(journal.path).digest('hex').slice(0, 16);
  const ofUser = join(cacheFolder(env), digest);
  return new StateCache(journal, [`${journal.path}.states`, ofUser], () => keyIn(cacheFolder(env)));
}

/** The user's key; made if there is none. Undefined: nothing can be kept there. Never rejects. */
export async function keyIn(folder: string): Promise<Buffer | undefined> {
  const path = join(folder, 'states.key');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Whole under its name, since another process may read it at once.
    const draft = `${path}.${randomBytes(8).toString('hex')}`;
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere) {
      await writeFile(draft, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' });
      await link(draft, path).catch(() => undefined);
      await rm(draft, { force: true });
    }
    const found = await stat(path);
    if (!found.isFile() || found.size !== KEY_BYTES) return undefined;
    return await readFile(path);
  } catch {
    return undefined;
  }
}

export class StateCache {
  readonly #journal: Journal;
  /** The first that can be written is written; all are read. */
  readonly #folders: readonly string[];
  readonly #keyOf: () => Promise<Buffer | undefined>;
  #key: Promise<Buffer | undefined> | undefined;
  #offered: State[] = [];

  /** `keyOf`: what files are authenticated with; undefined: none is read or written. */
  constructor(journal: Journal, folders: readonly string[], keyOf: () => Promise<Buffer | undefined>) {
    this.#journal = journal;
    this.#folders = folders;
    this.#keyOf = keyOf;
  }

  /** The newest kept state from `from` to `atMost`, both included. Never rejects: an unreadable file is passed over. */
  async nearest(atMost: number, from: number): Promise<State | undefined> {
    const files = (await Promise.all(this.#folders.map(filesIn))).flat();
    const fit = files.filter(({ seq }) => seq <= atMost && seq >= from).sort((a, b) => b.seq - a.seq);
    for (const { path, seq } of fit) {
      const state = await this.#read(path, seq).catch(() => undefined);
      if (state !== undefined) return state;
    }
    return undefined;
  }

  /** The state of a position of the journal, to be written by `write`. */
  offer(state: State): void {
    this.#offered.push(state);
  }

  /** Writes what was offered, the last position first, within limits. Never rejects: a cache may be left out. */
  async write(): Promise<void> {
    const states = this.#offered.sort((a, b) => b.seq - a.seq);
    this.#offered = [];
    let facts = 0;
    for (const state of states) {
      facts += state.records.size;
      if (facts > FACTS_WRITTEN_MAX && state !== states[0]) return;
      if (!(await this.#write(state).catch(() => false))) return;
    }
  }

  async #write(state: State): Promise<boolean> {
    const key = await this.#theKey();
    if (key === undefined) return false;
    const sealed = await sealedIn(this.#journal, state.seq);
    const lines = sealed === undefined ? undefined : linesOf(state, this.#journal.base().seq, sealed);
    const chain = await this.#hashAt(state.seq);
    if (lines === undefined || chain === undefined) return false;
    const header: Header = {
      format: FORMAT,
      snapshotFormat: SNAPSHOT_FORMAT,
      seq: state.seq,
      chain,
      facts: lines.length,
    };
    const text = [header, ...lines].map(line => JSON.stringify(line)).join('\n');
    const packed = await pack(text, { level: constants.Z_BEST_SPEED });
    const bytes = Buffer.concat([codeOf(key, packed), packed]);
    for (const folder of this.#folders) if (await writeIn(folder, state.seq, bytes)) return true;
    return false;
  }

  async #read(path: string, seq: number): Promise<State | undefined> {
    // A pipe is not opened: that would wait for its writer.
    const found = await stat(path);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return undefined;
    const key = await this.#theKey();
    if (key === undefined || found.size < CODE_BYTES) return undefined;
    const whole = await readFile(path);
    const packed = whole.subarray(CODE_BYTES);
    if (!timingSafeEqual(codeOf(key, packed), whole.subarray(0, CODE_BYTES))) return undefined;
    const bytes = await unpack(packed, { maxOutputLength: FILE_BYTES_MAX });
    const [first = '', ...lines] = bytes.toString('utf8').split('\n');
    const header = JSON.parse(first) as Header;
    if (header.format !== FORMAT || header.snapshotFormat > SNAPSHOT_FORMAT || header.seq !== seq) return undefined;
    if (header.facts !== lines.length || header.chain !== (await this.#hashAt(seq))) return undefined;
    const restoring = new Restoring(emptyState);
    for (const line of lines) {
      const { source, fact, objectAt } = JSON.parse(line) as Line;
      restoring.fact(source, objectAt === undefined ? fact : { ...fact, object: await this.#objectAt(objectAt) });
    }
    return restoring.finish();
  }

  #theKey(): Promise<Buffer | undefined> {
    this.#key ??= this.#keyOf();
    return this.#key;
  }

  async #hashAt(seq: number): Promise<string | undefined> {
    for await (const [event] of this.#journal.records({ from: seq, to: seq })) return event?.hash;
    return undefined;
  }

  async #objectAt(seq: number): Promise<JsonObject> {
    for await (const [event] of this.#journal.read({ from: seq, to: seq })) {
      if (event?.kind === 'Add' || event?.kind === 'Update') return event.object;
    }
    throw new Error(`event ${seq} has no object`);
  }
}

function codeOf(key: Buffer, packed: Uint8Array): Buffer {
  return createHmac('sha256', key).update(packed).digest();
}

/**
 * Events of objects up to `to` with values that the journal sealed. Undefined: other facts, or the snapshot that a
 * compacted journal begins with, have some beside those of Secrets, which no event can name.
 */
async function sealedIn(journal: Journal, to: number): Promise<ReadonlySet<number> | undefined> {
  const base = journal.base().seq;
  const sealed = new Set<number>();
  const first = base > 0 ? await journal.snapshots.read(base + 1, 'sealed') : undefined;
  for await (const page of first?.facts ?? []) {
    for (const { fact } of page) if (holdsSealed(JSON.stringify(withoutSecret(fact)))) return undefined;
  }
  const range = { from: base + 1, to, secrets: 'sealed', containing: SEALED_IN_TEXT } as const;
  for await (const page of journal.records(range)) {
    for (const { seq, kind } of page) {
      if (kind !== 'Add' && kind !== 'Update') return undefined;
      sealed.add(seq);
    }
  }
  return sealed;
}

/** Values of Secrets are found in the state itself. */
function withoutSecret({ object, ...rest }: JsonObject): JsonObject {
  return isObject(object) && isSecret(object) ? rest : { ...rest, ...(object === undefined ? {} : { object }) };
}

/** Undefined: it holds private values that cannot be named by an event. */
function linesOf(state: State, base: number, sealed: ReadonlySet<number>): readonly Line[] | undefined {
  const lines: Line[] = [];
  for (const { source, fact } of snapshotOf(state)) {
    const { object, ...rest } = fact;
    const objectAt = Number(fact.writtenAt ?? fact.at);
    const isMarked = sealed.has(objectAt) || sealed.has(Number(fact.at));
    const isNamed = isObject(object) && (isSecret(object) || isMarked);
    if (inspect(isNamed ? rest : fact, 'snapshot').isPrivate) return undefined;
    if (isObject(fact.refused) && sealed.has(Number(fact.refused.at))) return undefined;
    if (isNamed && objectAt <= base) return undefined;
    lines.push(isNamed ? { source, fact: rest, objectAt } : { source, fact });
  }
  return lines;
}

interface StateFile {
  readonly path: string;
  readonly seq: number;
}

async function filesIn(folder: string): Promise<readonly StateFile[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter(name => name.endsWith(ENDING) && /^\d+$/.test(name.slice(0, -ENDING.length)))
    .map(name => ({ path: join(folder, name), seq: Number(name.slice(0, -ENDING.length)) }));
}

/** False: the folder cannot be written. */
async function writeIn(folder: string, seq: number, bytes: Buffer): Promise<boolean> {
  const path = join(folder, `${seq}${ENDING}`);
  const unfinished = `${path}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Not through a link that came with a journal.
    await writeFile(unfinished, bytes, { mode: 0o600, flag: 'wx' });
    await rename(unfinished, path);
    await makeRoom(folder);
    return true;
  } catch {
    await rm(unfinished, { force: true }).catch(() => undefined);
    return false;
  }
}

async function makeRoom(folder: string): Promise<void> {
  const files = await filesIn(folder);
  if (files.length <= STATE_FILES_MAX) return;
  const aged = await Promise.all(files.map(async ({ path }) => ({ path, at: (await stat(path)).mtimeMs })));
  aged.sort((a, b) => a.at - b.at);
  for (const { path } of aged.slice(0, files.length - STATE_FILES_MAX)) await rm(path, { force: true });
}
