// Which snapshots are kept: the newest, of older ones a few spread over all of history, and the one that a compacted journal begins with.

import { expect, test } from 'vitest';
import { OLDER_SNAPSHOTS_MAX, SNAPSHOTS_KEPT, superfluous } from '../../../src/runtime/snapshots.ts';

test('however long the history, few snapshots stay, and no gap between them is much longer than the others', () => {
  let kept: readonly number[] = [];
  for (let seq = 4_000; seq <= 4_000_000; seq += 4_000) {
    kept = [...kept, seq];
    const going = new Set(superfluous(kept, 0));
    kept = kept.filter(one => !going.has(one));
    expect(kept.length).toBeLessThanOrEqual(OLDER_SNAPSHOTS_MAX + SNAPSHOTS_KEPT);
  }
  expect(kept.slice(-SNAPSHOTS_KEPT)).toEqual([3_988_000, 3_992_000, 3_996_000, 4_000_000]);
  const gaps = kept.map((seq, i) => seq - (kept[i - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(4_000_000 / (OLDER_SNAPSHOTS_MAX / 4));
});

test('what a compacted journal begins with never goes', () => {
  const seqs = Array.from({ length: 60 }, (_, i) => 100 + i);
  expect(superfluous(seqs, 99)).not.toContain(100);
  expect(superfluous(seqs, 99)).toHaveLength(60 - OLDER_SNAPSHOTS_MAX - SNAPSHOTS_KEPT);
});
