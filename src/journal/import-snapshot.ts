// Imports the snapshot that an exported range begins with: its facts as stored, private values still sealed.

import { createHash, type Hash } from 'node:crypto';
import type { JsonObject } from '../core/base/json.ts';
import { canonicalJson, isObject } from '../core/base/json.ts';
import { segmentHash, snapshotHash } from './chain.ts';
import { segmentsOf } from './segments.ts';
import type { SnapshotRow, Store } from './store.ts';

export class ImportedSnapshot {
  readonly seq: number;
  readonly #format: number;
  readonly #facts: string[] = [];
  readonly #hash: Hash = createHash('sha256');
  /** The hash over the facts was present and correct. */
  whole = false;

  constructor(seq: number, format: number) {
    this.seq = seq;
    this.#format = format;
  }

  /** The problem of the line, if it has one. */
  take(line: JsonObject): string | undefined {
    if (typeof line.snapshotHash === 'string') {
      this.whole = this.#hash.digest('hex') === line.snapshotHash;
      return this.whole ? undefined : 'the snapshot or its hash was changed';
    }
    if (typeof line.source !== 'string' || !isObject(line.fact)) return 'a fact of the snapshot expected';
    const text = canonicalJson({ source: line.source, fact: line.fact });
    this.#hash.update(`${text}\n`);
    this.#facts.push(text);
    return undefined;
  }

  /** Call it when the event at the snapshot's seq is stored. */
  async write(store: Store, keyCheck: string | undefined): Promise<void> {
    const chain = store.hashAt(this.seq);
    const time = store.timeAt(this.seq);
    if (chain === undefined || time === undefined) return;
    const hashes: Buffer[] = [];
    for (const { body } of segmentsOf(this.#facts)) {
      const hash = segmentHash(body);
      hashes.push(hash);
      await store.writeSegment(this.seq, { number: hashes.length, body, hash }, keyCheck);
    }
    const { seq } = this;
    const columns = { seq, format: this.#format, time, facts: this.#facts.length, segments: hashes.length, chain };
    const row: SnapshotRow = { ...columns, hash: snapshotHash(columns, hashes) };
    await store.writeSnapshot(row);
  }
}
