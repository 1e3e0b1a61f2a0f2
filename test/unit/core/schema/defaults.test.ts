// A value as the API server stores it: defaults, pruning, nulls.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import type { Constraint } from '../../../../src/core/schema/constraints.ts';
import { asStored } from '../../../../src/core/schema/defaults.ts';

const text: Constraint = { type: 'string' };
const reference: Constraint = {
  type: 'object',
  properties: { kind: { type: 'string', default: 'Service' }, name: text, port: { type: 'integer', nullable: true } },
};
const rule: Constraint = {
  type: 'object',
  properties: {
    matches: { type: 'array', items: reference, default: [{}] },
    options: { type: 'object', values: text },
  },
};

describe('a stored value', () => {
  it.each<[string, Json, Json]>([
    ['has the default of an absent member', {}, { matches: [{ kind: 'Service' }] }],
    ['keeps a member that is there', { matches: [] }, { matches: [] }],
    ['gets the defaults of its elements', { matches: [{ name: 'a' }] }, { matches: [{ kind: 'Service', name: 'a' }] }],
    ['has no member that the schema does not name', { matches: [], future: 1 }, { matches: [] }],
    ['takes null for absent', { matches: null, options: null }, { matches: [{ kind: 'Service' }] }],
    ['keeps null where it may be', { matches: [{ port: null }] }, { matches: [{ kind: 'Service', port: null }] }],
    [
      'has the keys of its maps sorted',
      { matches: [], options: { b: '2', a: '1' } },
      { matches: [], options: { a: '1', b: '2' } },
    ],
    ['keeps a member of another type for the constraints to report', { matches: 'x' }, { matches: 'x' }],
  ])('%s', (_, given, stored) => {
    expect(JSON.stringify(asStored(rule, given))).toBe(JSON.stringify(stored));
  });
  it('is unchanged when it is stored again', () => {
    const once = asStored(rule, { options: { x: 'y' }, matches: [{ name: 'a' }] });
    expect(asStored(rule, once)).toEqual(once);
  });
});
