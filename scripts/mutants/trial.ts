// The trial, run by Vitest for its `expect`: each gathered test once without a mutant, to see that it passes and which
// mutants it reaches; then for each mutant the tests that reach it, fastest first, until one fails; no more than
// `testsMax` of the folder's row. After a kill that test
// runs without the mutant, since all share one process: a mutant that breaks what later tests rest on would fake kills.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { collected as all, type Collected } from './collect.ts';
import type { Mutant } from './instrument.ts';
import { note, readResults } from './results.ts';
import 'virtual:tests-of-the-folder';

/** Stryker's own names: how its instrumented code talks to a runner. */
interface Namespace {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { readonly static: Hits; readonly perTest: Record<string, Hits> };
  hitCount?: number;
  hitLimit?: number;
}
type Hits = Readonly<Record<string, number>>;

const work = process.env.PERIPLUS_MUTANTS ?? '';
/** Times that a mutant may be reached, for each time it is reached without being active. */
const HITS_FACTOR = 100;
const TEST_MS_MAX = 20_000;
const testsMax = Number(process.env.PERIPLUS_MUTANT_TESTS);
const without = process.env.PERIPLUS_MUTANT_WITHOUT ?? '';
const goldens = new RegExp(process.env.PERIPLUS_MUTANT_GOLDENS ?? '');
/** Titles of golden cases begin with a group's name. */
const isGolden = (title: string): boolean => /^[a-z-]+\/[a-z-]+ /.test(title);
const collected = all.filter(
  ({ title }) => (without === '' || !title.includes(without)) && (!isGolden(title) || goldens.test(title)),
);

const shared = globalThis as unknown as { __stryker__?: Namespace };
shared.__stryker__ ??= {};
const stryker = shared.__stryker__;

async function fails({ run }: Collected): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(true), TEST_MS_MAX);
  });
  const failed = run().then(
    () => false,
    () => true,
  );
  const outcome = await Promise.race([failed, late]);
  clearTimeout(timer);
  return outcome;
}

it('tries the mutants of a folder', async () => {
  const mutants = JSON.parse(readFileSync(join(work, 'mutants.json'), 'utf8')) as readonly Mutant[];
  const { tried } = readResults(work);
  const times = new Map<Collected, number>();
  const broken: string[] = [];
  for (const [i, test] of collected.entries()) {
    stryker.currentTestId = `${i}`;
    const since = performance.now();
    if (await fails(test)) broken.push(test.title);
    times.set(test, performance.now() - since);
  }
  expect(broken).toEqual([]);
  const perTest = stryker.mutantCoverage?.perTest ?? {};
  for (const { id } of mutants) {
    if (tried.has(id)) continue;
    const reaching = collected.filter((_, i) => (perTest[`${i}`]?.[id] ?? 0) > 0);
    if (reaching.length === 0) {
      note(work, { id, outcome: stryker.mutantCoverage?.static[id] === undefined ? 'uncovered' : 'static' });
      continue;
    }
    note(work, { id, outcome: 'begun' });
    const killer = await killerOf(
      id,
      [...reaching].sort((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0)).slice(0, testsMax),
    );
    if (killer !== undefined && (await fails(killer))) throw new Error(`${killer.title}: fails after mutant ${id}`);
    note(work, { id, outcome: killer === undefined ? 'survived' : 'killed' });
  }

  /** With the mutant active; it is inactive again afterwards. */
  async function killerOf(id: string, tests: readonly Collected[]): Promise<Collected | undefined> {
    stryker.activeMutant = id;
    try {
      for (const test of tests) {
        stryker.hitCount = 0;
        stryker.hitLimit = HITS_FACTOR * (perTest[`${collected.indexOf(test)}`]?.[id] ?? 1);
        if (await fails(test)) return test;
      }
      return undefined;
    } finally {
      stryker.activeMutant = undefined;
    }
  }
});
