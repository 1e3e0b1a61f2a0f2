// The decision tree of facet keys: how many facets a look-up asks for, and what remains after replacement and removal.

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import type { FacetKey } from '../../../../src/core/query/facet-key.ts';
import type { Facet } from '../../../../src/core/query/facets.ts';
import { type Variant, Variants } from '../../../../src/core/query/variants.ts';

function facet(id: string): Facet {
  return { kind: 'plain', id, read: () => undefined };
}

const color = facet('color');
const size = facet('size');

/** Records the facets that a look-up asks for. */
function answering(answers: Readonly<Record<string, Json>>): {
  ask: (facet: Facet) => Json | undefined;
  asked: string[];
} {
  const asked: string[] = [];
  const ask = ({ id }: Facet): Json | undefined => {
    asked.push(id);
    return answers[id];
  };
  return { ask, asked };
}

function variant(...facetKey: FacetKey): Variant {
  return { facetKey };
}

describe('variants', () => {
  it('are found by asking for only the facets of the query, however many variants there are', () => {
    const variants = new Variants<Variant>();
    const all = Array.from({ length: 1_000 }, (_, i) => variant([color, i % 10], [size, i]));
    for (const one of all) variants.put(one, 10_000);
    const { ask, asked } = answering({ color: 7, size: 457 });
    expect(variants.find(ask)).toBe(all[457]);
    expect(asked).toEqual(['color', 'size']);
    expect(variants.find(answering({ color: 3, size: 457 }).ask)).toBeUndefined();
  });

  it('are ruled out without asking for further facets', () => {
    const variants = new Variants<Variant>();
    variants.put(variant([color, 'red'], [size, 1]), 10);
    const { ask, asked } = answering({ color: 'blue' });
    expect(variants.find(ask)).toBeUndefined();
    expect(asked).toEqual(['color']);
  });

  it('may have different facets in their keys', () => {
    const variants = new Variants<Variant>();
    const red = variant([color, 'red']);
    const small = variant([size, 1]);
    variants.put(red, 10);
    variants.put(small, 10);
    expect(variants.find(answering({ color: 'blue', size: 1 }).ask)).toBe(small);
    variants.delete(small);
    expect(variants.find(answering({ color: 'blue', size: 1 }).ask)).toBeUndefined();
    expect(variants.find(answering({ color: 'red', size: 1 }).ask)).toBe(red);
  });

  it('replace one with an equal facet key', () => {
    const variants = new Variants<Variant>();
    variants.put(variant([color, 'red']), 10);
    const next = variant([color, 'red']);
    variants.put(next, 10);
    expect([...variants]).toEqual([next]);
    expect(variants.find(answering({ color: 'red' }).ask)).toBe(next);
  });

  it('are bounded: the oldest is dropped', () => {
    const variants = new Variants<Variant>();
    for (let i = 0; i < 5; i++) variants.put(variant([size, i]), 3);
    expect([...variants].map(({ facetKey }) => facetKey[0]![1])).toEqual([2, 3, 4]);
    expect(variants.find(answering({ size: 1 }).ask)).toBeUndefined();
  });

  it('leave no branch behind when deleted', () => {
    const variants = new Variants<Variant>();
    const deep = variant([color, 'red'], [size, 1]);
    variants.put(deep, 10);
    variants.delete(deep);
    variants.delete(deep);
    const { ask, asked } = answering({ color: 'red', size: 1 });
    expect(variants.find(ask)).toBeUndefined();
    expect(asked).toEqual([]);
    expect(variants.size).toBe(0);
  });
});
