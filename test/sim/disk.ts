// A disk that fails and forgets: the store in memory behind faults that a test or the simulator's seed decides. What has been committed
// stays on the platter; a machine that is switched off takes with it what was not.

import { JournalFault } from '../../src/journal/fault.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { JournalOnStore } from '../../src/journal/journal-on-store.ts';
import { MemoryStore } from '../../src/journal/memory-store.ts';
import type {
  Group,
  RawRow,
  RawSegment,
  Row,
  SegmentRow,
  SnapshotRow,
  Store,
  StoredHead,
} from '../../src/journal/store.ts';
import { Vault } from '../../src/journal/vault.ts';

/** What one write meets: `late` resolves when the disk gets round to it. */
export interface Fate {
  readonly fails: boolean;
  readonly late?: Promise<void>;
}

/** What outlives the process: the rows, and the key that private values are sealed with. */
export class Platter {
  readonly store = new MemoryStore();
  readonly vault: Vault;

  /** `vault`: of another platter, whose key this one shares. */
  constructor(vault = new Vault({ keyFile: undefined, recorded: undefined, readonly: false })) {
    this.vault = vault;
  }

  /** The journal as a process sees it that starts now. */
  open(clock: () => number, fate: () => Fate): { readonly journal: Journal; readonly disk: Disk } {
    const disk = new Disk(this.store, fate);
    return { journal: new JournalOnStore(disk, this.vault, clock), disk };
  }
}

export class Disk implements Store {
  readonly path = 'memory';
  readonly readonly = false;
  readonly #platter: MemoryStore;
  readonly #fate: () => Fate;
  #off = false;

  constructor(platter: MemoryStore, fate: () => Fate) {
    this.#platter = platter;
    this.#fate = fate;
  }

  get base(): MemoryStore['base'] {
    return this.#platter.base;
  }

  /** kill -9: what is under way never comes back, and leaves nothing. */
  switchOff(): void {
    this.#off = true;
  }

  acknowledged(): number | undefined {
    return undefined;
  }

  async commit(group: Group): Promise<StoredHead> {
    await this.#write();
    return this.#platter.commit(group);
  }

  async writeSegment(seq: number, segment: SegmentRow, keyCheck: string | undefined): Promise<void> {
    await this.#write();
    await this.#platter.writeSegment(seq, segment, keyCheck);
  }

  async writeSnapshot(row: SnapshotRow): Promise<void> {
    await this.#write();
    await this.#platter.writeSnapshot(row);
  }

  async dropSnapshot(seq: number): Promise<void> {
    await this.#write();
    await this.#platter.dropSnapshot(seq);
  }

  seqsOf(kind: string, from: number, to: number): readonly number[] {
    return this.#platter.seqsOf(kind, from, to);
  }

  async trim(to: number): Promise<boolean> {
    await this.#write();
    return this.#platter.trim(to);
  }

  async shrink(): Promise<void> {
    await this.#write();
  }

  async #write(): Promise<void> {
    const { fails, late } = this.#fate();
    await late;
    if (this.#off) await new Promise<never>(() => undefined);
    if (fails) throw new JournalFault('write-failed', 'no space left on this disk');
  }

  head(): StoredHead {
    return this.#platter.head();
  }

  recordedHead(): StoredHead {
    return this.#platter.recordedHead();
  }

  keyCheck(): string | undefined {
    return this.#platter.keyCheck();
  }

  page(from: number, to: number): readonly Row[] {
    return this.#platter.page(from, to);
  }

  ofKinds(kinds: readonly string[], from: number, to: number): readonly Row[] {
    return this.#platter.ofKinds(kinds, from, to);
  }

  containing(text: string, from: number, to: number): readonly Row[] {
    return this.#platter.containing(text, from, to);
  }

  rawPage(after: number): readonly RawRow[] {
    return this.#platter.rawPage(after);
  }

  hashAt(seq: number): Buffer | undefined {
    return this.#platter.hashAt(seq);
  }

  timeAt(seq: number): number | undefined {
    return this.#platter.timeAt(seq);
  }

  snapshots(): readonly SnapshotRow[] {
    return this.#platter.snapshots();
  }

  unfinishedSnapshots(): readonly number[] {
    return this.#platter.unfinishedSnapshots();
  }

  segment(seq: number, number: number): RawSegment | undefined {
    return this.#platter.segment(seq, number);
  }

  check(): readonly string[] {
    return this.#platter.check();
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}
