// Plans: what has to be written so that an object fulfils a wish, and that nothing has to afterwards.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject, jsonEqual } from '../../../../src/core/base/json.ts';
import { mergePatch } from '../../../../src/core/base/merge-patch.ts';
import { type Plan, planOf } from '../../../../src/core/wishes/plan.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';

const wish = (more: Partial<Wish>): Wish => ({
  cluster: 'east',
  kind: 'ConfigMap',
  namespace: 'a',
  name: 'b',
  subresource: '',
  manager: 'pilot-discovery',
  fields: { data: { key: 'value' } },
  verb: 'merge',
  gate: undefined,
  ...more,
});
const plan = (one: Wish, live: JsonObject | undefined): Plan => planOf(one, live, 'v1', 'ConfigMap');
const live = (more: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: 'b', namespace: 'a', uid: 'u', resourceVersion: '7', generation: 2, ...metadata },
  ...more,
});
const condition = (type: string, status: string): JsonObject => ({ type, status });
const owns = (fieldsV1: JsonObject): JsonObject => ({
  managedFields: [{ manager: 'pilot-discovery', operation: 'Apply', subresource: 'status', fieldsV1 }],
});

describe('a wish by merge', () => {
  it('creates the object with what belongs to its creation', () => {
    const atCreation = { metadata: { labels: { l: 'x' } } };
    expect(plan(wish({ atCreation }), undefined)).toEqual({
      kind: 'create',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'b', namespace: 'a', labels: { l: 'x' } },
        data: { key: 'value' },
      },
    });
  });

  it('patches its own fields on the version that was looked at', () => {
    expect(plan(wish({}), live({ data: { key: 'old', theirs: 'x' } }))).toEqual({
      kind: 'merge',
      patch: { data: { key: 'value' }, metadata: { resourceVersion: '7' } },
    });
  });

  it('looks at no foreign field', () => {
    const object = live({ data: { key: 'value', theirs: 'x' } }, { labels: { theirs: 'x' } });
    expect(plan(wish({ atCreation: { metadata: { labels: { l: 'x' } } } }), object).kind).toBe('none');
  });

  it('leaves an object alone that is going away', () => {
    expect(plan(wish({}), live({}, { deletionTimestamp: '2026-11-22T18:00:00Z' })).kind).toBe('none');
  });

  it('waits for the uid and the generation that it was derived from', () => {
    expect(plan(wish({ precondition: { uid: 'other' } }), live({})).kind).toBe('none');
    expect(plan(wish({ precondition: { generation: 1 } }), live({})).kind).toBe('none');
    expect(plan(wish({ precondition: { uid: 'u', generation: 2 } }), live({})).kind).toBe('merge');
  });
});

describe('a wish by server-side apply', () => {
  const status = (...conditions: readonly JsonObject[]): Wish =>
    wish({
      subresource: 'status',
      verb: 'apply',
      fields: { status: { conditions } },
      listKeys: { 'status.conditions': 'type' },
    });

  it('finds its conditions among those of others', () => {
    const object = live({ status: { conditions: [condition('Theirs', 'True'), condition('Ready', 'True')] } });
    expect(plan(status(condition('Ready', 'True')), object).kind).toBe('none');
    expect(plan(status(condition('Ready', 'False')), object).kind).toBe('apply');
    expect(plan(status(condition('Other', 'True')), object).kind).toBe('apply');
  });

  it('removes what the manager owns and does not wish any more', () => {
    const fields = (...types: readonly string[]): JsonObject => ({
      'f:status': {
        'f:conditions': Object.fromEntries(
          types.map(type => [`k:{"type":"${type}"}`, { '.': {}, 'f:type': {}, 'f:status': {} }]),
        ),
      },
    });
    const object = (...types: readonly string[]): JsonObject =>
      live({ status: { conditions: types.map(type => condition(type, 'True')) } }, owns(fields(...types)));
    expect(plan(status(condition('A', 'True')), object('A')).kind).toBe('none');
    expect(plan(status(condition('A', 'True')), object('A', 'B'))).toMatchObject({
      kind: 'apply',
      object: { status: { conditions: [condition('A', 'True')] } },
    });
  });

  it('has no status of an object that is not there', () => {
    expect(plan(status(condition('A', 'True')), undefined)).toEqual({ kind: 'none', why: 'no object' });
  });

  it('for absence clears the fields of its own, and is fulfilled without any', () => {
    const absent = wish({ subresource: 'status', verb: 'apply', fields: undefined });
    expect(plan(absent, live({}, owns({ 'f:status': {} }))).kind).toBe('apply');
    expect(plan(absent, live({ status: { theirs: 'x' } })).kind).toBe('none');
  });
});

describe('absence of an object', () => {
  const absent = wish({ fields: undefined, verb: 'apply' });
  const managed = (manager: string): JsonObject => ({
    managedFields: [{ manager, operation: 'Apply', fieldsV1: {} }],
  });

  it('deletes what the manager made, as it was looked at, and nothing of others', () => {
    expect(plan(absent, live({}, managed('pilot-discovery')))).toEqual({
      kind: 'delete',
      uid: 'u',
      resourceVersion: '7',
    });
    expect(plan(absent, live({}, managed('kubectl'))).kind).toBe('none');
    expect(plan(absent, undefined).kind).toBe('none');
  });
});

describe('any wish by merge', () => {
  const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>(tie => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>('x', 'y', 1, true, ['l']),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json'), { maxKeys: 3 }),
    ),
  })).json;
  const object = fc.dictionary(fc.constantFrom('data', 'spec', 'other'), value, { maxKeys: 3 });

  it('is fulfilled by what its plan makes of any object, and foreign fields stay', () => {
    fc.assert(
      fc.property(object, fc.option(object, { nil: undefined }), (fields, before) => {
        const one = wish({ fields });
        const now = before === undefined ? undefined : live(before);
        const made = plan(one, now);
        if (made.kind === 'none') return;
        const after =
          made.kind === 'create'
            ? live(made.object)
            : (mergePatch(now, made.kind === 'merge' ? made.patch : null) as JsonObject);
        expect(plan(one, after)).toEqual({ kind: 'none', why: 'fulfilled' });
        for (const [name, member] of Object.entries(before ?? {})) {
          if (fields[name] === undefined) expect(jsonEqual(after[name], member)).toBe(true);
          else if (isObject(member) && isObject(fields[name])) {
            const kept = Object.keys(member).filter(
              key => fields[name] !== undefined && !(key in (fields[name] as object)),
            );
            for (const key of kept) expect((after[name] as JsonObject)[key]).toEqual(member[key]);
          }
        }
      }),
    );
  });
});
