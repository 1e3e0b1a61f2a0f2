// The watches of a client: an immutable map in push order. And the rules of types that this order rests on.

import { describe, expect, test } from 'vitest';
import { byPushOrder, CDS, EDS, LDS, RDS, rulesOf, SDS } from '../../../../src/xds/session/types.ts';
import { Watches } from '../../../../src/xds/session/watches.ts';

describe('the watches of a client', () => {
  const three = new Watches<number>().with(RDS, 4).with(CDS, 1).with(LDS, 3);

  test('are in push order, whatever the order in which they came', () => {
    expect([...three]).toEqual([
      [CDS, 1],
      [LDS, 3],
      [RDS, 4],
    ]);
    expect([...three.with(EDS, 2)].map(([, watch]) => watch)).toEqual([1, 2, 3, 4]);
    expect(three.size).toBe(3);
    expect([three.get(LDS), three.get(EDS), three.has(LDS), three.has(EDS)]).toEqual([3, undefined, true, false]);
  });

  test('keep the list of types when a watch of it changes', () => {
    const changed = three.with(LDS, 30);
    expect([changed.get(LDS), three.get(LDS)]).toEqual([30, 3]);
    expect(changed.typeUrls).toBe(three.typeUrls);
  });

  test('lose one alone, and are the same value if it was not there', () => {
    expect([...three.without(LDS)]).toEqual([
      [CDS, 1],
      [RDS, 4],
    ]);
    expect(three.without(EDS)).toBe(three);
    expect(three.without(LDS).get(LDS)).toBeUndefined();
  });
});

describe('a resource type without rules of its own', () => {
  test('is a wildcard type whose removals are told, as in Istio', () => {
    expect(rulesOf('a/b.c.Unknown')).toMatchObject({ url: 'a/b.c.Unknown', wildcard: true, absence: 'removed' });
  });

  test.each([
    ['networking.istio.io/v1/VirtualService', 'VirtualService'],
    ['type.googleapis.com/a.b.Other', 'Other'],
    ['v1.2/Pod', 'Pod'],
    ['plain', 'plain'],
  ])('is shown for %s as %s', (url, short) => {
    expect(rulesOf(url).short).toBe(short);
  });

  test('comes after those with rules, by its URL, and is equal to itself', () => {
    expect([byPushOrder('a', 'b'), byPushOrder('b', 'a'), byPushOrder('b', 'b')]).toEqual([-1, 1, 0]);
    expect(byPushOrder(SDS, 'a')).toBeLessThan(0);
    expect(byPushOrder('a', SDS)).toBeGreaterThan(0);
    expect(byPushOrder(SDS, SDS)).toBe(0);
  });
});
