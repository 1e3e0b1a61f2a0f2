// One full garbage collection, when nobody waits: what a start leaves behind (parsed files, lists, first versions of values) would else be collected
// in a pause of tens of milliseconds while the first proxies connect. V8 gives the function for that to whoever asks in a new context.
//
// A release of Node that does not give it collects when it likes; nothing depends on it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Takes some tens of milliseconds for each 100 MiB that are in use. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('globalThis.gc') as (() => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  collect?.();
}
