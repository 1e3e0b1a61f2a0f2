// What a control plane acted on and could not record before it had to stop, in a folder on another disk
// (`--journal-spill`): one file for each journal, private values sealed, which the next start records before anything
// else.
//
// The file names the event that its facts follow. They get the seqs with which they were folded and served, so receipts
// among them verify; a file that does not follow the end of the journal is left where it is, and the log says so.

import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Unrecorded } from '../core/event.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from './log.ts';

const FORMAT = 'periplus-spill-v1';
const OWNER_ONLY = 0o600;
const OTHERS_WRITE = 0o002;
/** Read as one text. */
const SPILL_BYTES_MAX = 448 * 1024 * 1024;

interface Header {
  readonly format: string;
  /** The head of the journal when it was written. */
  readonly after: { readonly seq: number; readonly hash: string };
  readonly facts: number;
  /** Hex sha256 of the lines that follow. */
  readonly digest: string;
}

export function spillPath(folder: string, journal: Journal): string {
  return join(folder, `${basename(journal.path)}.spill`);
}

/**
 * Writes the facts that follow the journal's head, durably. Resolves with the file's path; rejects if it cannot be
 * written.
 */
export async function writeSpill(folder: string, journal: Journal, facts: readonly Unrecorded[]): Promise<string> {
  const lines = journal.toLines(facts);
  const { seq, hash } = journal.head();
  const header: Header = { format: FORMAT, after: { seq, hash }, facts: lines.length, digest: digestOf(lines) };
  const path = spillPath(folder, journal);
  const draft = `${path}.draft`;
  await mkdir(folder, { recursive: true });
  // Never into a file or through a link that is there.
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', OWNER_ONLY);
  try {
    await file.writeFile(`${[JSON.stringify(header), ...lines].join('\n')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  return path;
}

/** Records what a run before could not, if there is any. Rejects with a JournalFault if it cannot be recorded now. */
export async function recordSpill(folder: string, journal: Journal, log: Log): Promise<void> {
  const path = spillPath(folder, journal);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  const why = whyUnfit(found);
  if (why !== undefined) return log('error', `${path} ${why}; it is left as it is`);
  const read = readSpill(await readFile(path, 'utf8'));
  if (typeof read === 'string') return log('error', `${path} ${read}; it is left as it is`);
  const { header, lines } = read;
  const { seq, hash } = journal.head();
  if (header.after.seq !== seq || header.after.hash !== hash) {
    const place = `follows event ${header.after.seq}, and the journal ends at event ${seq}`;
    return log('error', `${path} ${place} or is another one; its ${header.facts} facts are not recorded`);
  }
  try {
    await journal.append(factsOf(journal, lines));
  } catch (error) {
    if (!(error instanceof JournalFault) || (error.code !== 'damaged' && error.code !== 'unfit-fact')) throw error;
    return log('error', `${path} holds what is no fact (${error.message}); it is left as it is`);
  }
  await rm(path);
  log('info', `${lines.length} facts of ${path}, which the last run could not record, are recorded now`);
}

function readSpill(text: string): { readonly header: Header; readonly lines: readonly string[] } | string {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  try {
    const header = JSON.parse(first) as Partial<Header>;
    if (header.format !== FORMAT) return 'is of no format that is known';
    const isWhole = header.digest === digestOf(lines) && header.facts === lines.length;
    return isWhole && header.after !== undefined ? { header: header as Header, lines } : 'was changed or cut off';
  } catch {
    return 'is no file of facts';
  }
}

/** What another may have put there is not recorded: its digest proves nothing of who wrote it. */
function whyUnfit(found: Stats): string | undefined {
  if (!found.isFile()) return 'is not a file';
  const own = process.getuid?.() ?? found.uid;
  if (found.uid !== own && found.uid !== 0) return `belongs to another user (uid ${found.uid})`;
  if ((found.mode & OTHERS_WRITE) !== 0) return 'can be written by every user';
  return found.size > SPILL_BYTES_MAX ? `is larger than ${SPILL_BYTES_MAX} bytes` : undefined;
}

/** Faults: `damaged`, `unfit-fact`. */
function factsOf(journal: Journal, lines: readonly string[]): readonly Unrecorded[] {
  try {
    return journal.fromLines(lines);
  } catch (error) {
    if (error instanceof JournalFault) throw error;
    throw new JournalFault('damaged', 'a line is not JSON, or nested too deep');
  }
}

function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
