// What merging the DestinationRules of one host costs, and that exports are found as if all were compared.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExportedRule, mergedRules } from '../../../../../src/core/select/scope/destination-rule-merge.ts';

describe('merging DestinationRules that each have a selector of their own', () => {
  /** How often a selector is read. */
  const readsOf = (count: number): number => {
    let reads = 0;
    const rules = Array.from({ length: count }, (_, i) => ({
      rule: {
        spec: {
          get workloadSelector() {
            reads++;
            return { matchLabels: { app: `a${i}` } };
          },
        },
      },
      exportTo: ['.'],
    }));
    expect(mergedRules(rules as unknown as readonly ExportedRule[], true)).toHaveLength(count);
    return reads;
  };
  it('reads four times the selectors for four times the rules', () => {
    expect(readsOf(400)).toBe(4 * readsOf(100));
  });
});

describe('merging DestinationRules that are each exported to other namespaces', () => {
  /** How often a list is looked into. */
  const readsOf = (count: number): number => {
    let reads = 0;
    const read: ProxyHandler<readonly string[]> = {
      get: (list, key) => {
        reads++;
        return Reflect.get(list, key);
      },
    };
    const rules = Array.from({ length: count }, (_, i) => ({
      rule: { spec: {} },
      exportTo: new Proxy(['all', `n${i}`], read),
    }));
    expect(mergedRules(rules as unknown as readonly ExportedRule[], true)).toHaveLength(count);
    return reads;
  };
  it('looks into four times the lists for four times the rules', () => {
    expect(readsOf(400) / readsOf(100)).toBeLessThan(4.5);
  });
});

/** Positions of the rules in each entry, every pair of exports compared. */
function compared(exports: readonly (readonly string[])[]): readonly (readonly number[])[] {
  const entries: { readonly exportTo: readonly string[]; readonly from: number[] }[] = [];
  for (const [position, exportTo] of exports.entries()) {
    let alone = true;
    for (const entry of entries) {
      const isWithin = entry.exportTo.every(target => exportTo.includes(target));
      const joins = isWithin && (entry.exportTo.length > 0 || exportTo.length === 0);
      if (joins) entry.from.push(position);
      alone = !joins;
    }
    if (alone) entries.push({ exportTo, from: [position] });
  }
  return entries.map(({ from }) => from);
}

describe('DestinationRules of one host without a selector', () => {
  it('join the entries that are exported to the same or to a part of it', () => {
    const exported = fc.subarray(['*', '.', 'a', 'b', 'c']);
    fc.assert(
      fc.property(fc.array(exported, { maxLength: 8 }), exports => {
        const rules = exports.map((exportTo, position) => ({ rule: { spec: {}, position }, exportTo }));
        const merged = mergedRules(rules as unknown as readonly ExportedRule[], true);
        const positions = merged.map(({ from }) =>
          from.map(rule => (rule as unknown as { position: number }).position),
        );
        expect(positions).toEqual(compared(exports));
      }),
      { numRuns: 1_000 },
    );
  });
});
