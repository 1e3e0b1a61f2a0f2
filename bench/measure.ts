// Taking time: rounds until enough was seen, and the median of them, which a busy moment of the machine does not move.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Figure {
  readonly value: number;
  readonly unit: 'events/s' | 's' | 'ms' | 'us' | 'MB' | 'KiB' | 'bytes' | 'resources' | 'pushes' | 'responses';
  readonly better: 'more' | 'less';
  /** What istiod needs for the same (reference.ts). */
  readonly istiod?: number | undefined;
}

export type Figures = Readonly<Record<string, Figure>>;

const ROUNDS_MIN = 5;
const ROUNDS_MAX = 200;
const MEASURING_MS_MIN = 1_500;
const BATCH_MS = 30;
const BATCH_MAX = 20;

/** Milliseconds that `run` takes; see medianOf. */
export function medianMs(run: (round: number) => unknown): Promise<number> {
  return medianOf(async round => {
    const start = performance.now();
    await run(round);
    return performance.now() - start;
  });
}

/** The median of what `take` says its rounds took, in ms, without the first, which warms up. `round` counts from 0. */
export async function medianOf(take: (round: number) => number | Promise<number>): Promise<number> {
  const taken: number[] = [];
  const begin = performance.now();
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const ms = await take(round);
    if (round > 0) taken.push(ms);
    if (taken.length >= ROUNDS_MIN && performance.now() - begin >= MEASURING_MS_MIN) break;
  }
  taken.sort((a, b) => a - b);
  return taken[Math.floor(taken.length / 2)]!;
}

export function perSecond(count: number, ms: number): Figure {
  return { value: round((count / ms) * 1000), unit: 'events/s', better: 'more' };
}

export function milliseconds(ms: number): Figure {
  return { value: round(ms), unit: 'ms', better: 'less' };
}

/** The least of what `take` says its rounds took: on a busy machine the rest is other programs. The first round warms up. */
export async function leastOf(
  take: (round: number) => number | Promise<number>,
  roundsMin = ROUNDS_MIN,
): Promise<number> {
  const begin = performance.now();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= ROUNDS_MAX; round++) {
    const ms = await take(round);
    if (round > 0) least = Math.min(least, ms);
    if (round >= roundsMin && performance.now() - begin >= MEASURING_MS_MIN) break;
  }
  return least;
}

/**
 * The least mean CPU time of batches of `run`, each on what `prepare` made for it, which is not counted. A mean, so that garbage collection counts;
 * batches of several, as reading the clock is not free either.
 */
export async function leastMean<T>(prepare: () => T, run: (prepared: T) => unknown): Promise<number> {
  const batch = (size: number): number => {
    const prepared = Array.from({ length: size }, prepare);
    return (
      cpuMs(() => {
        for (const each of prepared) run(each);
      }) / size
    );
  };
  const size = Math.max(1, Math.min(BATCH_MAX, Math.ceil(BATCH_MS / batch(1))));
  return leastOf(() => batch(size));
}

/** CPU time, user and system, of all threads of this process, in ms. */
export function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  return since(before);
}

/** As cpuMs, of what has to be waited for. */
export async function cpuMsOf(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  return since(before);
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function microseconds(us: number): Figure {
  return { value: round(us), unit: 'us', better: 'less' };
}

export function kibibytes(bytes: number): Figure {
  return { value: round(bytes / 1024), unit: 'KiB', better: 'less' };
}

export function bytes(count: number): Figure {
  return { value: round(count), unit: 'bytes', better: 'less' };
}

export function counted(resources: number): Figure {
  return { value: resources, unit: 'resources', better: 'less' };
}

/** Bytes in use after collection, MB. */
export function heapUsed(): number {
  setFlagsFromString('--expose_gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

export function megabytes(mb: number): Figure {
  return { value: round(mb), unit: 'MB', better: 'less' };
}

/** Three digits that mean something. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}
