// What can go wrong with a journal: each fault says for the operator what is wrong, where, and what to do.
//
// Invariant: a fault never quotes a stored value, since bodies may contain secrets and faults are logged.

export type JournalFaultCode =
  /** The file (or its directory, or its key file) cannot be opened or created. */
  | 'cannot-open'
  /** Another process, or another journal object of this process, writes this file, or could by another name of it. */
  | 'locked'
  /** The file is empty or gone, and the record beside it says that it held events. */
  | 'emptied'
  /** Not a Periplus journal. */
  | 'foreign'
  /** Written by a newer release. */
  | 'newer-format'
  /** Truncated, corrupt, a hole, a broken chain; `seq` says where, if that is known. */
  | 'damaged'
  /** The journal was opened for reading only. */
  | 'read-only'
  /** The journal was closed. */
  | 'closed'
  /** Disk full, I/O error, or the writer thread died. Nothing of the batch is stored; a later append may succeed. */
  | 'write-failed'
  /** More than QUEUE_WAITING_MAX appends wait: the caller does not await them. */
  | 'overloaded'
  /** A fact that cannot be recorded (too large, nested too deep, a source with control characters). */
  | 'unfit-fact'
  /** The key file holds another key than the one this journal was sealed with. */
  | 'wrong-key'
  /** The journal has sealed values and its key file is missing. */
  | 'key-missing'
  /** The text is not an export, or an incomplete or changed one. */
  | 'bad-import'
  /** The journal has no event with this seq. */
  | 'no-such-seq';

export interface FaultPlace {
  /** The file concerned. */
  readonly path?: string;
  /** The event concerned. */
  readonly seq?: number;
  /** The line of an import, from 1. */
  readonly line?: number;
  readonly cause?: unknown;
}

export class JournalFault extends Error {
  override readonly name = 'JournalFault';
  readonly code: JournalFaultCode;
  readonly path: string | undefined;
  readonly seq: number | undefined;
  readonly line: number | undefined;

  /** `message`: what is wrong and what to do; the place is prepended. */
  constructor(code: JournalFaultCode, message: string, place: FaultPlace = {}) {
    const where = [
      place.path,
      place.line === undefined ? undefined : `line ${place.line}`,
      place.seq === undefined ? undefined : `seq ${place.seq}`,
    ].filter(part => part !== undefined);
    super(
      where.length === 0 ? message : `${where.join(', ')}: ${message}`,
      place.cause === undefined ? undefined : { cause: place.cause },
    );
    this.code = code;
    this.path = place.path;
    this.seq = place.seq;
    this.line = place.line;
  }
}

/** The code that SQLite and node:fs put on their errors, e.g. `SQLITE_FULL`, `ENOSPC`. */
export function errorCode(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return '';
}

export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = errorCode(error);
  return code === '' || text.includes(code) ? text : `${code}: ${text}`;
}
