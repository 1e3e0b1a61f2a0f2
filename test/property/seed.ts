// Every property runs from a printed seed: `PERIPLUS_SEED=n npm test` replays it, `PERIPLUS_RUNS=n` asks for more runs. Counterexamples
// found once are committed beside the test as data and replayed first (`examples`).

import fc from 'fast-check';

const given = process.env.PERIPLUS_SEED;
const runs = process.env.PERIPLUS_RUNS;

/** One seed for the whole run of a test file, printed when a property fails. */
export const seed = given === undefined ? Date.now() % 0x7fffffff : Number(given);

/** Parameters for fc.assert. fast-check prints the seed, the path and the shrunk counterexample of a failure. */
export function parameters<T>(numRuns: number, examples: T[] = []): fc.Parameters<T> {
  return { seed, numRuns: runs === undefined ? numRuns : Number(runs), examples, verbose: fc.VerbosityLevel.None };
}
