// A rule with many entries, rendered in parts (core/select/policy/rule-ranges.ts): first its conditions, which every
// operation or source has, then operations and sources. The rule then only joins them.

import { joined } from '../../../../core/base/groups.ts';
import type { Generator } from '../../../../core/query/memo.ts';
import type { AppliedPolicy } from '../../../../core/select/policy/authorization.ts';
import type { RulePart } from '../../../../core/select/policy/rule-ranges.ts';
import type { Permission, Principal } from '../../../proto/types.gen.ts';
import { type Conditions, orOne, renderedConditions, renderedOperations, renderedSources } from './rule.ts';
import { type BlockContext, contextOf, JOINED_PER_RENDERED, type RuleBlock, type ValueBlock } from './rule-block.ts';

/** Undefined members: something cannot be rendered, and the rule is left out. */
export interface ConditionBlock {
  readonly conditions: Conditions | undefined;
}

/** Of operations, or of sources. */
export interface EntryBlock {
  readonly permissions?: readonly Permission[] | undefined;
  readonly principals?: readonly Principal[] | undefined;
}

export interface PartInputs extends BlockContext {
  readonly policy: AppliedPolicy;
  readonly part: RulePart;
  /** Of the long lists of its entries: all of their values. */
  readonly values: readonly ValueBlock[];
}

export const conditionBlock: Generator<PartInputs, ConditionBlock> = {
  name: 'listener/conditionBlock',
  run: ({ policy, part, values, ...context }) => ({
    conditions: renderedConditions(part.rule.when, contextOf(policy, values, context), allows(policy)),
  }),
  work: workOfPart,
};

/** All conditions of a rule. */
export const joinedConditions: Generator<{ readonly blocks: readonly ConditionBlock[] }, ConditionBlock> = {
  name: 'listener/joinedConditions',
  run: ({ blocks }) => {
    const made: Conditions[] = [];
    for (const { conditions } of blocks) {
      if (conditions === undefined) return { conditions: undefined };
      made.push(conditions);
    }
    const permissions = joined(made.map(({ permissions }) => permissions));
    return { conditions: { permissions, principals: joined(made.map(({ principals }) => principals)) } };
  },
};

/** Some operations or sources of a rule. */
export const entryBlock: Generator<PartInputs & { readonly conditions: Conditions }, EntryBlock> = {
  name: 'listener/entryBlock',
  run: ({ policy, part: { list, rule }, values, conditions, ...given }) => {
    const context = contextOf(policy, values, given);
    return list === 'to'
      ? { permissions: renderedOperations(orOne(rule.to), conditions, context, allows(policy)) }
      : { principals: renderedSources(orOne(rule.from), conditions, context, allows(policy)) };
  },
  work: ({ permissions = [], principals = [] }, inputs) => {
    const { conditions } = inputs;
    const copied =
      permissions.length * conditions.permissions.length + principals.length * conditions.principals.length;
    return workOfPart(undefined, inputs) + copied / COPIED_PER_WORK_UNIT;
  },
};

/** Conditions that are copied to an operation or a source in about the time of one run of a query. */
const COPIED_PER_WORK_UNIT = 8_192;

function workOfPart(_: unknown, { part: { work }, values }: PartInputs): number {
  return values.length === 0 ? work : work / JOINED_PER_RENDERED;
}

/** The rule of all entries. */
export const joinedRule: Generator<
  { readonly policy: AppliedPolicy; readonly entries: readonly EntryBlock[] },
  RuleBlock
> = {
  name: 'listener/joinedRule',
  run: ({ policy, entries }) => {
    const permissions: (readonly Permission[])[] = [];
    const principals: (readonly Principal[])[] = [];
    for (const block of entries) {
      if (block.permissions !== undefined) permissions.push(block.permissions);
      else if (block.principals !== undefined) principals.push(block.principals);
      else return leftOut(policy);
    }
    return { policy, rules: [{ permissions: joined(permissions), principals: joined(principals) }] };
  },
};

/** Of a rule that cannot be rendered. */
export function leftOut(policy: AppliedPolicy): RuleBlock {
  return { policy, rules: [undefined] };
}

function allows({ spec: { action = 'ALLOW' } }: AppliedPolicy): boolean {
  return action === 'ALLOW';
}
