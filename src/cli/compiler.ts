// Node 20 hands a function to its optimising compiler after little work done in it, and has no cheaper one in between,
// as later releases have: of the CPU time of 400 proxies' cold start a quarter went into compiling code that mostly ran
// for those few seconds. With a larger budget the code that stays hot is optimised all the same, somewhat later.
// Measured: docs/benchmarks.md.

import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode run in a function before V8 considers optimising it; its default is 66 KiB. */
export const OPTIMIZE_AFTER_BYTES = 500_000;

const FLAG = '--interrupt-budget';

/**
 * To be called before anything is served. Newer releases of Node count calls instead and do not know the flag; one that
 * was given stays.
 */
export function optimizeLater(
  version: string = process.versions.node,
  given: readonly string[] = [...process.execArgv, process.env.NODE_OPTIONS ?? ''],
  set: (flag: string) => void = setFlagsFromString,
): void {
  if (!version.startsWith('20.') || given.some(option => option.includes(FLAG))) return;
  set(`${FLAG}=${OPTIMIZE_AFTER_BYTES}`);
}
