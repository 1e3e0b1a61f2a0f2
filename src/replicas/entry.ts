// The text of an entry of the world log: a line that says who wrote it, when and on top of what, then one line a fact
// as the journal seals it.
//
// Each entry names the chain before it, so a follower notices a log that was cut, replaced or written by another
// history at the first entry that does not fit. The chain covers the text as it is stored, never a text made again.

import { createHash } from 'node:crypto';

export const ENTRY_FORMAT = 1;

export interface EntryHeader {
  readonly format: number;
  /** Of the log: given by its first entry. */
  readonly log: string;
  /** Of this entry: equal only if it is appended again. */
  readonly id: string;
  readonly writer: string;
  readonly term: number;
  /** It begins the term. */
  readonly begins?: true;
  /** Milliseconds since the epoch, never less than that of the entry before. */
  readonly time: number;
  /** The chain before this entry; empty for the first. */
  readonly after: string;
  readonly facts: number;
}

export interface Entry {
  readonly header: EntryHeader;
  /** As Journal.toLines gives them. */
  readonly lines: readonly string[];
}

export function entryText({ header, lines }: Entry): string {
  return [JSON.stringify(header), ...lines].join('\n');
}

/** The entry, or the reason why the text is none. */
export function parseEntry(text: string): Entry | string {
  const [first = '', ...lines] = text.split('\n');
  let header: Partial<EntryHeader> | null;
  try {
    header = JSON.parse(first) as Partial<EntryHeader> | null;
  } catch {
    return 'its first line is not JSON';
  }
  if (header === null || typeof header !== 'object') return 'its first line is no header';
  if (header.format !== ENTRY_FORMAT) return `it is of format ${String(header.format)}, and ${ENTRY_FORMAT} is known`;
  for (const [name, type] of FIELDS) {
    if (typeof header[name] !== type) return `its header has no ${name}`;
  }
  if (header.facts !== lines.length) return `it has ${lines.length} facts, and its header says ${header.facts}`;
  return { header: header as EntryHeader, lines };
}

const FIELDS: readonly (readonly [keyof EntryHeader, 'string' | 'number'])[] = [
  ['log', 'string'],
  ['id', 'string'],
  ['writer', 'string'],
  ['term', 'number'],
  ['time', 'number'],
  ['after', 'string'],
  ['facts', 'number'],
];

/** Hex sha256. `before`: of the entry before, empty for the first. */
export function chainAfter(before: string, text: string): string {
  return createHash('sha256').update(`periplus-world/1\n${before}\n`).update(text, 'utf8').digest('hex');
}
