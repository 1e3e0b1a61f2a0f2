// A journal that is kept in memory only: same interface, same chain, same sealing (with a key that dies with the
// process).

import type { Clock, Journal } from './journal.ts';
import { JournalOnStore } from './journal-on-store.ts';
import { MemoryStore } from './memory-store.ts';
import type { PrivatePaths } from './vault.ts';
import { Vault } from './vault.ts';

export interface MemoryOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Seals with this key file instead of a key of its own. */
  readonly keyFile?: string;
  readonly privatePaths?: PrivatePaths;
}

export function openMemoryJournal(options: MemoryOptions = {}): Journal {
  const { keyFile, privatePaths } = options;
  const vault = new Vault({ keyFile, recorded: undefined, readonly: false, privatePaths });
  return new JournalOnStore(new MemoryStore(), vault, options.clock ?? Date.now);
}
