// When garbage is collected. Once in full at the end of the start, while no client waits: the garbage of a start
// (parsed files, lists, first versions of values) would otherwise be collected in a pause of tens of milliseconds while
// the first proxies connect. From then on the heap grows in small steps: by default V8 lets it grow to four times its
// size before the next full collection, so memory of departed proxies stays.
//
// Later collections are V8's own, mostly concurrent. They are never requested while proxies are served, since a
// requested one is a single pause. A Node release without the function or the flag collects at its own times; nothing
// depends on it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth of the used heap between two full collections. Each costs about 0.1 CPU s for 100 MiB in use. */
export const HEAP_GROWTH_PERCENT = 50;

const GROWTH_FLAG = '--heap-growing-percent';
/** V8 otherwise moves objects off the emptiest pages only: a tenth of a heap is then gaps left by its start. */
const COMPACTION = '--compact-on-every-full-gc';

/**
 * As V8 collects when an allocation has failed. From Node 22 on other collections keep the pages that they empty, 50 to
 * 60 MiB of a server of 500 services. Node 20 gives them back at each, and leaves more gaps after one of this kind.
 */
const LAST_RESORT = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;
/** V8 of Node 22. */
const V8_KEEPS_PAGES = 12;

/** Blocks for tens of milliseconds for each 100 MiB in use, and moves what is left onto as few pages as hold it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as ((how?: typeof LAST_RESORT) => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString(COMPACTION);
  if (Number.parseInt(process.versions.v8, 10) >= V8_KEEPS_PAGES) collect?.(LAST_RESORT);
  else collect?.();
  setFlagsFromString(COMPACTION.replace('--', '--no-'));
}

/**
 * Takes effect at the next full collection, for the whole process. Flags of the command line or NODE_OPTIONS are kept.
 */
export function growHeapSlowly(
  given: readonly string[] = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
  set: (flag: string) => void = setFlagsFromString,
): void {
  if (given.some(option => option.includes(GROWTH_FLAG))) return;
  set(`${GROWTH_FLAG}=${HEAP_GROWTH_PERCENT}`);
}
