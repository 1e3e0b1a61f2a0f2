// 20,000 random events through one state: none is fatal, a restart now and then changes nothing, and the same events
// give the same state. A million of them: npm run test:long.

import { expect, it } from 'vitest';
import { stateHash } from '../../src/offline/load-state.ts';
import { seed } from './seed.ts';
import { foldVolume } from './volume.ts';

const EVENTS = 20_000;

it(`${EVENTS} random events, seed ${seed}`, () => {
  const often = foldVolume(EVENTS, seed, 4);
  expect(often.failures).toEqual([]);
  expect(often.unlike).toEqual([]);
  expect(often.state.seq).toBe(EVENTS);
  expect(often.pushes).toBeGreaterThan(EVENTS / 100);
  expect(stateHash(foldVolume(EVENTS, seed, Number.POSITIVE_INFINITY).state)).toBe(stateHash(often.state));
});
