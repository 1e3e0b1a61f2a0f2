// Policies that trust domain aliases multiply past the limit.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { AuthorizationPolicy } from '../../../../../src/core/schema/istio-types.gen.ts';
import { authorizationOfProxy } from '../../../../../src/core/select/policy/authorization.ts';
import { policyFindings } from '../../../../../src/core/select/policy/policy-findings.ts';
import { exceedsReplacement } from '../../../../../src/core/select/policy/trust-domain-limit.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const proxy = proxyOf(nodeOf({ namespace: 'shop', labels: { app: 'web' } }));
const many = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `cluster.local/ns/n${i}/sa/x`);

/** One policy in force with this number of principals, in a mesh of 1,000 trust domains, and the findings about it. */
function inForce(action: string | undefined, principals: number) {
  const aliases = Array.from({ length: 999 }, (_, i) => `td${i}`);
  const policy: JsonObject = {
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name: 'p', namespace: 'shop' },
    spec: { ...(action && { action }), rules: [{ from: [{ source: { principals: many(principals) } }] }] },
  };
  const state = world([policy], { mesh: { trustDomainAliases: aliases } });
  const spec = ask(state, authorizationOfProxy, { beside: '', subject: '' }, proxy)?.policies[0]?.spec;
  const found = ask(state, policyFindings, '').filter(({ effect }) => effect === 'refuses');
  return { action: spec?.action, rules: spec?.rules, findings: found.map(({ key, path }) => `${key} ${path}`) };
}

describe('a policy whose principals exceed the limit in all trust domains', () => {
  it('allows nothing if it is ALLOW', () => {
    expect(inForce(undefined, 101)).toEqual({ action: undefined, rules: [], findings: ['shop/p spec.rules'] });
    expect(inForce('ALLOW', 101)).toEqual({ action: 'ALLOW', rules: [], findings: ['shop/p spec.rules'] });
  });

  it('denies everything if it is DENY', () => {
    expect(inForce('DENY', 101)).toEqual({ action: 'DENY', rules: [{}], findings: ['shop/p spec.rules'] });
  });

  it('records nothing if it is AUDIT', () => {
    expect(inForce('AUDIT', 101)).toEqual({ action: 'AUDIT', rules: [], findings: ['shop/p spec.rules'] });
  });
});

describe('a policy at the limit', () => {
  it('acts as it is written', () => {
    const rules = [{ from: [{ source: { principals: many(100) } }] }];
    expect(inForce('DENY', 100)).toEqual({ action: 'DENY', rules, findings: [] });
  });

  const exceeds = (rule: JsonObject, domains = 1_000): boolean =>
    exceedsReplacement({ rules: [rule] } as AuthorizationPolicy, domains);
  const sources = (count: number, source: JsonObject) => Array.from({ length: count }, () => ({ source }));

  it('counts each condition once for each source', () => {
    const when = [{ key: 'source.principal', values: many(10) }];
    expect(exceeds({ when, from: sources(10, { namespaces: ['a'] }) })).toBe(false);
    expect(exceeds({ when, from: sources(11, { namespaces: ['a'] }) })).toBe(true);
    expect(exceeds({ when })).toBe(false);
    expect(exceeds({ when: [{ key: 'source.principal', notValues: many(101) }] })).toBe(true);
    expect(exceeds({ when: [{ key: 'source.namespace', values: many(101) }] })).toBe(false);
  });

  it('counts the trust domains of the mesh once for each list of trust domains', () => {
    expect(exceeds({ from: sources(1, { trustDomains: many(3_000) }) })).toBe(false);
    expect(exceeds({ from: sources(100, { notTrustDomains: ['td'] }) })).toBe(true);
    expect(exceeds({ when: [{ key: 'source.trustDomain', values: ['td'] }], from: sources(100, {}) })).toBe(true);
  });

  it('has any number of principals in a mesh of one trust domain', () => {
    expect(exceeds({ from: sources(1, { principals: many(100_001) }) }, 1)).toBe(false);
  });
});
