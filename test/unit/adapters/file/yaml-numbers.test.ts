import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../../../src/adapters/file/parse.ts';

function parsed(text: string): unknown {
  const result = parseDocuments('a.yaml', `v: ${text}`);
  if ('reason' in result) throw new Error(result.reason);
  return (result.documents[0]!.value as { readonly v: unknown }).v;
}

describe('plain YAML scalars', () => {
  it.each([
    ['.', '.'],
    ['+', '+'],
    ['12:30:10', '12:30:10'],
    ['2026-01-01', '2026-01-01'],
    ['1.1.1', '1.1.1'],
  ])('such as %s are text', (text, expected) => {
    expect(parsed(text)).toBe(expected);
  });

  it.each([
    ['1.5', 1.5],
    ['1.', 1],
    ['.5', 0.5],
    ['-1_0.5', -10.5],
    ['1e3', 1000],
    ['12', 12],
  ])('such as %s are numbers', (text, expected) => {
    expect(parsed(text)).toBe(expected);
  });

  it('keep a lone dot in a list', () => {
    expect(parsed('[., "*"]')).toEqual(['.', '*']);
  });
});
