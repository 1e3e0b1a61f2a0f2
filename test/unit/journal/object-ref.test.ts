// What is found in stored text without parsing it is what parsing finds, or nothing.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import { objectRefIn, SCANNED_CHARS_MAX } from '../../../src/journal/object-ref.ts';
import { parameters } from '../../property/seed.ts';

const bodyOf = (object: Json): string => canonicalJson({ object, origin: { file: 'a.yaml' } });
const known = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'one' } } as const;

/** What parsing finds, if all of it is text. */
function parsed(body: string): unknown {
  const { object } = JSON.parse(body) as { readonly object?: Json };
  if (object === undefined || !isObject(object) || !isObject(object.metadata)) return undefined;
  const { apiVersion, kind, metadata } = object;
  const { name, namespace = '' } = metadata;
  return { apiVersion, kind, namespace, name };
}

const anyKey = fc.constantFrom('apiVersion', 'kind', 'metadata', 'name', 'namespace', 'a', 'z', 'lab', 'mm', 'é', '"');
const anyJson: fc.Arbitrary<Json> = fc.letrec<{ readonly value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>('v1', 'Pod', 'x', '', 'q"', 'back\\', '{', ']', 'Ä', 'Ģ', 0, -1.5, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 5 }),
  ),
})).value;
const anyObject: fc.Arbitrary<Json> = fc.oneof(
  anyJson,
  fc
    .tuple(fc.dictionary(anyKey, anyJson, { maxKeys: 4 }), fc.dictionary(anyKey, anyJson, { maxKeys: 4 }))
    .map(([members, metadata]): JsonObject => ({ ...known, ...members, metadata: { ...known.metadata, ...metadata } })),
);

function agrees(refIn: (body: string) => unknown): fc.IProperty<[Json]> {
  return fc.property(anyObject, object => {
    const body = bodyOf(object);
    const found = refIn(body);
    if (found !== undefined) expect(found).toEqual(parsed(body));
  });
}

describe('the object reference of stored text', () => {
  it('equals the one that parsing finds, or is unknown', () => {
    fc.assert(agrees(objectRefIn), parameters<[Json]>(2_000));
  });
  it('canary: differs if the first name in the text is taken', () => {
    const first = (body: string): unknown => ({
      ...known,
      metadata: undefined,
      name: /"name":"(.*?)"/.exec(body)?.[1],
    });
    expect(fc.check(agrees(first), { numRuns: 500, seed: 1 }).failed).toBe(true);
  });
  it('is found with any text around it', () => {
    const data = {
      odd: 'one " and {',
      x: '"metadata":{"name":"no"}',
      metadata: { name: 'no' },
      kind: [{ kind: 'no' }],
    };
    const object = {
      ...known,
      data,
      spec: { a: 1 },
      metadata: { labels: { name: 'no' }, ...known.metadata, uid: 'u' },
    };
    expect(objectRefIn(bodyOf(object))).toEqual({ apiVersion: 'v1', kind: 'Pod', namespace: 'one', name: 'a' });
    expect(objectRefIn(bodyOf({ ...object, metadata: { name: 'a' } }))).toMatchObject({ namespace: '', name: 'a' });
  });
  it.each<readonly [string, string]>([
    ['no object', canonicalJson({ ref: known })],
    ['a name with an escape', bodyOf({ ...known, metadata: { name: 'a"b' } })],
    ['no name', bodyOf({ ...known, metadata: { namespace: 'one' } })],
    ['a namespace that is no text', bodyOf({ ...known, metadata: { name: 'a', namespace: null } })],
    ['no kind', bodyOf({ apiVersion: 'v1', metadata: { name: 'a' } })],
    ['metadata that is a list', bodyOf({ ...known, metadata: [] })],
    ['characters of several bytes', bodyOf({ ...known, data: 'é' })],
    ['a long text', bodyOf({ ...known, data: 'x'.repeat(SCANNED_CHARS_MAX) })],
    ['a name without its colon', bodyOf(known).replace('"metadata":', '"metadata"=')],
    ['metadata that end as a list does', bodyOf({ ...known, metadata: { name: 'a' } }).replace('"a"}', '"a"]')],
    ['a text cut off', bodyOf(known).slice(0, 40)],
    ['a text cut off in the metadata', bodyOf(known).slice(0, 75)],
  ])('is unknown for %s', (_what, body) => {
    expect(objectRefIn(body)).toBeUndefined();
  });
});
