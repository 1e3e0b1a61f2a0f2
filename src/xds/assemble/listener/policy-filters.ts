// The filters of policies: identical in every chain about the same object, so they are made once for HTTP and once for
// TCP.

import type { ProxyReader, Query, Reader } from '../../../core/query/reader.ts';
import type { Rule } from '../../../core/schema/istio-types.gen.ts';
import {
  type AppliedPolicy,
  authorizationOfProxy,
  authorizationOfTunnels,
  type PolicyScope,
} from '../../../core/select/policy/authorization.ts';
import { tokenRulesOfProxy } from '../../../core/select/policy/request-authentication.ts';
import {
  policyBlocks,
  type RulePart,
  type RuleRange,
  ruleParts,
  ruleRanges,
  VALUES_PER_WORK_UNIT,
} from '../../../core/select/policy/rule-ranges.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import type { PolicySubject } from '../../../core/select/telemetry/traffic-class.ts';
import { isUnknown } from '../../generate/listener/authorization/attributes.ts';
import {
  type AuthorizationFilters,
  authorizationFilters,
  type ChainPeer,
  peerIdentities,
  tunnelAuthorizationFilters,
} from '../../generate/listener/authorization/filters.ts';
import { longLists } from '../../generate/listener/authorization/rule.ts';
import {
  type BlockContext,
  expandedList,
  policyBlock,
  type RuleBlock,
  ruleBlock,
  type ValueBlock,
  valueBlock,
} from '../../generate/listener/authorization/rule-block.ts';
import {
  conditionBlock,
  entryBlock,
  joinedConditions,
  joinedRule,
  leftOut,
  type PartInputs,
} from '../../generate/listener/authorization/rule-part.ts';
import { jwtFilters } from '../../generate/listener/request-authentication.ts';
import type { HttpFilter } from '../../proto/types.gen.ts';

const NO_FILTERS: AuthorizationFilters = { custom: [], rules: [] };

export interface PolicyChain extends PolicyScope {
  readonly chain: 'http' | 'tcp';
  /** Where the filters find who the peer is. */
  readonly peer: ChainPeer;
}

const authorizationFiltersOf: Query<PolicyChain, AuthorizationFilters> = {
  name: 'listener/authorizationFiltersOf',
  key: ({ chain, beside, subject, peer }) => `${chain}|${beside}|${subject}|${peer}`,
  run: (reader, { chain, beside, subject, peer }) => {
    const inputs = reader.get(authorizationOfProxy, { beside, subject });
    if (inputs === undefined) return NO_FILTERS;
    const tcp = chain === 'tcp';
    const { custom, rules } = peerIdentities(peer);
    const { trustDomains } = inputs;
    const external = inputs.external.flatMap(({ policies }) => policies);
    const blocks = [
      ...ruleBlocks(reader, external, { tcp, peer: custom, trustDomains }),
      ...ruleBlocks(reader, inputs.policies, { tcp, peer: rules, trustDomains }),
    ];
    return reader.make(authorizationFilters, { inputs, blocks, tcp, peer });
  },
};

/** The rules of those policies that have many, and of all policies that are many. */
function ruleBlocks(reader: Reader, policies: readonly AppliedPolicy[], context: BlockContext): readonly RuleBlock[] {
  return [
    ...policies.flatMap(policy => ruleRanges(policy.spec.rules).map(range => blockOf(reader, policy, range, context))),
    ...policyBlocks(policies).flatMap(block => reader.make(policyBlock, { policies: block, ...context })),
  ];
}

function blockOf(reader: Reader, policy: AppliedPolicy, range: RuleRange, context: BlockContext): RuleBlock {
  const { from, to, work } = range;
  // A range with a long list, or with many entries, consists of one rule.
  const rule = to - from > 1 || work * VALUES_PER_WORK_UNIT < VALUES_TOGETHER ? undefined : policy.spec.rules![from]!;
  if (rule === undefined) return reader.make(ruleBlock, { policy, range, ...context });
  const parts = ruleParts(rule);
  if (parts.length > 0) return blockOfParts(reader, policy, parts, context);
  return reader.make(ruleBlock, { policy, range, values: valueBlocks(reader, policy, rule, context), ...context });
}

/** Of a rule with many entries. */
function blockOfParts(
  reader: Reader,
  policy: AppliedPolicy,
  parts: readonly RulePart[],
  context: BlockContext,
): RuleBlock {
  const inputsOf = (part: RulePart): PartInputs => {
    const values = valueBlocks(reader, policy, part.rule, context);
    return { policy, part, values, ...context };
  };
  const when = parts.filter(({ list }) => list === 'when').map(part => reader.make(conditionBlock, inputsOf(part)));
  const { conditions } = reader.make(joinedConditions, { blocks: when });
  if (conditions === undefined) return leftOut(policy);
  const entries = parts
    .filter(({ list }) => list !== 'when')
    .map(part => reader.make(entryBlock, { ...inputsOf(part), conditions }));
  return reader.make(joinedRule, { policy, entries });
}

const VALUES_TOGETHER = 512;

/** The values of long lists of a rule. */
function valueBlocks(
  reader: Reader,
  { namespace }: AppliedPolicy,
  rule: Rule,
  context: BlockContext,
): readonly ValueBlock[] {
  const lists = longLists(rule).filter(({ attribute }) => !isUnknown(attribute, context));
  const { peer, trustDomains } = context;
  return lists.flatMap(written => {
    const list =
      written.attribute.expand === undefined ? written : reader.make(expandedList, { list: written, trustDomains });
    return Array.from({ length: Math.ceil(list.values.length / VALUES_TOGETHER) }, (_, i) => {
      const range = { from: i * VALUES_TOGETHER, to: Math.min(list.values.length, (i + 1) * VALUES_TOGETHER) };
      return reader.make(valueBlock, { list, ...range, namespace, peer });
    });
  });
}

const requestAuthenticationFiltersOf: Query<PolicySubject, readonly HttpFilter[]> = {
  name: 'listener/requestAuthenticationFiltersOf',
  run: (reader, subject) => {
    const rules = reader.get(tokenRulesOfProxy, subject);
    if (rules.length === 0) return [];
    return reader.make(jwtFilters, { rules, sidecar: proxyType(reader) === 'sidecar' });
  },
};

/** Of the listener that takes tunnels. */
export const tunnelAuthorization: Query<'', readonly HttpFilter[]> = {
  name: 'listener/tunnelAuthorization',
  run: reader => {
    const inputs = reader.get(authorizationOfTunnels, '');
    if (inputs === undefined) return NO_FILTERS.rules;
    const { policies, trustDomains } = inputs;
    const blocks = ruleBlocks(reader, policies, { tcp: true, peer: 'tls', trustDomains });
    return reader.make(tunnelAuthorizationFilters, { inputs, blocks });
  },
};

/** `of.beside` undefined: no policy decides about the chain. */
export function authorizationOf(
  reader: ProxyReader,
  of: Omit<PolicyChain, 'beside'> & { readonly beside: string | undefined },
): AuthorizationFilters {
  const { beside } = of;
  return beside === undefined ? NO_FILTERS : reader.get(authorizationFiltersOf, { ...of, beside });
}

/** `applies`: requests end at a workload here, so its rules about their tokens count. */
export function requestAuthenticationOf(
  reader: ProxyReader,
  applies: boolean,
  subject: PolicySubject,
): readonly HttpFilter[] {
  return applies ? reader.get(requestAuthenticationFiltersOf, subject) : [];
}
