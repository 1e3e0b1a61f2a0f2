// Opening a journal file. Everything above the journal imports from here, journal.ts, memory-journal.ts, export.ts, import.ts.

import type { Clock, Durability, Journal } from './journal.ts';

export interface OpenOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default `full`. */
  readonly durability?: Durability;
  /** Default: `<path>.key`. Created (0600) when the first private value is sealed. */
  readonly keyFile?: string;
  /** For looking only: takes no lock, may be used while another process writes. */
  readonly readonly?: boolean;
  /** The file never grows beyond this; appends that would are `write-failed`. Default: no limit but the disk's. */
  readonly fileBytesMax?: number;
}

/** Creates the file if there is none (unless `readonly`). Rejects with a JournalFault: cannot-open, locked, foreign, … */
export declare function openJournal(path: string, options?: OpenOptions): Promise<Journal>;
