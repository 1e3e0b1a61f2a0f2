// A million random events through one state, in bounded memory: the world is small, so whatever grows with the history
// is a leak.

import { expect, it } from 'vitest';
import { seed } from '../property/seed.ts';
import { foldVolume } from '../property/volume.ts';

const EVENTS = Number(process.env.PERIPLUS_EVENTS ?? 1_000_000);
/** Between the first and the last tenth of the run, garbage not yet collected included. */
const GROWTH_BYTES_MAX = 150 * 1024 * 1024;

it(`${EVENTS} random events, seed ${seed}`, () => {
  const { state, failures, unlike, heap } = foldVolume(EVENTS, seed, 50);
  expect(failures).toEqual([]);
  expect(unlike).toEqual([]);
  expect(state.seq).toBeGreaterThanOrEqual(EVENTS);
  const tenth = Math.max(1, Math.floor(heap.length / 10));
  const least = (part: readonly number[]): number => Math.min(...part);
  expect(least(heap.slice(-tenth)) - least(heap.slice(0, tenth))).toBeLessThan(GROWTH_BYTES_MAX);
});
