// Rules of policies that have many, or that are many, rendered in blocks (core/select/policy/rule-ranges.ts); the
// filters then only join them. Values of one rule, of which it may have 100,000, are rendered in blocks of their own.
// Few policies of usual size have no block: their rules are rendered with the filter.

import { groupsOf, joined } from '../../../../core/base/groups.ts';
import type { Generator } from '../../../../core/query/memo.ts';
import type { AppliedPolicy } from '../../../../core/select/policy/authorization.ts';
import { type RuleRange, VALUES_PER_WORK_UNIT, workOfPolicies } from '../../../../core/select/policy/rule-ranges.ts';
import type { Policy } from '../../../proto/types.gen.ts';
import { type RuleContext, renderedValues } from './attributes.ts';
import { expanded, rulePolicy, type ValueList } from './rule.ts';

/** What is the same for every policy of a chain. */
export interface ChainContext extends Omit<RuleContext, 'namespace'> {
  /** In the order of the rules. */
  readonly blocks?: ReadonlyMap<AppliedPolicy, readonly RuleBlock[]>;
}

export interface RuleBlock {
  readonly policy: AppliedPolicy;
  /** One for each rule; undefined: it cannot be rendered. */
  readonly rules: readonly (Policy | undefined)[];
}

export interface BlockContext {
  readonly tcp: boolean;
  readonly peer: RuleContext['peer'];
  readonly trustDomains: readonly string[];
}

export interface RuleBlockInputs extends BlockContext {
  readonly policy: AppliedPolicy;
  readonly range: RuleRange;
  /** Of the long lists of the rules: all of their values. */
  readonly values?: readonly ValueBlock[];
}

export const ruleBlock: Generator<RuleBlockInputs, RuleBlock> = {
  name: 'listener/ruleBlock',
  run: ({ policy, range: { from, to }, values = [], ...context }) => ({
    policy,
    rules: rendered(policy, contextOf(policy, values, context), from, to),
  }),
  work: (_, { range, values = [] }) => (values.length === 0 ? range.work : range.work / JOINED_PER_RENDERED),
};

/** `values`: of long lists, all of them. */
export function contextOf(
  { namespace }: AppliedPolicy,
  values: readonly ValueBlock[],
  context: BlockContext,
): RuleContext {
  if (values.length === 0) return { ...context, namespace };
  const blocks = groupsOf(values, ({ given }) => given);
  const rendered = new Map([...blocks].map(([given, own]) => [given, joined(own.map(({ parts }) => parts))]));
  return { ...context, namespace, rendered };
}

/** Values that are joined in the time in which one is rendered. */
export const JOINED_PER_RENDERED = 16;

/** The rules of policies that have few each, in order. */
export const policyBlock: Generator<
  BlockContext & { readonly policies: readonly AppliedPolicy[] },
  readonly RuleBlock[]
> = {
  name: 'listener/policyBlock',
  run: ({ policies, ...context }) => policies.map(policy => ({ policy, rules: rendered(policy, context) })),
  work: (_, { policies }) => workOfPolicies(policies),
};

/** Some values of a long list. */
export interface ValueBlock {
  readonly given: readonly string[];
  readonly parts: readonly unknown[];
}

export interface ValueBlockInputs {
  readonly list: ValueList;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** That of the policy. */
  readonly namespace: string;
  readonly peer: RuleContext['peer'];
}

export const valueBlock: Generator<ValueBlockInputs, ValueBlock> = {
  name: 'listener/valueBlock',
  run: ({ list: { attribute, given, values }, from, to, ...context }) => ({
    given,
    parts: renderedValues(attribute, values.slice(from, to), { ...context, tcp: false, trustDomains: [] }),
  }),
  work: (_, { from, to }) => (to - from) / VALUES_PER_WORK_UNIT,
};

/** One for the same list, so that blocks of it are found by it. */
export const expandedList: Generator<
  { readonly list: ValueList; readonly trustDomains: readonly string[] },
  ValueList
> = {
  name: 'listener/expandedList',
  run: ({ list, trustDomains }) => ({ ...list, values: expanded(list.attribute, list.given, { trustDomains }) }),
  work: ({ values }) => values.length / VALUES_PER_WORK_UNIT,
};

/** All rules of the policy. */
export function renderedRules(policy: AppliedPolicy, context: ChainContext): readonly (Policy | undefined)[] {
  const blocks = context.blocks?.get(policy);
  return blocks === undefined ? rendered(policy, context) : blocks.flatMap(({ rules }) => rules);
}

function rendered(
  { namespace, spec: { action = 'ALLOW', rules = [] } }: AppliedPolicy,
  context: Omit<RuleContext, 'namespace'>,
  from = 0,
  to = rules.length,
): readonly (Policy | undefined)[] {
  const own = { ...context, namespace };
  return rules.slice(from, to).map(rule => rulePolicy(rule, own, action === 'ALLOW'));
}
