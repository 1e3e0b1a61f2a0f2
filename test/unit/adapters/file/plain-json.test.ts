// The short way of reading JSON against the full parser of YAML: whatever it reads, it reads alike.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnyYaml } from '../../../../src/adapters/file/parse.ts';
import { plainJson } from '../../../../src/adapters/file/plain-json.ts';
import { parameters } from '../../../property/seed.ts';

/** True if the short way had an answer. */
function agrees(text: string): boolean {
  const plain = plainJson(text);
  if (plain === undefined) return false;
  const documents = plain.map(({ value, line }) => ({ value, origin: { file: 'f', line, column: 1 }, errors: [] }));
  expect(parseAnyYaml('f', text), text).toEqual({ documents });
  return true;
}

const OBJECT = {
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'readers', namespace: 'shop', labels: { 'a/b': 'true', c: '' } },
  spec: {
    rules: [{ to: [{ operation: { paths: ['/a"b\\c', '# no: comment', '*'], ports: [80, -1, 0] } }] }, {}],
    on: null,
  },
};

describe('JSON read the short way', () => {
  it.each([
    ['on one line', JSON.stringify(OBJECT)],
    ['indented', JSON.stringify(OBJECT, null, 2)],
    ['with a line break at the end', `${JSON.stringify(OBJECT, null, 4)}\n`],
    ['with spaces after its marks', JSON.stringify(OBJECT).replaceAll('":', '": ')],
    ['that is empty', '{}'],
  ])('is an object %s', (_, text) => {
    expect(agrees(text)).toBe(true);
  });

  it.each([
    ['a repeated key', '{"a": 1, "a": 2}'],
    ['a repeated key further in', '{"a": {"b": 1, "c": 2, "b": 1}}'],
    ['the key of a prototype', '{"__proto__": {"a": 1}}'],
    ['a key of YAML', '{"<<": {"a": 1}}'],
    ['numbers in another order', '{"b": 1, "2": 2, "1": 3}'],
    ['a number with a point', '{"a": 1.0}'],
    ['a fraction', '{"a": 1.5}'],
    ['an exponent', '{"a": 1e3}'],
    ['a number that is too large', '{"a": 12345678901234567890}'],
    ['minus zero', '{"a": -0}'],
    ['an escaped letter', '{"a": "\\u0041"}'],
    ['an escaped slash', '{"a": "\\/"}'],
    ['a tab', '{\t"a": 1}'],
    ['a carriage return', '{"a": 1}\r\n'],
    ['letters beyond ASCII', '{"a": "ä"}'],
    ['a second object', '{"a": 1}\n{"b": 2}'],
    ['a list', '[{"a": 1}]'],
    ['a comma at the end', '{"a": 1,}'],
    ['a comment', '{"a": 1} # b'],
    ['a space before it', ' {"a": 1}'],
    ['nothing', ''],
    ['deep nesting', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
  ])('is not what has %s', (_, text) => {
    expect(agrees(text)).toBe(false);
  });

  it('is what the full parser reads, whatever is in it', () => {
    const object = fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 4 }), {
      maxKeys: 6,
      size: 'max',
    });
    const indent = fc.constantFrom(undefined, 1, 2);
    fc.assert(
      fc.property(object, indent, (value, spaces) => {
        agrees(JSON.stringify(value, null, spaces));
      }),
      parameters(300),
    );
  });
});
