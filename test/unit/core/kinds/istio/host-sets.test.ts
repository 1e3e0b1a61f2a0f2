// What is found about a list of hosts without comparing pairs is what comparing all pairs finds.

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { coverOf, earlierOverlaps } from '../../../../../src/core/kinds/istio/validate/host-sets.ts';
import { matches, subsetOf } from '../../../../../src/core/model/hosts.ts';

const host = fc
  .tuple(fc.constantFrom('', '*', '*', '*-', '*.'), fc.stringMatching(/^[ab.]{0,4}$/))
  .map(([wild, name]) => wild + name);
const hosts = fc.array(host, { maxLength: 10 });

test('the first earlier host that overlaps is the one that comparing all pairs finds', () => {
  fc.assert(
    fc.property(hosts, list => {
      const pairs = list.map((one, i) => {
        const at = list.slice(0, i).findIndex(other => matches(other, one));
        return at < 0 ? undefined : at;
      });
      expect(earlierOverlaps(list)).toEqual(pairs);
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

test('a host is covered when it is a subset of any of the list', () => {
  fc.assert(
    fc.property(hosts, host, (list, one) => {
      expect(coverOf(list)(one)).toBe(list.some(of => subsetOf(one, of)));
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

test('a hundred thousand hosts take no longer than ten times ten thousand, give or take', () => {
  const take = (count: number): number => {
    const list = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? `h${i}.example.com` : `*.w${i}.example.com`));
    const before = process.cpuUsage();
    earlierOverlaps(list);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  // The least of some: collections and other programs make single ones longer.
  const least = (count: number): number => Math.min(take(count), take(count), take(count));
  expect(least(100_000)).toBeLessThan(40 * Math.max(least(10_000), 5));
});

test('names of which each ends with 250 wildcards are looked up once each, not once for each wildcard', () => {
  const wildcards = Array.from({ length: 250 }, (_, i) => `*${'a'.repeat(250 - i)}`);
  const names = Array.from({ length: 1_000 }, (_, i) => `${i}${'a'.repeat(250)}`);
  const slice = vi.spyOn(String.prototype, 'slice');
  const found = earlierOverlaps([...names, ...wildcards]);
  const slices = slice.mock.calls.length;
  slice.mockRestore();
  expect(found.slice(-250)).toEqual(Array(250).fill(0));
  expect(slices).toBeLessThan(2 * (names.length + 2 * wildcards.length));
});
