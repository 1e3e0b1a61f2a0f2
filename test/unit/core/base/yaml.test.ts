// Scalars as Kubernetes reads them: what looks like a number at a glance may be a name.

import { isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../../../src/core/base/yaml.ts';

describe('a YAML scalar', () => {
  it.each([
    ['e0', 'e0'],
    ['E5', 'E5'],
    ['-e2', '-e2'],
    ['.e3', '.e3'],
    ['.', '.'],
    ['1e3', 1000],
    ['12e03', 12_000],
    ['1e+3', 1000],
    ['1.5e-1', 0.15],
    ['.5', 0.5],
    ['.5e1', 5],
    ['1_000', 1000],
    ['017', 15],
    ['1:30', '1:30'],
    ['2026-01-01', '2026-01-01'],
    ['yes', true],
  ])('%s', (text, value) => {
    const read = readYaml(`a: ${text}`);
    expect(isRight(read) ? read.right : read.left).toEqual({ a: value });
  });
});
