// What merging the DestinationRules of one host costs.

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
