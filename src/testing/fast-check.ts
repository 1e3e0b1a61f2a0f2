// fast-check for the files of the entry `periplus/testing`. It is an optional peer dependency, so it may be missing;
// the error then says what to install.
//
// It is required, not imported: an import that cannot be resolved fails before any code of ours runs. A program that
// imports fast-check itself has two copies of its code then; arbitraries of one work in properties of the other.

import { createRequire } from 'node:module';
import type * as FastCheck from 'fast-check';

/** `resolve`: for the test of the message. */
export function loadFastCheck(resolve: (name: string) => unknown): typeof FastCheck {
  try {
    return resolve('fast-check') as typeof FastCheck;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error('periplus/testing needs fast-check 4, which is not installed: npm install --save-dev fast-check', {
      cause: error,
    });
  }
}

export const fc = loadFastCheck(createRequire(import.meta.url));
