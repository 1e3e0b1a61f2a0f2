// Every property runs from one seed. `npm test` uses the fixed one below, so that it gives the same result everywhere;
// `npm run test:hunt` (scripts/hunt.ts) sets a fresh one in PERIPLUS_SEED, and prints it when a property fails.
// PERIPLUS_RUNS asks for another number of runs. A counterexample that a hunt found is committed as data beside the
// test, passed as `examples` and replayed first.

import fc from 'fast-check';

const FIXED_SEED = 1;
const { PERIPLUS_SEED, PERIPLUS_RUNS } = process.env;

/** The seed of this run. */
export const seed = PERIPLUS_SEED === undefined ? FIXED_SEED : Number(PERIPLUS_SEED);

/** Parameters for fc.assert. fast-check prints the seed, the path and the shrunk counterexample of a failure. */
export function parameters<T>(numRuns: number, examples: T[] = []): fc.Parameters<T> {
  const runs = PERIPLUS_RUNS === undefined ? numRuns : Number(PERIPLUS_RUNS);
  return { seed, numRuns: runs, examples, verbose: fc.VerbosityLevel.None };
}
