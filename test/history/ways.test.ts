// Which state is made next in idle time: the longest way is halved first, no place is chosen twice, and the work ends
// with every way as short as the kept states allow.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestWay, PREPARED_EVENTS_MAX, type Ways } from '../../src/history/ways.ts';
import { parameters } from '../property/seed.ts';

const anyWays = fc
  .record({
    starts: fc.array(fc.nat(200_000), { maxLength: 12, size: 'max' }),
    head: fc.nat(300_000),
    spacing: fc.constantFrom(512, 1_024, 4_096, 32_768),
    longEnough: fc.constantFrom(0, 700, 16_384),
  })
  .map(({ starts, head, ...rest }): Ways => {
    return { ...rest, head, starts: ascending([0, ...starts.filter(start => start <= head)]) };
  });

function ascending(positions: readonly number[]): readonly number[] {
  return [...new Set(positions)].sort((a, b) => a - b);
}

/** Of events to fold, to the last position before the next start. */
function lengths({ starts, head }: Ways): readonly number[] {
  return starts.map((from, i) => (starts[i + 1] ?? head + 1) - 1 - from);
}

/** The places chosen until there are no more, and the ways that are left. */
function prepared(ways: Ways): { readonly places: readonly number[]; readonly left: Ways } {
  const places: number[] = [];
  let left = ways;
  for (let way = longestWay(left); way !== undefined; way = longestWay(left)) {
    places.push(way.to);
    left = { ...left, starts: ascending([...left.starts, way.to]) };
  }
  return { places, left };
}

describe('the way that is shortened next', () => {
  it('is a longest one, and is folded to about its middle', () => {
    fc.assert(
      fc.property(anyWays, ways => {
        const way = longestWay(ways);
        if (way === undefined) return;
        const { from, to, end } = way;
        expect(end - from).toBe(Math.max(...lengths(ways)));
        expect(to % ways.spacing).toBe(0);
        expect(to).toBeGreaterThan(from);
        expect(to).toBeLessThanOrEqual(end);
        expect(to - from).toBeLessThanOrEqual(Math.max(PREPARED_EVENTS_MAX, ways.spacing));
        expect(to - from).toBeLessThanOrEqual((end - from + 1) / 2 + ways.spacing);
      }),
      parameters(300),
    );
  });

  it('is another one each time, until all are short', () => {
    fc.assert(
      fc.property(anyWays, ways => {
        const { places, left } = prepared(ways);
        expect(new Set([...ways.starts, ...places]).size).toBe(ways.starts.length + places.length);
        expect(Math.max(...lengths(left))).toBeLessThan(Math.max(ways.spacing, ways.longEnough));
      }),
      parameters(100),
    );
  });

  it('leaves every way about half as long after one state for each of 36 equal ones', () => {
    const starts = Array.from({ length: 37 }, (_, i) => Math.floor((1_000_000 * i) / 36));
    const ways: Ways = { starts, head: 1_000_000, spacing: 4_096, longEnough: 16_384 };
    const { places, left } = prepared(ways);
    expect(Math.max(...lengths(ways))).toBeGreaterThan(27_000);
    // Places are multiples of the spacing, so that some ways are cut a second time.
    expect(places.length).toBeLessThan(60);
    expect(Math.max(...lengths(left))).toBeLessThan(16_384);
  });

  it('is none of a journal without events', () => {
    expect(longestWay({ starts: [0], head: 0, spacing: 512, longEnough: 0 })).toBeUndefined();
  });
});
