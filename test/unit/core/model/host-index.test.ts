// A search by index gives what a comparison of each pair of hosts gives.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostIndex } from '../../../../src/core/model/host-index.ts';
import { matches, mostSpecific, subsetOf } from '../../../../src/core/model/hosts.ts';

const name = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 4 }).map(parts => parts.join(''));
const host = fc.tuple(fc.constantFrom('', '', '*'), name).map(([star, rest]) => star + rest);

/** Pair by pair. */
function compared(hosts: readonly string[], other: string): readonly string[] {
  const found = hosts.flatMap(one => (subsetOf(one, other) ? [one] : subsetOf(other, one) ? [other] : []));
  return [...new Set(found)];
}

describe('an index of hosts', () => {
  it('finds what a comparison of all pairs finds, in its order', () => {
    fc.assert(
      fc.property(fc.array(host, { maxLength: 8 }), host, (hosts, other) => {
        const index = new HostIndex(hosts);
        expect([...new Set(index.meeting(other))]).toEqual(compared(hosts, other));
        expect(index.meets(other)).toBe(hosts.some(one => matches(one, other)));
        expect(index.covers(other)).toBe(hosts.some(one => subsetOf(other, one)));
        expect(index.mostSpecific(other)).toBe(mostSpecific(other, hosts));
        const meeting = new Set(hosts.filter(one => matches(one, other)));
        expect([...index.hostsMeeting(other)].sort()).toEqual([...meeting].sort());
      }),
      { numRuns: 2_000 },
    );
  });
});
