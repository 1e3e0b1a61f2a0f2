// Authorization on a proxyless gRPC server: DENY, then ALLOW. gRPC enforces nothing else, so AUDIT, CUSTOM and policies
// on trial (dry run) have no filter.
//
// gRPC treats a matcher that it does not know as one that matches everything. Such a value counts as one that cannot be
// rendered: an ALLOW rule with it allows nothing, a DENY rule loses it and refuses more. An ALLOW policy without rules
// refuses every request, as it does on a proxy.
// Source: Istio pilot/pkg/networking/grpcgen/lds.go (buildRBAC); gRPC A41 (xDS RBAC support).

import type { AppliedPolicy, AuthorizationInputs } from '../../../../core/select/policy/authorization.ts';
import { any } from '../../../proto/any.ts';
import { type HttpFilter, type Policy, RBAC_Action } from '../../../proto/types.gen.ts';
import type { RuleContext } from './attributes.ts';
import { neverPolicy, rulePolicy } from './rule.ts';

export function proxylessAuthorization(inputs: AuthorizationInputs | undefined): readonly HttpFilter[] {
  const enforced = (inputs?.policies ?? []).filter(({ dryRun }) => !dryRun);
  const deny = policiesOf(
    enforced.filter(({ spec }) => spec.action === 'DENY'),
    false,
  );
  const allow = policiesOf(
    enforced.filter(({ spec }) => (spec.action ?? 'ALLOW') === 'ALLOW'),
    true,
  );
  return [
    ...(deny === undefined ? [] : [rbac('envoy.filters.http.rbac.DENY', RBAC_Action.DENY, deny)]),
    ...(allow === undefined ? [] : [rbac('envoy.filters.http.rbac', undefined, allow)]),
  ];
}

function rbac(name: string, action: number | undefined, policies: Readonly<Record<string, Policy>>): HttpFilter {
  const rules = { action: action as RBAC_Action | undefined, policies };
  return { name, typedConfig: any('envoy.extensions.filters.http.rbac.v3.RBAC', { rules }) };
}

/**
 * By namespace, name and index of the rule. The keys of two policies can be equal (`a`/`b-c` and `a-b`/`c`): the second
 * gets a key of its own; istiod overwrites the first. Undefined: there is nothing to enforce.
 */
function policiesOf(policies: readonly AppliedPolicy[], allows: boolean): Readonly<Record<string, Policy>> | undefined {
  const made: Record<string, Policy> = {};
  for (const { namespace, name, spec } of policies) {
    const rules = spec.rules ?? [];
    const context: RuleContext = { tcp: false, peer: 'tls', trustDomains: [], namespace, grpc: true };
    const add = (i: number, policy: Policy): void => {
      made[freeName(made, `${namespace}-${name}-${i}`)] = policy;
    };
    if (rules.length === 0 && allows) add(0, neverPolicy);
    rules.forEach((rule, i) => {
      const own = rulePolicy(rule, context, allows) ?? (allows ? neverPolicy : undefined);
      if (own !== undefined) add(i, own);
    });
  }
  return Object.keys(made).length === 0 ? undefined : made;
}

function freeName(taken: Readonly<Record<string, Policy>>, wanted: string): string {
  let name = wanted;
  // No name of an object has this sign.
  while (Object.hasOwn(taken, name)) name += "'";
  return name;
}
