// The trial, run by Vitest for its `expect`: each gathered test once without a mutant, to see that it passes and which
// mutants it reaches; then for each mutant the tests that reach it until one fails, first those that killed mutants close
// to it, then those that are fast and reach few others; no more than `testsMax` of the folder's row. After a kill that test runs without the mutant, since all
// share one process: a mutant that breaks what later tests rest on would fake kills.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { collected as all, type Collected } from './collect.ts';
import type { Mutant } from './instrument.ts';
import { FIRST_PASS, note, noteProgress, readResults } from './results.ts';
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
const GOLDEN_RATIO_32 = 0x9e3779b1;
/** A test that takes longer with a mutant than this, beside this multiple of its time without one, fails. */
const TEST_MS_MIN = 3_000;
const TIME_FACTOR = 20;
const TEST_MS_MAX = 60_000;
/** Tests that are tried first, since they killed the mutants that stand closest. */
const NEAR_KILLERS = 15;
/** The run ends when this many have a result. */
const most = Number(process.env.PERIPLUS_MUTANT_MOST);
const testsMax = Number(process.env.PERIPLUS_MUTANT_TESTS);
const without = JSON.parse(process.env.PERIPLUS_MUTANT_WITHOUT ?? '[]') as readonly string[];
const goldens = new RegExp(process.env.PERIPLUS_MUTANT_GOLDENS ?? '');
/** Titles of golden cases begin with a group's name. */
const isGolden = (title: string): boolean => /^[a-z-]+\/[a-z-]+ /.test(title);
const collected = all.filter(
  ({ title }) => !without.some(text => title.includes(text)) && (!isGolden(title) || goldens.test(title)),
);

const shared = globalThis as unknown as { __stryker__?: Namespace };
shared.__stryker__ ??= {};
const stryker = shared.__stryker__;

const times = new Map<Collected, number>();
const timeOf = (test: Collected): number => times.get(test) ?? TEST_MS_MAX;

async function fails(test: Collected): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(() => resolve(true), Math.min(TEST_MS_MIN + TIME_FACTOR * timeOf(test), TEST_MS_MAX));
  });
  const failed = test.run().then(
    () => false,
    () => true,
  );
  const outcome = await Promise.race([failed, late]);
  clearTimeout(timer);
  return outcome;
}

/** What a test does without a mutant. */
interface First {
  readonly isBroken: boolean;
  readonly ms: number;
  readonly hits: Hits;
}
interface FirstPass {
  readonly tests: Readonly<Record<string, First>>;
  /** Mutants that are reached while modules load. */
  readonly statics: Hits;
}

/** Runs each test once. When a trial is begun again after a mutant that never ended, most is known already. */
async function firstPass(): Promise<FirstPass> {
  const file = join(work, FIRST_PASS);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FirstPass) : undefined;
  const tests: Record<string, First> = {};
  for (const [i, test] of collected.entries()) {
    const name = nameOf(test);
    const first = known?.tests[name];
    if (first !== undefined) {
      tests[name] = first;
      continue;
    }
    stryker.currentTestId = `${i}`;
    const since = performance.now();
    const isBroken = await fails(test);
    const ms = performance.now() - since;
    tests[name] = { isBroken, ms, hits: stryker.mutantCoverage?.perTest[`${i}`] ?? {} };
  }
  const found: FirstPass = { tests, statics: known?.statics ?? stryker.mutantCoverage?.static ?? {} };
  writeFileSync(file, JSON.stringify(found));
  return found;
}

const names = new Map<Collected, string>();
/** Of all tests with one title, the first has the title as its name. */
function nameOf(test: Collected): string {
  if (names.size === 0) {
    const seen = new Map<string, number>();
    for (const one of collected) {
      const count = seen.get(one.title) ?? 0;
      seen.set(one.title, count + 1);
      names.set(one, count === 0 ? one.title : `${one.title} #${count + 1}`);
    }
  }
  return names.get(test)!;
}

