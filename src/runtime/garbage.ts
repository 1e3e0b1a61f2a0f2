// When garbage is collected. Once in full when nobody waits: what a start leaves behind (parsed files, lists, first versions of values) would else be
// collected in a pause of tens of milliseconds while the first proxies connect. From then on the heap grows in small steps: V8 would let it come to four times
// what a start leaves before it looks again, so that what a few hundred proxies held stayed after they had gone.
//
// The collections that follow are V8's own, most of their work beside the event loop; they are never asked for while proxies are served, because what
// is asked for is done in one pause. A release of Node that knows neither function nor flag collects when it likes; nothing depends on it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By how much what is in use may grow between two full collections; each of them costs about 0.1 CPU s for 100 MiB in use. */
export const HEAP_GROWTH_PERCENT = 50;

const GROWTH_FLAG = '--heap-growing-percent';

/** Takes some tens of milliseconds for each 100 MiB that are in use. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as (() => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  collect?.();
}

/** From the next full collection on, for the whole process. What the command line or NODE_OPTIONS say of it stays. */
export function growHeapSlowly(
  given: readonly string[] = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
  set: (flag: string) => void = setFlagsFromString,
): void {
  if (given.some(option => option.includes(GROWTH_FLAG))) return;
  set(`${GROWTH_FLAG}=${HEAP_GROWTH_PERCENT}`);
}
