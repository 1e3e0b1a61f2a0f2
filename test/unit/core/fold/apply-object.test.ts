// What apply-object says of objects that are none.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { reduce } from '../../../../src/core/reduce.ts';
import { emptyState } from '../../../../src/core/state.ts';

describe('an object of no known kind', () => {
  const said = (object: JsonObject): unknown =>
    reduce(emptyState, { seq: 1, time: 0, source: 'file/Kubernetes', kind: 'Add', object })[1];

  it('is refused like any other if no text can be made of its kind', () => {
    expect(said({ apiVersion: 'v1', kind: { toString: 1, valueOf: 2 } })).toEqual([
      expect.objectContaining({ accepted: false, object: 'v1 {"toString":1,"valueOf":2}' }),
    ]);
  });
  it('is refused if it has no kind', () => {
    expect(said({})).toEqual([expect.objectContaining({ accepted: false, object: 'null null' })]);
  });
});
