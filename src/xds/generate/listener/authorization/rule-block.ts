// Rules of policies that have many, rendered in blocks (core/select/policy/rule-ranges.ts); the filters then only join
// them. A policy of usual size has no block: its rules are rendered with the filter.

import type { Generator } from '../../../../core/query/memo.ts';
import type { AppliedPolicy } from '../../../../core/select/policy/authorization.ts';
import type { RuleRange } from '../../../../core/select/policy/rule-ranges.ts';
import type { Policy } from '../../../proto/types.gen.ts';
import type { RuleContext } from './attributes.ts';
import { rulePolicy } from './rule.ts';

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

export interface RuleBlockInputs {
  readonly policy: AppliedPolicy;
  readonly range: RuleRange;
  readonly tcp: boolean;
  readonly peer: RuleContext['peer'];
  readonly trustDomains: readonly string[];
}

export const ruleBlock: Generator<RuleBlockInputs, RuleBlock> = {
  name: 'listener/ruleBlock',
  run: ({ policy, range: { from, to }, ...context }) => ({ policy, rules: rendered(policy, context, from, to) }),
  work: (_, { range }) => range.work,
};

/** All rules of the policy. */
export function renderedRules(policy: AppliedPolicy, context: ChainContext): readonly (Policy | undefined)[] {
  const blocks = context.blocks?.get(policy);
  return blocks === undefined ? rendered(policy, context) : blocks.flatMap(({ rules }) => rules);
}

function rendered(
  { namespace, spec: { action = 'ALLOW', rules = [] } }: AppliedPolicy,
  context: ChainContext,
  from = 0,
  to = rules.length,
): readonly (Policy | undefined)[] {
  const own = { ...context, namespace };
  return rules.slice(from, to).map(rule => rulePolicy(rule, own, action === 'ALLOW'));
}
