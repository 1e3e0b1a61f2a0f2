// periplus/testing without its optional peer dependency.

import { describe, expect, it } from 'vitest';
import { loadFastCheck } from '../../../src/testing/fast-check.ts';

describe('without fast-check', () => {
  it('periplus/testing says what to install', () => {
    const missing = (): unknown => {
      throw Object.assign(new Error("Cannot find module 'fast-check'"), { code: 'MODULE_NOT_FOUND' });
    };
    expect(() => loadFastCheck(missing)).toThrow('npm install --save-dev fast-check');
  });

  it('periplus/testing repeats an error of fast-check itself', () => {
    const broken = (): unknown => {
      throw new SyntaxError('unexpected token');
    };
    expect(() => loadFastCheck(broken)).toThrow('unexpected token');
  });
});