/** In an order in which neighbours are far apart, always the same: what is tried first is a sample of all. */
function scattered(mutants: readonly Mutant[]): readonly Mutant[] {
  const rank = (index: number): number => Math.imul(index + 1, GOLDEN_RATIO_32) >>> 0;
  return [...mutants.keys()].sort((a, b) => rank(a) - rank(b)).map(index => mutants[index]!);
}

interface Killer {
  readonly mutant: Mutant;
  readonly test: Collected;
}

/** The tests that killed the closest mutants of the same file, each once, the closest first. */
function killersNear({ fileName, location }: Mutant, killers: readonly Killer[]): readonly Collected[] {
  const away = (killer: Killer): number => Math.abs(killer.mutant.location.start.line - location.start.line);
  const inFile = killers.filter(({ mutant }) => mutant.fileName === fileName).sort((a, b) => away(a) - away(b));
  return [...new Set(inFile.map(({ test }) => test))].slice(0, NEAR_KILLERS);
}

it('tries the mutants of a folder', async () => {
  const mutants = JSON.parse(readFileSync(join(work, 'mutants.json'), 'utf8')) as readonly Mutant[];
  const { tried, killers: killerNames } = readResults(work);
  const { tests, statics } = await firstPass();
  const firstOf = (test: Collected): First => tests[nameOf(test)]!;
  for (const test of collected) times.set(test, firstOf(test).ms);
  const broken = collected.filter(test => firstOf(test).isBroken).map(nameOf);
  if (broken.length > 0)
    process.stderr.write(`left out, since they fail without a mutant:\n  ${broken.join('\n  ')}\n`);
  const sound = collected.filter(test => !firstOf(test).isBroken);
  expect(sound.length).toBeGreaterThan(0);
  const reach = new Map(collected.map(test => [test, Object.keys(firstOf(test).hits).length]));
  const cost = (test: Collected): number => timeOf(test) * (reach.get(test) ?? 0);
  const byName = new Map(sound.map(test => [nameOf(test), test]));
  const killers: Killer[] = mutants.flatMap(mutant => {
    const test = byName.get(killerNames.get(mutant.id) ?? '');
    return test === undefined ? [] : [{ mutant, test }];
  });
  let done = tried.size;
  for (const mutant of scattered(mutants)) {
    const { id } = mutant;
    if (done >= most) break;
    if (tried.has(id)) continue;
    done += 1;
    const reaching = sound.filter(test => (firstOf(test).hits[id] ?? 0) > 0);
    if (reaching.length === 0) {
      note(work, { id, outcome: statics[id] === undefined ? 'uncovered' : 'static' });
      continue;
    }
    note(work, { id, outcome: 'begun' });
    const first = killersNear(mutant, killers).filter(test => reaching.includes(test));
    const rest = reaching.filter(test => !first.includes(test)).sort((a, b) => cost(a) - cost(b));
    const killer = await provenKiller(id, [...first, ...rest].slice(0, testsMax));
    if (killer === undefined) note(work, { id, outcome: 'survived' });
    else note(work, { id, outcome: 'killed', by: nameOf(killer) });
    if (killer !== undefined) killers.push({ mutant, test: killer });
  }

  /** The first test that fails with the mutant and passes without it; one that fails once only proves nothing. */
  async function provenKiller(id: string, tests: readonly Collected[]): Promise<Collected | undefined> {
    const killer = await killerOf(id, tests);
    if (killer === undefined || !(await fails(killer))) return killer;
    if (await fails(killer)) throw new Error(`${killer.title}: fails after mutant ${id}`);
    return provenKiller(id, tests.slice(tests.indexOf(killer) + 1));
  }

  /** With the mutant active; it is inactive again afterwards. */
  async function killerOf(id: string, tests: readonly Collected[]): Promise<Collected | undefined> {
    stryker.activeMutant = id;
    try {
      for (const test of tests) {
        stryker.hitCount = 0;
        stryker.hitLimit = HITS_FACTOR * (firstOf(test).hits[id] ?? 1);
        if (await fails(test)) return test;
        noteProgress(work);
      }
      return undefined;
    } finally {
      stryker.activeMutant = undefined;
    }
  }
});
