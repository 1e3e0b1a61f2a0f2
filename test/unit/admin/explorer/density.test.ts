// The timeline's histogram in time, of a journal that is not indexed yet: exact, and at the cost of a few reads.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Density } from '../../../../src/admin/explorer/api.ts';
import { densityOf } from '../../../../src/admin/explorer/density.ts';
import { EventIndex } from '../../../../src/admin/explorer/event-index.ts';
import { filterOf } from '../../../../src/admin/explorer/filter.ts';
import { Verdicts } from '../../../../src/admin/explorer/verdicts.ts';
import type { Journal } from '../../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../../src/journal/memory-journal.ts';

/** A journal whose events come with these distances in time. */
async function journalOf(distances: readonly number[]): Promise<Journal> {
  let now = 1_000;
  let next = 0;
  const journal = openMemoryJournal({ clock: () => (now += distances[next++] ?? 0) });
  for (const _ of distances) await journal.append([{ source: 'test', kind: 'Synced' }]);
  return journal;
}

function byTime(index: EventIndex, buckets: number): Density {
  const filter = filterOf(new URLSearchParams());
  const to = index.journal.head().seq;
  return densityOf(index, new Verdicts(index), { by: 'time', split: 'kind', buckets, from: 1, to, filter });
}

const edgesOf = ({ buckets }: Density): readonly (readonly number[])[] =>
  buckets.map(({ from, to, fromTime, toTime, events }) => [from, to, fromTime, toTime, events]);

describe('a histogram in time', () => {
  it('puts each event into the bucket of its time, indexed or not', async () => {
    const distances = fc.array(fc.oneof(fc.constant(0), fc.constant(10), fc.nat({ max: 5_000 })), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(distances, fc.integer({ min: 1, max: 40 }), async (some, count) => {
        const journal = await journalOf(some);
        const index = new EventIndex(journal);
        const density = byTime(index, count);
        const [start, end] = [density.from.time, density.to.time];
        for (const [i, bucket] of density.buckets.entries()) {
          for (let seq = bucket.from; seq <= bucket.to; seq++) {
            const time = journal.timeAt(seq)!;
            expect(time).toBeGreaterThanOrEqual(i === 0 ? start : start + ((end - start) * i) / count);
            if (i + 1 < count) expect(time).toBeLessThan(start + ((end - start) * (i + 1)) / count);
          }
        }
        expect(density.buckets.reduce((sum, { events }) => sum + events, 0)).toBe(some.length);
        while (await index.deepen());
        expect(edgesOf(byTime(index, count))).toEqual(edgesOf(density));
      }),
      { seed: 23, numRuns: 60 },
    );
  });

  it('reads a few events a bucket where they come evenly, and none of them again', async () => {
    const journal = await journalOf(Array.from({ length: 5_000 }, () => 10));
    let reads = 0;
    const counting = Object.create(journal, {
      head: { value: () => journal.head() },
      base: { value: () => journal.base() },
      timeAt: { value: (seq: number) => journal.timeAt(++reads && seq) },
      records: { value: () => expect.unreachable('a whole event was read') },
    }) as Journal;
    const index = new EventIndex(counting);
    byTime(index, 200);
    expect(reads).toBeLessThan(3 * 200);
    reads = 0;
    byTime(index, 200);
    expect(reads).toBe(0);
  });
});
