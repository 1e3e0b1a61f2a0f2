// The RBAC filters of AuthorizationPolicies: one for each of AUDIT, DENY and ALLOW that a policy of the proxy has, in
// this order.
//
// A rule set that is present and empty is not the same as none: an empty ALLOW refuses every request.
// Source: Istio pilot/pkg/security/authz/builder/builder.go.

import type { AppliedPolicy } from '../../../../core/select/policy/authorization.ts';
import { any } from '../../../proto/any.ts';
import {
  type Filter,
  type HttpFilter,
  type HttpRBAC,
  type Policy,
  type RBAC,
  RBAC_Action,
} from '../../../proto/types.gen.ts';
import { neverPolicy } from './rule.ts';
import { type ChainContext, renderedRules } from './rule-block.ts';

const filterOrder = ['AUDIT', 'DENY', 'ALLOW'] as const;
type FilterAction = (typeof filterOrder)[number];
const actionCodes: Readonly<Record<FilterAction, number | undefined>> = {
  AUDIT: RBAC_Action.LOG,
  DENY: RBAC_Action.DENY,
  ALLOW: undefined,
};
const shadowPrefixes: Readonly<Record<FilterAction, string | undefined>> = {
  AUDIT: undefined,
  DENY: 'istio_dry_run_deny_',
  ALLOW: 'istio_dry_run_allow_',
};

/** `network`: for a network chain, else for an HTTP chain, which may take rules about connections alone too. */
export function rbacFilters(
  policies: readonly AppliedPolicy[],
  context: ChainContext,
  network: boolean = context.tcp,
): readonly (HttpFilter & Filter)[] {
  const filters: (HttpFilter & Filter)[] = [];
  for (const action of filterOrder) {
    const own = policies.filter(({ spec }) => (spec.action ?? 'ALLOW') === action);
    if (own.length > 0) filters.push(rbacFilter(rbacOf(action, own, context), network));
  }
  return filters;
}

export function rbacFilter(config: HttpRBAC, network: boolean): HttpFilter & Filter {
  return network
    ? {
        name: 'envoy.filters.network.rbac',
        typedConfig: any('envoy.extensions.filters.network.rbac.v3.RBAC', { ...config, statPrefix: 'tcp.' }),
      }
    : { name: 'envoy.filters.http.rbac', typedConfig: any('envoy.extensions.filters.http.rbac.v3.RBAC', config) };
}

function rbacOf(action: FilterAction, policies: readonly AppliedPolicy[], context: ChainContext): HttpRBAC {
  const enforced = policies.filter(({ dryRun }) => !dryRun);
  const shadow = policies.filter(({ dryRun }) => dryRun);
  return {
    rules: enforced.length === 0 ? undefined : ruleSet(actionCodes[action], enforced, context),
    shadowRules: shadow.length === 0 ? undefined : ruleSet(actionCodes[action], shadow, context),
    shadowRulesStatPrefix: shadow.length === 0 ? shadowPrefixes.ALLOW : shadowPrefixes[action],
  };
}

/** `nameOf` makes the key of a rule's policy. Undefined action: ALLOW. */
export function ruleSet(
  action: number | undefined,
  policies: readonly AppliedPolicy[],
  context: ChainContext,
  nameOf: (name: string) => string = name => name,
): RBAC {
  const made: Record<string, Policy> = {};
  for (const policy of policies) {
    const rules = policy.spec.rules ?? [];
    const names = `ns[${policy.namespace}]-policy[${policy.name}]-rule`;
    if (rules.length === 0) made[nameOf(`${names}[0]`)] = neverPolicy;
    renderedRules(policy, context).forEach((own, i) => {
      if (own !== undefined) made[nameOf(`${names}[${i}]`)] = own;
    });
  }
  return { action: action as RBAC['action'], policies: Object.keys(made).length === 0 ? undefined : made };
}
