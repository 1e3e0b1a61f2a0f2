// What apply-object says of objects that are none.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { reduce } from '../../../../src/core/reduce.ts';
import { emptyState } from '../../../../src/core/state.ts';

describe('an object of no known kind', () => {
  const said = (object: JsonObject): unknown =>
    reduce(emptyState, { seq: 1, time: 0, source: 'file/Kubernetes', kind: 'Add', object })[1];

  it('given a kind that no text can be made of, then it is refused like any other', () => {
    expect(said({ apiVersion: 'v1', kind: { toString: 1, valueOf: 2 } })).toEqual([
      expect.objectContaining({ accepted: false, object: 'v1 {"toString":1,"valueOf":2}' }),
    ]);
  });
  it('given none at all, then it is refused', () => {
    expect(said({})).toEqual([expect.objectContaining({ accepted: false, object: 'null null' })]);
  });
});
