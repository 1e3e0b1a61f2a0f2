// Taking time: rounds until enough was seen, and the median of them, which a busy moment of the machine does not move.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Figure {
  readonly value: number;
  readonly unit: 'events/s' | 'ms' | 'MB';
  readonly better: 'more' | 'less';
}

export type Figures = Readonly<Record<string, Figure>>;

const ROUNDS_MIN = 5;
const ROUNDS_MAX = 200;
const MEASURING_MS_MIN = 1_500;

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
