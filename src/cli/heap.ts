// V8's young generation in a server: two halves of 4 MiB in place of 16, collected on the main thread alone. With few
// proxies the halves were a sixth of the process; so small, they cost more to share between threads than to collect.
// Measured: docs/benchmarks-diary.md.
//
// V8 reads the largest size of the young generation only when it starts, so what is set is the factor by which it
// grows. It is grown to the wanted size here, before the program's modules are loaded, and then no further.

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of each of the two halves of the young generation. */
export const HALF_BYTES = 4 * 2 ** 20;

const GROWTH = '--semi-space-growth-factor';
/** Operators who give one of these decide on the size themselves. */
const SIZES = ['semi-space', 'lite-mode'];
/** V8 doubles a half at the collection after those that as many bytes survived. */
const COLLECTIONS_MAX = 16;
const KEPT_OBJECTS = 20_000;
/** While a thread starts, which takes some 30 ms. */
const AGAIN_MS = 1;

/** To be called first in a process; takes 8 ms. */
export function boundYoungGeneration(
  given: readonly string[] = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
): void {
  if (given.some(option => SIZES.some(size => option.includes(size)))) return;
  setFlagsFromString('--no-parallel-scavenge');
  grow();
  hold();
  // With each new thread V8 puts the factor back to its default, some time before it is online.
  process.on('worker', worker => {
    const again = setInterval(hold, AGAIN_MS).unref();
    const started = (): void => {
      clearInterval(again);
      hold();
    };
    worker.once('online', started);
    worker.once('exit', started);
  });
}

/** Bytes of the young generation of this thread, both halves. */
export function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

function grow(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as ((how: { readonly type: 'minor' }) => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  for (let i = 0; i < COLLECTIONS_MAX && youngGenerationBytes() < 2 * HALF_BYTES; i++) {
    const kept = Array.from({ length: KEPT_OBJECTS }, (_, value) => ({ value }));
    collect?.({ type: 'minor' });
    kept.length = 0;
  }
}

function hold(): void {
  setFlagsFromString(`${GROWTH}=1`);
}
