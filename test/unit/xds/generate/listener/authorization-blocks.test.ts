// Policies of thousands of rules, whose rendering is cut.

import { describe, expect, it } from 'vitest';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { Slice } from '../../../../../src/core/query/work-budget.ts';
import type { AppliedPolicy } from '../../../../../src/core/select/policy/authorization.ts';
import { authorizationOf } from '../../../../../src/xds/assemble/listener/policy-filters.ts';
import { workloadAuthorizations } from '../../../../../src/xds/assemble/workload/resources.ts';
import { authorizationFilters } from '../../../../../src/xds/generate/listener/authorization/filters.ts';
import { authorization } from '../../../../../src/xds/generate/workload/authorization.ts';
import { nodeOf, proxyOf, world } from '../../../world.ts';

describe('a policy of many rules', () => {
  const rules = Array.from({ length: 500 }, (_, i) => ({
    from: [{ source: { namespaces: [`n${i}`, `m${i}`] } }],
    to: [{ operation: { ports: ['1', '2', '3', `${i + 4}`], ...(i % 7 === 0 ? { notPaths: ['/x'] } : {}) } }],
  }));
  const policy = (action: string) =>
    `{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: a}, spec: ${JSON.stringify({ action, rules })}}`;
  const ambient = { settings: { env: { PILOT_ENABLE_AMBIENT: 'true' } } };

  it.each(['ALLOW', 'DENY'])('with action %s is rendered in pieces of work, for Envoy and for ztunnel', action => {
    const state = world([policy(action)], ambient);
    const proxy = proxyOf(nodeOf({ namespace: 'a', name: 'p' }));
    const of = { chain: 'tcp', beside: '', subject: '', peer: 'tls' } as const;
    const query: Query<'', unknown> = {
      name: 'test/manyRules',
      run: reader => [authorizationOf(reader, of), reader.get(workloadAuthorizations, '')],
    };
    const tracker = new Tracker();
    let slices = 1;
    let found: Slice<object>;
    for (; ; slices++) {
      found = tracker.within(20, () => tracker.get(state, proxy, query, '') as object);
      if (found.value !== undefined) break;
      expect(found.finished).toBeGreaterThan(0);
    }
    expect(slices).toBeGreaterThan(4);

    const applies = { namespace: 'a', name: 'p', spec: { action, rules }, dryRun: false } as AppliedPolicy;
    const inputs = { policies: [applies], external: [], trustDomains: ['cluster.local'] };
    const ofZtunnel = {
      namespace: 'a',
      name: 'p',
      scope: 'NAMESPACE',
      action: action as 'DENY',
      dryRun: false,
    } as const;
    expect(found.value).toEqual([
      authorizationFilters.run({ inputs, tcp: true, peer: 'tls' }),
      [authorization.run({ policy: { ...ofZtunnel, rules } })],
    ]);
  });
});
