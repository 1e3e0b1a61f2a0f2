// Compiled code of the program, kept by Node for the next start: a command spends up to a fifth of a second compiling
// its modules. Where Node has no such cache (before 22.8), or its folder cannot be written, code is compiled each
// time.
//
// Node checks that a kept file belongs to the very source, so an old one is never run.

import nodeModule from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from '../history/cache-folder.ts';

interface Compiler {
  readonly builtinModules: readonly string[];
  readonly enableCompileCache?: (folder: string) => unknown;
}

/** Call before the modules to keep are imported. PERIPLUS_NO_CACHE turns it off, as for kept states. */
export function keepCompiledCode(env: NodeJS.ProcessEnv = process.env, compiler: Compiler = nodeModule): void {
  if ((env.PERIPLUS_NO_CACHE ?? '') !== '') return;
  compiler.enableCompileCache?.(join(cacheFolder(env), 'compiled'));
}
