// The last event that was acknowledged, known outside the database: a line in a small file beside it, `<journal>.head`,
// written after each commit. So a journal that lost its end (its write-ahead log was cut off, an older copy was put in
// its place) or that was emptied is told from one that never had more.
//
// It is not synced: after a power cut it may be older than the journal, never newer than what was acknowledged. Written
// in place, at one length, so that a kill leaves the line before or the line after.

import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs';

export interface HeadRecord {
  readonly seq: number;
  /** Hex. */
  readonly hash: string;
}

const MAGIC = 'periplus-head-v1';
const LINE = /^periplus-head-v1 +(\d{1,16}) ([0-9a-f]{64})\n$/;
const SEQ_DIGITS = 16;
/** The journal's files are for the user who writes them. */
const OWNER_ONLY = 0o600;
const RECORD_BYTES_MAX = 256;
/** Never through a link, and without waiting for the reader of a pipe: what stands there may come from elsewhere. */
const OPENING = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function headRecordPath(journal: string): string {
  return `${journal}.head`;
}

/** Undefined: there is none that can be read. */
export function readHeadRecord(journal: string): HeadRecord | undefined {
  try {
    const found = statSync(headRecordPath(journal));
    if (!found.isFile() || found.size > RECORD_BYTES_MAX) return undefined;
    const [, seq, hash] = LINE.exec(readFileSync(headRecordPath(journal), 'latin1')) ?? [];
    return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
  } catch {
    return undefined;
  }
}

/** Writes it from now on. What cannot be written leaves an older line, which claims less. */
export class HeadRecorder {
  readonly #path: string;
  #file: number | undefined;

  constructor(journal: string) {
    this.#path = headRecordPath(journal);
  }

  write({ seq, hash }: HeadRecord): void {
    try {
      this.#file ??= openSync(this.#path, OPENING, OWNER_ONLY);
      writeSync(this.#file, `${MAGIC} ${String(seq).padStart(SEQ_DIGITS)} ${hash}\n`, 0, 'latin1');
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
