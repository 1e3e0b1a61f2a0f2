// Rules in CEL: what an expression says of a value, and what a failing part of one does.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import { type Cel, compileCel } from '../../../../src/core/schema/cel.ts';

const self: Cel = ['variable', 'self'];
const type: Cel = ['member', self, 'type'];
const is = (text: string): Cel => ['==', type, ['value', text]];

describe('a CEL rule', () => {
  it.each<[string, Cel, Json, boolean]>([
    ['compares a member', is('A'), { type: 'A' }, true],
    ['is broken by an absent member', is('A'), {}, false],
    ['asks for presence', ['has', self, 'type'], {}, false],
    ['ignores a failure on the side that does not decide', ['||', is('A'), ['!', ['has', self, 'type']]], {}, true],
    ['is broken where the failing side decides', ['&&', is('A'), ['has', self, 'b']], { b: 1 }, false],
    ['takes one branch of a condition', ['if', ['has', self, 'type'], is('A'), ['value', true]], {}, true],
    ['compares durations', ['<', ['call', 'duration', self], ['call', 'duration', ['value', '1s']]], '900ms', true],
    ['is broken by a text that is no duration', ['<', ['call', 'duration', self], ['value', 9]], 'soon', false],
    ['adds sizes', ['<=', ['+', ['call', 'size', self], ['value', 1]], ['value', 3]], ['a', 'b'], true],
    ['reads an element', ['==', ['index', self, ['value', 1]], ['value', 'b']], ['a', 'b'], true],
    ['matches a pattern without regard to case', ['matches', self, '^a$', 'iu'], 'A', true],
    ['tests membership', ['in', ['value', '*'], self], ['a', '*'], true],
    ['counts exactly one', ['exists_one', self, 'x', ['==', ['variable', 'x'], ['value', 1]]], [1, 1], false],
    [
      'keeps elements',
      ['==', ['call', 'size', ['filter', self, 'x', ['in', ['variable', 'x'], self]]], ['value', 2]],
      [1, 2],
      true,
    ],
    [
      'knows the keys of a map',
      ['all', self, 'key', ['call', 'contains', ['variable', 'key'], ['value', 'a']]],
      { a: 1, b: 2 },
      false,
    ],
  ])('%s', (_, rule, value, kept) => {
    expect(compileCel(rule)(value)).toBe(kept);
  });
  it('holds for all elements only if each holds, and errors elsewhere do not matter', () => {
    const rule: Cel = ['all', self, 'x', ['==', ['member', ['variable', 'x'], 'n'], ['value', 1]]];
    expect(compileCel(rule)([{ n: 1 }, { n: 1 }])).toBe(true);
    expect(compileCel(rule)([{ n: 1 }, {}])).toBe(false);
  });
});
