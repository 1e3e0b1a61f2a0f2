// Taking time: rounds until enough was seen, and the median of them, which a busy moment of the machine does not move.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Figure {
  readonly value: number;
  readonly unit: 'events/s' | 'times' | 's' | 'ms' | 'MB' | 'KiB' | 'bytes' | 'resources' | 'pushes' | 'responses';
  readonly better: 'more' | 'less';
  /** How far the batches lie apart that the value was taken over. */
  readonly least?: number;
  readonly most?: number;
  /** What istiod needs for the same (reference.ts). */
  readonly istiod?: number | undefined;
}

export type Figures = Readonly<Record<string, Figure>>;

const ROUNDS_MIN = 5;
const ROUNDS_MAX = 200;
const MEASURING_MS_MIN = 1_500;
const BATCHES = 7;
const BATCH_MS = 150;
const BATCH_MIN = 5;
const BATCH_MAX = 200;
const WARM_UP_MS = 2_500;
const WARM_UP_ROUNDS_MIN = 20;
const WARM_UP_ROUNDS_MAX = 2_000;

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

export function meanMilliseconds({ mean, least, most }: Mean): Figure {
  return { ...milliseconds(mean), least: round(least), most: round(most) };
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

/** A mean and how far the batches that it was taken over lie apart. */
export interface Mean {
  readonly mean: number;
  readonly least: number;
  readonly most: number;
}

/**
 * The mean time by the clock that `run` takes in a program that is warm, in ms, each time on what `prepare` made for it, which is not counted: the
 * median of several batches. As in Go's benchmarks a round's results are garbage from the next one on, the collector's part of that on this thread
 * is counted, and what the program needed to compile itself is not. What warming up left behind is collected before the clock starts. The system's
 * own account of CPU time is no clock for rounds of a tenth of a millisecond: to read it empties the processor's caches, which cost such a round
 * as much again as it takes. So other programs count: the least of the batches is the one that they disturbed least.
 */
export async function warmMean<T>(prepare: () => T, run: (prepared: T) => object): Promise<Mean> {
  const once = await warmUp(prepare, run);
  const size = Math.max(BATCH_MIN, Math.min(BATCH_MAX, Math.ceil(BATCH_MS / once)));
  collectGarbage();
  const means: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    let taken = 0;
    for (let i = 0; i < size; i++) {
      await turnOfTheLoop();
      const prepared = prepare();
      const start = performance.now();
      run(prepared);
      taken += performance.now() - start;
    }
    means.push(taken / size);
  }
  means.sort((a, b) => a - b);
  return { mean: means[Math.floor(BATCHES / 2)]!, least: means[0]!, most: means[BATCHES - 1]! };
}

/** What one run takes in the end. */
async function warmUp<T>(prepare: () => T, run: (prepared: T) => object): Promise<number> {
  const begin = process.cpuUsage();
  let once = Number.POSITIVE_INFINITY;
  for (let round = 0; round < WARM_UP_ROUNDS_MAX; round++) {
    await turnOfTheLoop();
    const prepared = prepare();
    const start = performance.now();
    run(prepared);
    once = Math.min(once, performance.now() - start);
    if (round >= WARM_UP_ROUNDS_MIN && since(begin) >= WARM_UP_MS) break;
  }
  return once;
}

/** What a WeakRef refers to lives until the turn in which it was made has ended: in one long turn no round's results would ever be garbage. */
function turnOfTheLoop(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
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

/** How often one figure is the other. */
export function times(factor: number): Figure {
  return { value: round(factor), unit: 'times', better: 'less' };
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

/** Twice: the first time what is young may only grow older. */
function collectGarbage(): void {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
}

/** Bytes in use after collection, MB. */
export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

export function megabytes(mb: number): Figure {
  return { value: round(mb), unit: 'MB', better: 'less' };
}

/** Three digits that mean something. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}
