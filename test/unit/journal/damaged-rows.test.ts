// What verify says of rows behind a hole, where the chain proves nothing and only the sums of a row tell what was changed,
// and how much it says.

import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import type { PendingRow, RawRow } from '../../../src/journal/store.ts';
import { VERIFY_FINDINGS_MAX, verifyStore } from '../../../src/journal/verify.ts';

const rows = (count: number): readonly PendingRow[] =>
  Array.from({ length: count }, (_, i) => [i + 1, 'x', 'Synced', '{}'] as const);

class Damaged extends MemoryStore {
  readonly #damage: (row: RawRow) => RawRow | undefined;

  constructor(damage: (row: RawRow) => RawRow | undefined) {
    super();
    this.#damage = damage;
  }

  override rawPage(after: number): readonly RawRow[] {
    return super.rawPage(after).flatMap(row => this.#damage(row) ?? []);
  }
}

async function found(count: number, damage: (row: RawRow) => RawRow | undefined): Promise<readonly unknown[]> {
  const store = new Damaged(damage);
  await store.commit({ firstSeq: 1, rows: rows(count), keyCheck: undefined });
  const { ok, findings } = await verifyStore(store);
  expect(ok).toBe(findings.length === 0);
  return findings.map(({ kind, seq, column }) => [kind, seq, column]);
}

describe('verify', () => {
  const hole = ['hole', 2, 'event.seq'];
  const behindHole =
    (change: Partial<RawRow>) =>
    (row: RawRow): RawRow | undefined =>
      row.seq === 2 ? undefined : row.seq === 3 ? { ...row, ...change } : row;

  it('finds nothing wrong with a row behind a hole that is as it was', async () => {
    expect(await found(5, behindHole({}))).toEqual([hole]);
    expect(await found(5, row => row)).toEqual([]);
  });

  it.each<[string, Partial<RawRow>, string]>([
    ['the body', { body: Buffer.from('[]') }, 'event.body'],
    ['the time', { time: 9 }, 'event.time'],
    ['the source', { source: Buffer.from('y') }, 'event.source'],
    ['source and kind', { source: Buffer.from('y'), kind: Buffer.from('y') }, 'event.source, event.kind'],
    ['sums that are cut off', { sums: Buffer.alloc(3) }, 'event.sums'],
    ['a hash that is cut off', { hash: Buffer.alloc(3) }, 'event.hash'],
  ])('names what was changed behind a hole: %s', async (_what, change, column) => {
    expect(await found(3, behindHole(change))).toContainEqual(['changed', 3, column]);
  });

  it('reports a changed row once, and verifies the rest by what is stored', async () => {
    expect(await found(5, row => (row.seq === 3 ? { ...row, body: Buffer.from('[]') } : row))).toEqual([
      ['changed', 3, 'event.body'],
    ]);
    expect(await found(5, row => (row.seq === 3 ? { ...row, sums: Buffer.alloc(16) } : row))).toEqual([
      ['changed', 3, 'event.sums'],
    ]);
    expect(await found(5, row => (row.seq === 3 ? { ...row, hash: Buffer.alloc(32) } : row))).toEqual([
      ['changed', 3, 'event.hash'],
    ]);
  });

  it('says no more than its limit', async () => {
    const findings = await found(VERIFY_FINDINGS_MAX + 50, row => ({ ...row, body: Buffer.from('[]') }));
    expect(findings).toHaveLength(VERIFY_FINDINGS_MAX);
    expect(findings.at(-1)).toEqual(['changed', VERIFY_FINDINGS_MAX, 'event.body']);
  });
});
