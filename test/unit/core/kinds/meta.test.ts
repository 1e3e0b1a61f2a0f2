import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { showProblem } from '../../../../src/core/base/problem.ts';
import { parseTimestamp } from '../../../../src/core/base/time.ts';
import { DEPTH_MAX } from '../../../../src/core/kinds/limits.ts';
import { decodeMeta, type ObjectMeta } from '../../../../src/core/kinds/meta.ts';
import { definitions } from '../../../../src/core/kinds/registry.ts';
import { LABELS_MAX } from '../../../../src/core/kinds/validate/labels.ts';

function meta(metadata: Json, kind: 'Service' | 'Node' | 'WasmPlugin' = 'Service'): ObjectMeta | readonly string[] {
  const decoded = decodeMeta({ metadata }, definitions[kind]);
  return isRight(decoded) ? decoded.right : decoded.left.map(showProblem);
}

describe('metadata of an object', () => {
  test('keep the fields that are read', () => {
    const metadata = {
      name: 'reviews',
      namespace: 'prod',
      labels: { app: 'reviews' },
      annotations: { 'networking.istio.io/exportTo': '.', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      resourceVersion: '7',
      uid: 'u',
    };
    expect(meta(metadata)).toEqual({
      namespace: 'prod',
      name: 'reviews',
      labels: { app: 'reviews' },
      annotations: { 'networking.istio.io/exportTo': '.' },
      creationTime: 1_767_225_600_000,
      resourceVersion: '',
      uid: '',
    });
  });
  test('put a namespaced object without namespace into default, and a cluster-scoped one into none', () => {
    expect(meta({ name: 'a' })).toMatchObject({ namespace: 'default' });
    expect(meta({ name: 'a', namespace: 'prod' }, 'Node')).toMatchObject({ namespace: '' });
  });
  test('have as many labels as a selector of Istio may name, and are refused with more', () => {
    const labels = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x']));
    const most = meta({ name: 'a', labels: labels(LABELS_MAX) });
    expect(most).toMatchObject({ name: 'a' });
    expect(meta({ name: 'a', labels: labels(LABELS_MAX + 1) })).toEqual([
      'metadata.labels: is 4097 labels; at most 4096 allowed',
    ]);
  });
  test('keep the resourceVersion of a WasmPlugin', () => {
    expect(meta({ name: 'a', resourceVersion: '7' }, 'WasmPlugin')).toMatchObject({ resourceVersion: '7' });
  });
  test.each([undefined, null, 'yesterday', '2026-02-30T00:00:00Z', 7])(
    'turn the creation time %j into 0, never into the time of arrival',
    creationTimestamp => {
      expect(meta({ name: 'a', creationTimestamp } as JsonObject)).toMatchObject({ creationTime: 0 });
    },
  );
  test.each<[Json, string]>([
    [undefined as unknown as Json, 'metadata: is missing; expected an object with a name'],
    ['a', 'metadata: is missing; expected an object with a name'],
    [{ namespace: 'prod' }, 'metadata.name: is missing'],
    [{ name: 7 }, 'metadata.name: expected a string, found 7'],
    [
      { name: 'Reviews_1' },
      'metadata.name: "Reviews_1" is not a name: expected lower case letters, digits, "-" and "."',
    ],
    [{ name: 'a'.repeat(254) }, 'metadata.name: is 254 characters long; at most 253 are allowed'],
    [
      { name: 'a', namespace: 'a/b' },
      'metadata.namespace: "a/b" is not a namespace: expected at most 63 lower case letters, digits and "-"',
    ],
    [{ name: 'a', labels: ['x'] }, 'metadata.labels: expected an object, found a list'],
    [{ name: 'a', labels: { 'a b': 'c' } }, 'metadata.labels: "a b" is not a label key: expected [prefix/]name'],
  ])('such as %j are refused: %s', (metadata, problem) => {
    expect(meta(metadata)).toContain(problem);
  });
  test('are refused before any recursion if the object is nested too deep', () => {
    const nested = (levels: number): Json => {
      let value: Json = 'x';
      for (let i = 0; i < levels; i += 1) value = { a: value };
      return value;
    };
    const deep = decodeMeta({ metadata: { name: 'a' }, spec: nested(100_000) }, definitions.EnvoyFilter);
    expect(isLeft(deep) && deep.left.map(showProblem)).toEqual([
      `the object is nested more than ${DEPTH_MAX} levels deep`,
    ]);
    expect(isRight(decodeMeta({ metadata: { name: 'a' }, spec: nested(DEPTH_MAX - 1) }, definitions.EnvoyFilter))).toBe(
      true,
    );
  });
});

describe('a timestamp', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2000-02-29T12:30:15.25Z', 951_827_415_250],
    ['2026-01-01T02:00:00+02:00', 1_767_225_600_000],
    ['2025-12-31T19:00:00-05:00', 1_767_225_600_000],
    ['1969-12-31T23:59:59.999Z', -1],
    ['2026-01-01T00:00:00.123456789Z', 1_767_225_600_123],
    ['9999-12-31T23:59:59Z', 253_402_300_799_000],
  ])('such as %s is %d ms', (text, ms) => {
    expect(parseTimestamp(text)).toBe(ms);
  });
  test.each([
    '',
    '2026-01-01',
    '2026-13-01T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:00',
  ])('such as %j is refused', text => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});
