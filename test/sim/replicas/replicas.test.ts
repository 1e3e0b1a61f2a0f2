// Runs of three replicas on one faulty log, and mistakes made on purpose that they must find. `PERIPLUS_SEED=n` begins
// at another seed, `PERIPLUS_RUNS=n` sets the number of runs; `npm run sim -- --replicas 3 --seed N --steps M` repeats
// a single one.

import { describe, expect, test } from 'vitest';
import type { Outcome } from '../simulation.ts';
import { type ReplicaCanary, simulateReplicas } from './simulation.ts';

const FIRST = Number(process.env.PERIPLUS_SEED ?? 1);
const COUNT = Number(process.env.PERIPLUS_RUNS ?? 25);
const STEPS = 30;
const REPLICAS = 3;

/** Seeds that once broke a law, replayed first. */
const FOUND: readonly { readonly seed: number; readonly steps: number }[] = [];

function shown({ seed, step, broken, trace }: Outcome): string {
  return `${trace.join('\n')}\n\nseed ${seed}, step ${step}: ${broken}`;
}

describe('a simulation of three replicas', () => {
  test('keeps laws 1, 2, 6 and 7 for all seeds', { timeout: 300_000 + 5_000 * COUNT }, async () => {
    const totals: Record<string, number> = {};
    const runs = [...FOUND, ...Array.from({ length: COUNT }, (_, i) => ({ seed: FIRST + i, steps: STEPS }))];
    for (const run of runs) {
      const outcome = await simulateReplicas({ ...run, replicas: REPLICAS });
      if (outcome.broken !== undefined)
        expect.fail(`${shown(outcome)}\nagain: npm run sim -- --replicas 3 --seed ${run.seed} --steps ${run.steps}`);
      for (const [what, count] of Object.entries(outcome.counts)) totals[what] = (totals[what] ?? 0) + count;
    }
    // A simulation in which nothing happens proves nothing.
    const happened = [
      'responses',
      'leaders killed',
      'followers killed',
      'partitions',
      'elections',
      'rollbacks',
      'moves',
    ];
    for (const what of happened) expect(totals[what] ?? 0, what).toBeGreaterThan(0);
  });

  test('gives the same run for the same seed', async () => {
    const run = { seed: 7, steps: 30, replicas: REPLICAS };
    const [first, second] = [await simulateReplicas(run), await simulateReplicas(run)];
    expect(first.trace.length).toBeGreaterThan(10);
    expect(second).toEqual(first);
  });
});

const canaries: readonly (readonly [ReplicaCanary, RegExp])[] = [
  ['positions-not-compared', /history has split|is another one/],
  ['own-facts', /law 1|law 2|moved/],
  ['rollback-unnoticed', /the log is whole, and/],
];

describe.each(canaries)('canary: a simulation of three replicas with %s', (canary, message) => {
  test('is caught', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { broken } = await simulateReplicas({ seed, steps: 40, replicas: REPLICAS, canary });
      if (broken === undefined) continue;
      expect(broken).toMatch(message);
      return;
    }
    expect.fail(`nothing noticed ${canary}`);
  });
});
