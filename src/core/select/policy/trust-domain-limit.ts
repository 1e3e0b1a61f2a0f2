// A limit on what trust domain aliases multiply. Each principal of an AuthorizationPolicy stands for the same principal
// in every trust domain of the mesh (Istio pilot/pkg/security/trustdomain/bundle.go), so a small policy and a small
// MeshConfig can make gigabytes. A policy past the limit closes: ALLOW allows nothing, DENY and CUSTOM deny everything
// where they apply, AUDIT records nothing.

import type { AuthorizationPolicySpec } from '../../kinds/istio/refused-policy.ts';
import type { AuthorizationPolicy, Rule } from '../../schema/istio-types.gen.ts';

/** Principals of one policy in all trust domains of the mesh. */
export const REPLACED_PRINCIPALS_MAX = 100_000;

const PRINCIPAL_KEY = 'source.principal';
const DOMAIN_KEY = 'source.trustDomain';

/** `domains`: number of trust domains of the mesh, its own among them. */
export function exceedsReplacement({ rules = [] }: AuthorizationPolicy, domains: number): boolean {
  if (domains <= 1) return false;
  let count = 0;
  for (const rule of rules) {
    count += replacedIn(rule, domains);
    if (count > REPLACED_PRINCIPALS_MAX) return true;
  }
  return false;
}

/** Conditions are rendered once for each source. */
function replacedIn({ from = [], when = [] }: Rule, domains: number): number {
  let conditions = 0;
  for (const { key, values = [], notValues = [] } of when) {
    for (const list of [values, notValues]) {
      if (key === PRINCIPAL_KEY) conditions += list.length * domains;
      else if (key === DOMAIN_KEY) conditions += domainsIn(list, domains);
    }
  }
  let count = conditions * Math.max(from.length, 1);
  for (const { source = {} } of from) {
    const { principals = [], notPrincipals = [], trustDomains = [], notTrustDomains = [] } = source;
    count += (principals.length + notPrincipals.length) * domains;
    count += domainsIn(trustDomains, domains) + domainsIn(notTrustDomains, domains);
  }
  return count;
}

/** Of the mesh's own all together give each domain once. */
function domainsIn(list: readonly string[], domains: number): number {
  return list.length === 0 ? 0 : list.length + domains;
}

/** What acts in place of a policy past the limit. */
export function closedPolicy(spec: AuthorizationPolicySpec): AuthorizationPolicySpec {
  const { provider: _, ...rest } = spec;
  if (spec.action === 'DENY' || spec.action === 'CUSTOM') return { ...rest, action: 'DENY', rules: [{}] };
  return { ...rest, rules: [] };
}
