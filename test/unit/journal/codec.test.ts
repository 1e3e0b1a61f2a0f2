// What is stored of a fact, and what `append` gives back of it.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { encodeFact, encodeSnapshotFact, encodingFact, inspect } from '../../../src/journal/codec.ts';
import { BODY_DEPTH_MAX } from '../../../src/journal/journal.ts';
import { SEALED_PREFIX } from '../../../src/journal/private-values.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { added } from './helpers.ts';

const vault = (marked: readonly (readonly string[])[] = []): Vault =>
  new Vault({ keyFile: undefined, recorded: undefined, readonly: false, privatePaths: () => marked });
const nested = (levels: number): unknown => (levels === 0 ? 'x' : { in: nested(levels - 1) });

describe('a fact that JSON carries as it is', () => {
  it('is given back itself, lists and all', () => {
    const fact = added('a', { list: [1, ['x', true, null]] });
    expect(encodeFact(fact, vault()).fact).toBe(fact);
    expect(inspect({ list: [1, {}] }, 'Add')).toEqual({ exact: true, isPrivate: false, members: 4 });
  });

  it('may be nested as deeply as the limit says, and no deeper', () => {
    expect(inspect(nested(BODY_DEPTH_MAX), 'Add').exact).toBe(true);
    expect(() => inspect(nested(BODY_DEPTH_MAX + 1), 'Add')).toThrow('nested deeper than 1000 levels');
  });
});

describe('a fact that JSON changes', () => {
  class Odd {
    readonly name = 'x';
  }
  it.each([
    ['a number that is none', { n: Number.NaN }],
    ['a negative zero', { n: [-0] }],
    ['a missing member', { n: undefined }],
    ['an object of a class', { n: new Odd() }],
  ])('is not exact: %s', (_what, value) => {
    expect(inspect(value, 'Add').exact).toBe(false);
  });
});

describe('a text that begins as a sealed value does', () => {
  it('is private, and one that only ends so is not', () => {
    expect(inspect({ a: `${SEALED_PREFIX}x` }, 'Add').isPrivate).toBe(true);
    expect(inspect({ a: `x${SEALED_PREFIX}` }, 'Add').isPrivate).toBe(false);
  });
});

describe('a member with the name of the prototype', () => {
  it('is stored like other members, without the envelope', () => {
    const fact = JSON.parse(
      '{"source":"s","kind":"Gap","__proto__":{"a":1},"lost":0,"reason":"r","since":1}',
    ) as Unrecorded;
    expect(encodeFact(fact, vault()).body).toBe('{"__proto__":{"a":1},"lost":0,"reason":"r","since":1}');
  });
});

describe('a value that the caller marks as private', () => {
  it('is sealed in a snapshot', () => {
    const fact = { kind: 'Note', text: 'hunter2' };
    expect(encodeSnapshotFact({ source: 'x', fact }, vault([['text']]))).not.toContain('hunter2');
    expect(encodeSnapshotFact({ source: 'x', fact }, vault())).toContain('hunter2');
  });
});

describe('a Secret of tens of thousands of values', () => {
  const values = Object.fromEntries(
    Array.from({ length: 30_000 }, (_, i) => [`k${(i * 7_919) % 30_000}`, `hunter${i}`]),
  );
  const fact: Unrecorded = {
    source: 'file/x',
    kind: 'Add',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'a' },
      data: values,
      stringData: values,
    },
  } as unknown as Unrecorded;

  it('is sealed in many steps, into the same text as at once', () => {
    const own = vault();
    const whole = encodeFact(fact, own);
    let steps = 0;
    const encoding = encodingFact(fact, own);
    let step = encoding.next();
    for (; step.done !== true; step = encoding.next()) steps++;
    // For each of both lists its text takes four steps.
    expect(steps).toBeGreaterThan(8);
    expect(step.value).toEqual(whole);
    expect(whole.body).not.toContain('hunter');
    expect(own.open(whole.body, 1)).toMatchObject({ object: { data: values, stringData: values } });
  });
});
