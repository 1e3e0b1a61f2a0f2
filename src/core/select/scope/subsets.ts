// The subsets of a DestinationRule, of which one rule may have tens of thousands: found by name without a walk through
// all of them, and taken in blocks, so that interrupted work does not start over from the first one.

import type { DestinationRule, Subset } from '../../schema/istio-types.gen.ts';

/** Subsets of one block have clusters that are made, and made anew, together. */
export const SUBSETS_TOGETHER = 64;

interface RuleOfSubsets {
  readonly spec: DestinationRule;
}

export interface SubsetRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export const ALL_SUBSETS: SubsetRange = { from: 0, to: Number.POSITIVE_INFINITY };

/** Where each block of subsets begins; one block, which is empty, for a rule without any. */
export function subsetBlocks(rule: RuleOfSubsets | undefined): readonly number[] {
  const count = Math.max(1, Math.ceil((rule?.spec.subsets?.length ?? 0) / SUBSETS_TOGETHER));
  return Array.from({ length: count }, (_, block) => block * SUBSETS_TOGETHER);
}

export function subsetsWithin(rule: RuleOfSubsets | undefined, { from, to }: SubsetRange): readonly Subset[] {
  return rule?.spec.subsets?.slice(from, to) ?? [];
}

const named = new WeakMap<readonly Subset[], ReadonlyMap<string, Subset>>();

/** Of equal names the first. A subset without a name is found by none. */
export function subsetNamed(rule: DestinationRule | undefined, name: string): Subset | undefined {
  const subsets = rule?.subsets;
  if (subsets === undefined) return undefined;
  let byName = named.get(subsets);
  if (byName === undefined) {
    byName = new Map(subsets.toReversed().map(subset => [subset.name, subset] as const)) as Map<string, Subset>;
    named.set(subsets, byName);
  }
  return byName.get(name);
}
