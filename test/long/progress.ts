// What the long runs have reached in all, in one file that every run adds to: parallel shards, and calls after an
// interruption. A run claims its seeds before it uses them and counts them when they held, so no seed runs twice and an
// interrupted one is not counted. Each change of the file is made under a lock file and by a rename.

import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface Tally {
  /** The first seed that no run has claimed. */
  readonly nextSeed: number;
  /** Sums, by what is counted. */
  readonly counts: Readonly<Record<string, number>>;
}

export type Progress = Readonly<Record<string, Tally>>;

/** What the runs are to reach in all, by run and count. */
export const GOALS = {
  'law-2': { events: 10_000_000 },
  simulator: { seeds: 50_000 },
  serve: { seconds: 6 * 3_600 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;
export type RunName = keyof typeof GOALS;

const FIRST_SEED = 1;
const LOCK_MS_MAX = 10_000;
const RETRY_MS = 20;
const nothing: Tally = { nextSeed: FIRST_SEED, counts: {} };

export function readProgress(file: string): Progress {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Progress;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(
      `${file}: ${error instanceof Error ? error.message : error}; expected the progress of earlier runs`,
    );
  }
}

/** The first of `count` seeds that are now this caller's. */
export function claimSeeds(file: string, run: RunName, count: number): number {
  let first = FIRST_SEED;
  change(file, run, tally => {
    first = tally.nextSeed;
    return { ...tally, nextSeed: first + count };
  });
  return first;
}

/** Adds to the sums of a run. */
export function addCounts(file: string, run: RunName, counts: Readonly<Record<string, number>>): Tally {
  return change(file, run, tally => {
    const sums = { ...tally.counts };
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    return { ...tally, counts: sums };
  });
}

/** One line a run: what was reached, and of which goal. */
export function summary(progress: Progress): string {
  const lines = Object.entries(GOALS).map(([run, goals]) => {
    const counts = progress[run]?.counts ?? {};
    const parts = Object.entries(goals).map(([name, goal]) => {
      const reached = counts[name] ?? 0;
      return `${Math.round(reached)} of ${goal} ${name} (${((100 * reached) / goal).toFixed(1)} %)`;
    });
    const others = Object.entries(counts).filter(([name]) => !(name in goals));
    return `${run}: ${[...parts, ...others.map(([name, count]) => `${Math.round(count)} ${name}`)].join(', ')}`;
  });
  return `${lines.join('\n')}\n`;
}

function change(file: string, run: RunName, next: (tally: Tally) => Tally): Tally {
  mkdirSync(dirname(file), { recursive: true });
  const release = lock(`${file}.lock`);
  try {
    const progress = readProgress(file);
    const tally = next(progress[run] ?? nothing);
    writeFileSync(`${file}.next`, `${JSON.stringify({ ...progress, [run]: tally }, undefined, 2)}\n`);
    renameSync(`${file}.next`, file);
    return tally;
  } finally {
    release();
  }
}

/** A lock that was held for longer than any change takes belongs to a run that was killed. */
function lock(path: string): () => void {
  const until = Date.now() + LOCK_MS_MAX;
  for (;;) {
    try {
      closeSync(openSync(path, 'wx'));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (Date.now() > until || isOld(path)) rmSync(path, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

function isOld(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > LOCK_MS_MAX;
  } catch {
    return false;
  }
}
