// What a control plane acted on and could not record before it had to stop, in a folder on another disk
// (`--journal-spill`): one file for each journal, private values sealed, which the next start records before anything
// else.
//
// The file names the event that its facts follow. They get the seqs with which they were folded and served, so receipts
// among them verify; a file that does not follow the end of the journal is left where it is, and the log says so.

import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Unrecorded } from '../core/event.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from './log.ts';

const FORMAT = 'periplus-spill-v1';
const OWNER_ONLY = 0o600;

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
  const file = await open(draft, 'w', OWNER_ONLY);
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
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const read = readSpill(text);
  if (typeof read === 'string') return log('error', `${path} ${read}; it is left as it is`);
  const { header, lines } = read;
  const { seq, hash } = journal.head();
  if (header.after.seq !== seq || header.after.hash !== hash) {
    const place = `follows event ${header.after.seq}, and the journal ends at event ${seq}`;
    return log('error', `${path} ${place} or is another one; its ${header.facts} facts are not recorded`);
  }
  await journal.append(journal.fromLines(lines));
  await rm(path);
  log('info', `${lines.length} facts of ${path}, which the last run could not record, are recorded now`);
}

function readSpill(text: string): { readonly header: Header; readonly lines: readonly string[] } | string {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  try {
    const header = JSON.parse(first) as Header;
    if (header.format !== FORMAT) return 'is of no format that is known';
    return header.digest === digestOf(lines) ? { header, lines } : 'was changed or cut off';
  } catch {
    return 'is no file of facts';
  }
}

function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}
