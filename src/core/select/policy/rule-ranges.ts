// The rules of an AuthorizationPolicy, of which one may have tens of thousands, taken in blocks: each is rendered by a
// run of its own, so that it is a piece of work that can be cut from the others.

import type { Condition, Operation, Rule, Source } from '../../schema/istio-types.gen.ts';

/** Rules of one block have about as many values together. */
const VALUES_TOGETHER = 512;
/** A rule takes as long as this many values, whatever it has. */
const VALUES_OF_RULE = 4;
/** Values that are rendered in about the time of one run of a query. */
const VALUES_PER_WORK_UNIT = 64;

export interface RuleRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Units of the work budget that rendering takes. */
  readonly work: number;
}

const ranges = new WeakMap<readonly Rule[], readonly RuleRange[]>();

/** In order. None: there are so few rules that whatever has the policy can render them itself. */
export function ruleRanges(rules: readonly Rule[] | undefined): readonly RuleRange[] {
  if (rules === undefined) return [];
  const known = ranges.get(rules);
  if (known !== undefined) return known;
  const made: RuleRange[] = [];
  let from = 0;
  let values = 0;
  rules.forEach((rule, i) => {
    values += VALUES_OF_RULE + valuesOf(rule);
    if (values < VALUES_TOGETHER && i + 1 < rules.length) return;
    made.push({ from, to: i + 1, work: values / VALUES_PER_WORK_UNIT });
    from = i + 1;
    values = 0;
  });
  const all = made.length === 1 && made[0]!.work < VALUES_TOGETHER / VALUES_PER_WORK_UNIT ? [] : made;
  ranges.set(rules, all);
  return all;
}

function valuesOf({ from = [], to = [], when = [] }: Rule): number {
  let values = 0;
  const count = (lists: Source | Operation | Condition): void => {
    for (const list of Object.values(lists)) if (Array.isArray(list)) values += list.length;
  };
  for (const { source = {} } of from) count(source);
  for (const { operation = {} } of to) count(operation);
  // Conditions are rendered once for each source or operation.
  for (const condition of when) count(condition);
  return values + from.length + to.length;
}
