// Where compiled code is kept for the next start, and when it is not.
import { describe, expect, it } from 'vitest';
import { keepCompiledCode } from '../../../src/cli/compile-cache.ts';

function foldersFor(env: NodeJS.ProcessEnv): readonly unknown[] {
  const folders: unknown[] = [];
  keepCompiledCode(env, { builtinModules: [], enableCompileCache: folder => folders.push(folder) });
  return folders;
}

describe('compiled code', () => {
  it('is kept in the cache folder of the user', () => {
    expect(foldersFor({ XDG_CACHE_HOME: '/cache' })).toEqual(['/cache/periplus/compiled']);
    expect(foldersFor({})).toEqual([expect.stringMatching(/\.cache\/periplus\/compiled$/)]);
  });

  it('is not kept where PERIPLUS_NO_CACHE forbids it, or Node cannot', () => {
    expect(foldersFor({ PERIPLUS_NO_CACHE: '1' })).toEqual([]);
    expect(() => keepCompiledCode({}, { builtinModules: [] })).not.toThrow();
  });
});
