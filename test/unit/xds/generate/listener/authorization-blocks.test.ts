// Policies of thousands of rules, whose rendering is cut.

import { describe, expect, it } from 'vitest';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { SliceGrowth } from '../../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { Slice } from '../../../../../src/core/query/work-budget.ts';
import { type AppliedPolicy, authorizationOfProxy } from '../../../../../src/core/select/policy/authorization.ts';
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

describe('authorization of many values', () => {
  type Spec = AppliedPolicy['spec'];
  const of = { beside: '', subject: '', peer: 'tls' } as const;
  const texts = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i));
  const policyOf = (name: string, spec: Spec) =>
    ({
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata: { name, namespace: 'a' },
      spec,
    }) as never;

  /** The filters of policies that are made in slices, those that are made at once, and the runs of generators. */
  function made(chain: 'http' | 'tcp', specs: readonly Spec[]) {
    const state = world(
      specs.map((spec, i) => policyOf(`p${String(i).padStart(4, '0')}`, spec)),
      { mesh: { trustDomainAliases: ['old'] } },
    );
    const tracker = new Tracker();
    const growth = new SliceGrowth();
    const query: Query<'', object> = { name: 'test/many', run: reader => authorizationOf(reader, { ...of, chain }) };
    const proxy = proxyOf(nodeOf({ namespace: 'a', name: 'p' }));
    const look = () => tracker.within(growth.budget(20), () => tracker.get(state, proxy, query, ''));
    let slice = look();
    for (; slice.value === undefined; slice = look()) growth.cut(slice);
    const generated = tracker.stats.generated;
    const inputs = tracker.get(state, proxy, authorizationOfProxy, { beside: '', subject: '' })!;
    const whole = authorizationFilters.run({ inputs, tcp: chain === 'tcp', peer: 'tls' });
    return { sliced: slice.value, whole, generated };
  }

  const count = 3_000;
  const longLists: readonly Spec['rules'][] = [
    [{ from: [{ source: { namespaces: texts(count, i => `n${i}`) } }] }],
    [{ from: [{ source: { principals: texts(count, i => `cluster.local/ns/n/sa/s${i}`) } }] }],
    [{ from: [{ source: { trustDomains: [...texts(count, i => `t${i}`), 'cluster.local', 'old'] } }] }],
    [{ from: [{ source: { notRequestPrincipals: texts(count, i => `issuer/s${i}`) } }] }],
    [{ to: [{ operation: { ports: ['1'] } }] }, { to: [{ operation: { notPaths: texts(count, i => `/p${i}`) } }] }],
    [{ when: [{ key: 'request.auth.claims[group]', values: texts(count, i => `v${i}`) }] }],
  ];

  it.each(['http', 'tcp'] as const)('has those of one rule rendered in blocks, in %s chains', chain => {
    for (const action of ['ALLOW', 'DENY'] as const) {
      const { sliced, whole, generated } = made(
        chain,
        longLists.map(rules => ({ action, rules: rules! })),
      );
      expect(sliced).toEqual(whole);
      expect(generated).toBeGreaterThan((count / 512) * 3);
    }
  });

  const many = texts(count, String);
  const conditions = many.map(i => ({ key: `request.headers[h${i}]`, values: ['x'], notValues: ['y'] }));
  const operations = many.map(i => ({ operation: { ports: [i], notPaths: [`/p${i}`] } }));
  const sources = many
    .slice(0, 500)
    .map(i => ({ source: { principals: [`cluster.local/ns/n/sa/s${i}`], ipBlocks: ['10.0.0.1', '10.0.0.2'] } }));
  const long = { source: { notNamespaces: many } };

  // HTTP attributes cannot be rendered in TCP chains: an ALLOW rule with them is left out there.
  it.each<[string, NonNullable<Spec['rules']>[number]]>([
    ['conditions', { when: conditions }],
    ['operations', { to: operations }],
    ['operations with a condition', { to: operations, when: [{ key: 'destination.port', values: ['1'] }] }],
    ['sources with conditions', { from: sources, when: conditions.slice(0, 20) }],
    ['sources, one of which has a long list', { from: [...sources, long, ...sources.slice(0, 9)], to: operations }],
    ['operations, sources and conditions', { to: operations, from: sources, when: conditions.slice(0, 9) }],
  ])('has a rule of many %s rendered in blocks', (_, rule) => {
    for (const chain of ['http', 'tcp'] as const) {
      for (const action of ['ALLOW', 'DENY'] as const) {
        const { sliced, whole, generated } = made(chain, [{ action, rules: [rule] }]);
        expect(sliced).toEqual(whole);
        if (chain === 'http') expect(generated).toBeGreaterThan(6);
      }
    }
  });

  it('has those of many policies rendered in blocks', () => {
    const specs = texts(2_000, String).map(
      (port): Spec => ({ action: 'DENY', rules: [{ to: [{ operation: { ports: [port] } }] }] }),
    );
    const { sliced, whole, generated } = made('tcp', specs);
    expect(sliced).toEqual(whole);
    expect(generated).toBeGreaterThan(specs.length + 20);
  });
});
