// The rules of an AuthorizationPolicy, of which one may have tens of thousands, taken in blocks: each is rendered by a
// run of its own, so that it is a piece of work that can be cut from the others.

import type { Condition, Operation, Rule, Rule_From, Rule_To, Source } from '../../schema/istio-types.gen.ts';

/** Rules of one block have about as many values together. */
const VALUES_TOGETHER = 512;
/** A rule takes as long as this many values, whatever it has. */
const VALUES_OF_RULE = 4;
/** A policy takes as long as this many values beside its rules. */
const VALUES_OF_POLICY = 8;
/** Values that are rendered in about the time of one run of a query. */
export const VALUES_PER_WORK_UNIT = 64;

export interface RuleRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Units of the work budget that rendering takes. */
  readonly work: number;
}

interface Measured {
  readonly ranges: readonly RuleRange[];
  /** Of all rules. */
  readonly values: number;
}

const measured = new WeakMap<readonly Rule[], Measured>();
const NO_RULES: Measured = { ranges: [], values: VALUES_OF_RULE };

/** In order. None: there are so few rules that whatever has the policy can render them itself. */
export function ruleRanges(rules: readonly Rule[] | undefined): readonly RuleRange[] {
  return measure(rules).ranges;
}

interface PolicyOfRules {
  readonly spec: { readonly rules?: readonly Rule[] };
}

/** Policies have a block of their own from this many values on, all together. */
const VALUES_ALONE_MIN = 4 * VALUES_TOGETHER;

/** The policies without ranges, in order, in blocks that take as long as a range. None: they are few. */
export function policyBlocks<P extends PolicyOfRules>(policies: readonly P[]): readonly (readonly P[])[] {
  const blocks: P[][] = [];
  let all = 0;
  let values = 0;
  for (const policy of policies) {
    const own = measure(policy.spec.rules);
    if (own.ranges.length > 0) continue;
    if (values === 0) blocks.push([]);
    blocks.at(-1)!.push(policy);
    const weight = own.values + VALUES_OF_POLICY;
    all += weight;
    values = values + weight < VALUES_TOGETHER ? values + weight : 0;
  }
  return all < VALUES_ALONE_MIN ? [] : blocks;
}

/** Units of the work budget that rendering all of their rules takes. */
export function workOfPolicies(policies: readonly PolicyOfRules[]): number {
  const values = policies.reduce((sum, { spec }) => sum + measure(spec.rules).values + VALUES_OF_POLICY, 0);
  return values / VALUES_PER_WORK_UNIT;
}

function measure(rules: readonly Rule[] | undefined): Measured {
  if (rules === undefined) return NO_RULES;
  const known = measured.get(rules);
  if (known !== undefined) return known;
  const found = rules.length === 1 ? measureOne(rules[0]!) : measureAll(rules);
  measured.set(rules, found);
  return found;
}

function measureOne(rule: Rule): Measured {
  const values = VALUES_OF_RULE + valuesOf(rule);
  return { ranges: values < VALUES_TOGETHER ? NO_RULES.ranges : [rangeOf(0, 1, values)], values };
}

function rangeOf(from: number, to: number, values: number): RuleRange {
  return { from, to, work: values / VALUES_PER_WORK_UNIT };
}

function measureAll(rules: readonly Rule[]): Measured {
  const made: RuleRange[] = [];
  let from = 0;
  let values = 0;
  let all = 0;
  const end = (to: number): void => {
    if (values > 0) made.push(rangeOf(from, to, values));
    from = to;
    all += values;
    values = 0;
  };
  rules.forEach((rule, i) => {
    const own = VALUES_OF_RULE + valuesOf(rule);
    // A rule of many values has a range of its own.
    if (own >= VALUES_TOGETHER) end(i);
    values += own;
    if (values >= VALUES_TOGETHER) end(i + 1);
  });
  end(rules.length);
  const isSmall = made.length === 1 && made[0]!.work < VALUES_TOGETHER / VALUES_PER_WORK_UNIT;
  return { ranges: isSmall ? NO_RULES.ranges : made, values: all };
}

function valuesOf({ from = [], to = [], when = [] }: Rule): number {
  let values = from.length + to.length;
  for (const { source } of from) if (source !== undefined) values += valuesIn(source);
  for (const { operation } of to) if (operation !== undefined) values += valuesIn(operation);
  // Conditions are rendered once for each source or operation.
  for (const condition of when) values += valuesIn(condition);
  return values;
}

/** A rule with more entries in its lists is rendered in parts. */
const ENTRIES_ALONE_MAX = 512;
/** An entry takes as long as this many values, whatever it has. */
const VALUES_OF_ENTRY = 4;

/** Consecutive entries of one list of a rule, as a rule. */
export interface RulePart {
  readonly list: 'from' | 'to' | 'when';
  readonly rule: Rule;
  /** Units of the work budget that rendering takes. */
  readonly work: number;
}

const parts = new WeakMap<Rule, readonly RulePart[]>();
const NO_PARTS: readonly RulePart[] = [];

/**
 * The entries of each list of the rule in order, a list without any as one part; the same objects each time. None: the
 * rule has so few that it is rendered at once.
 */
export function ruleParts(rule: Rule): readonly RulePart[] {
  const { from = [], to = [], when = [] } = rule;
  if (from.length + to.length + when.length <= ENTRIES_ALONE_MAX) return NO_PARTS;
  const known = parts.get(rule);
  if (known !== undefined) return known;
  const made: RulePart[] = [];
  addParts(
    made,
    when,
    lists => valuesIn(lists),
    part => ({ list: 'when', rule: { when: part } }),
  );
  addParts(
    made,
    to,
    ({ operation = {} }) => valuesIn(operation),
    part => ({ list: 'to', rule: { to: part } }),
  );
  addParts(
    made,
    from,
    ({ source = {} }) => valuesIn(source),
    part => ({ list: 'from', rule: { from: part } }),
  );
  parts.set(rule, made);
  return made;
}

function addParts<E extends Condition | Rule_To | Rule_From>(
  made: RulePart[],
  entries: readonly E[],
  valuesOfEntry: (entry: E) => number,
  partOf: (entries: readonly E[]) => Omit<RulePart, 'work'>,
): void {
  let from = 0;
  let values = 0;
  const end = (to: number): void => {
    if (values > 0) made.push({ ...partOf(entries.slice(from, to)), work: values / VALUES_PER_WORK_UNIT });
    from = to;
    values = 0;
  };
  entries.forEach((entry, i) => {
    const own = VALUES_OF_ENTRY + valuesOfEntry(entry);
    if (own >= VALUES_TOGETHER) end(i);
    values += own;
    if (values >= VALUES_TOGETHER) end(i + 1);
  });
  if (entries.length === 0) values = VALUES_OF_ENTRY;
  end(entries.length);
}

function valuesIn(lists: Source | Operation | Condition): number {
  let values = 0;
  for (const name in lists) {
    const list: unknown = lists[name as keyof typeof lists];
    if (Array.isArray(list)) values += list.length;
  }
  return values;
}
