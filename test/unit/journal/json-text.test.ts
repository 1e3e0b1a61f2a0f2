// Whether a text is JSON: the answer of JSON.parse for every text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../../src/core/base/json.ts';
import { hasOrderedMembers, isDeeperThan, isJsonText } from '../../../src/journal/json-text.ts';
import { Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { parameters } from '../../property/seed.ts';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One character of a text replaced, inserted or removed. */
const damaged = fc
  .tuple(
    fc.oneof(
      fc.json(),
      fc.json({ stringUnit: 'binary' }).map(text => JSON.stringify(JSON.parse(text), undefined, 1)),
    ),
    fc.nat(),
    fc.constantFrom(...'{}[]":,\\/ \t\n\r\u0000\u0001\u2028u0e-+.1tfn\ud800é'),
    fc.constantFrom('keep', 'replace', 'insert', 'remove'),
  )
  .map(([text, place, character, how]) => {
    const at = place % (text.length + 1);
    if (how === 'keep') return text;
    return text.slice(0, at) + (how === 'remove' ? '' : character) + text.slice(how === 'insert' ? at : at + 1);
  });

describe('a text', () => {
  it('is JSON exactly if JSON.parse reads it', () => {
    fc.assert(
      fc.property(damaged, text => {
        expect(isJsonText(text)).toBe(parses(text));
      }),
      parameters(2_000),
    );
  });

  it.each([
    ...[
      '',
      ' ',
      '1',
      '-0',
      '01',
      '1.',
      '.1',
      '1e5',
      '1e',
      '-',
      '+1',
      'NaN',
      'true',
      'tru',
      'nullx',
      '"',
      '"\\"',
      '"\\u12"',
    ],
    ...[
      '{',
      '}',
      '[',
      ']',
      '[]',
      '{}',
      '[1,]',
      '[,1]',
      '{"a"}',
      '{"a";1}',
      '{"a" 1}',
      '{"a"::1}',
      '{"a":}',
      '{"a":1,}',
      '{a:1}',
      '[1 2]',
      '[1}',
      '{"a":1]',
      '[1x2]',
      '[1:2]',
      '{"a":1x"b":2}',
      '{xa":1}',
      '{"a":1,xb":2}',
    ],
    ...[
      '[]]',
      '1 1',
      ' [ 1 , { "a" : [ ] } ] ',
      '\u00a01',
      '"\u0009"',
      '"\\x"',
      '"\u2028"',
      '{"a":{"b":[[{}]]}}',
      '\ufeff1',
      '\u00011',
      '1\u0000',
      '[\u001f]',
    ],
  ])('is JSON exactly if JSON.parse reads it: %j', text => {
    expect(isJsonText(text)).toBe(parses(text));
  });

  it('is JSON if SQLite says so, which the writer of a journal asks first', () => {
    const db = new Sqlite(':memory:');
    const isValid = db.prepare('SELECT json_valid(?)').pluck();
    fc.assert(
      fc.property(damaged, text => {
        // For SQLite a text ends at its first NUL.
        if (isValid.get(text) === 1 && !text.includes('\0')) expect(parses(text)).toBe(true);
      }),
      parameters(2_000),
    );
    db.close();
  });

  it('may be nested as deeply as it is long', () => {
    const depth = 200_000;
    expect(isJsonText('['.repeat(depth) + ']'.repeat(depth))).toBe(true);
    expect(isJsonText('['.repeat(depth))).toBe(false);
  });

  it('has its members in order exactly if its canonical text has them so', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), text => {
        expect(hasOrderedMembers(canonicalJson(JSON.parse(text) as Json))).toBe(true);
      }),
      parameters(500),
    );
    for (const text of ['{"b":1,"a":2}', '{"a":1,"a":1}', '[{"a":{"a":1}},{"c":1,"b":1}]', '{"a":1,"\\u0061":2}']) {
      expect([text, hasOrderedMembers(text)]).toEqual([text, false]);
    }
  });

  it.each([
    ['[[[]]]', 2, true],
    ['[[[]]]', 3, false],
    ['{"a":{"b":[1]}}', 2, true],
    ['["[[[[[[[[[[[["]', 1, false],
    ['{"[[[":"]]]","{{{":1}', 1, false],
    ['["\\"[[[[[["]', 1, false],
    ['["[[[[[[', 1, false],
  ])('%s is deeper than %d: %s', (text, depthMax, isDeeper) => {
    expect(isDeeperThan(text, depthMax)).toBe(isDeeper);
    if (parses(text)) expect(isJsonText(text, depthMax)).toBe(!isDeeper);
  });
});
