// A few hundred seeds of the simulator: what `npm test` has no time for. Seeds apart from those of
// test/sim/sim.test.ts; one that breaks a law is seen again with `npm run sim -- --seed N --steps M`.

import { expect, test } from 'vitest';
import { simulate } from '../sim/simulation.ts';

const FIRST = 10_001;
const RUNS = 300;
const STEPS = 40;

test(`the simulation keeps every law for ${RUNS} seeds`, { timeout: 900_000 }, async () => {
  let responses = 0;
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    const { broken, trace, counts } = await simulate({ seed, steps: STEPS });
    responses += counts.responses ?? 0;
    if (broken !== undefined) {
      expect.fail(`${trace.join('\n')}\n\n${broken}\nagain: npm run sim -- --seed ${seed} --steps ${STEPS}`);
    }
  }
  expect(responses).toBeGreaterThan(10 * RUNS);
});
