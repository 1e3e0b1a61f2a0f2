import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import {
  endpointTlsModeOfRule,
  policyOfPort,
  policyOfSubset,
} from '../../../../../src/core/select/cluster/traffic-policy.ts';
import { rulePool } from '../../../../../src/core/select/scope/destination-rule-pools.ts';
import { destinationRule, scopeRules } from '../../../../../src/core/select/scope/destination-rules.ts';
import type { State } from '../../../../../src/core/state.ts';
import { ask, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { destinationRule as rule, service, sidecar } from '../../registry/fixtures.ts';

const HOST = 'web.prod.svc.cluster.local';
const web = service('web', {}, { namespace: 'prod' });
const policy = (maxConnections: number) => ({ trafficPolicy: { connectionPool: { tcp: { maxConnections } } } });

function nameFor(
  state: State,
  namespace = 'default',
  labels = {},
  direction: 'outbound' | 'inbound' = 'outbound',
): string | undefined {
  const found = ask(state, destinationRule, { hostname: HOST, direction }, proxyOf(nodeOf({ namespace, labels })));
  return found && `${found.namespace}/${found.name}`;
}
const inNamespace = (namespace: string, host = HOST, spec = {}) => rule(`${namespace}-rule`, host, spec, { namespace });

describe('the lookup of a DestinationRule', () => {
  const all = [inNamespace('default'), inNamespace('prod'), inNamespace('istio-system')];
  test.each<[string, readonly WorldPart[], string]>([
    ["the client's namespace first", all, 'default/default-rule'],
    ["then the service's", all.slice(1), 'prod/prod-rule'],
    ['then the root namespace', all.slice(2), 'istio-system/istio-system-rule'],
    [
      'a rule that is not exported does not count',
      [inNamespace('prod', HOST, { exportTo: ['.'] }), all[2]!],
      'istio-system/istio-system-rule',
    ],
    ['an exact host before a wildcard', [rule('w', '*.prod.svc.cluster.local'), rule('x', HOST)], 'default/x'],
    ['the longest wildcard', [rule('a', '*.local'), rule('b', '*.prod.svc.cluster.local')], 'default/b'],
    [
      'a specific rule exported to others hides an exported wildcard of its namespace',
      [
        rule('own', HOST, { exportTo: ['third'] }, { namespace: 'prod' }),
        rule('wide', '*.local', {}, { namespace: 'prod' }),
        all[2]!,
      ],
      'istio-system/istio-system-rule',
    ],
    ['a short name is of its own namespace', [rule('short', 'web', {}, { namespace: 'prod' })], 'prod/short'],
  ])('prefers: %s', (_, rules, expected) => {
    expect(nameFor(world([web, ...rules]))).toBe(expected);
  });

  test('takes rules as private by the mesh default `.`', () => {
    const mesh = { defaultDestinationRuleExportTo: ['.'] };
    expect(nameFor(world([web, inNamespace('prod')], { mesh }))).toBeUndefined();
    expect(nameFor(world([web, inNamespace('prod')], { mesh }), 'prod')).toBe('prod/prod-rule');
  });

  test('finds none for a service outside the scope', () => {
    const scope = sidecar('s', { egress: [{ hosts: ['./*'] }] });
    expect(nameFor(world([web, inNamespace('default'), scope]))).toBeUndefined();
  });
});

describe('a DestinationRule with a workload selector', () => {
  const selected = rule('selected', HOST, { workloadSelector: { matchLabels: { app: 'a' } } });
  const general = rule('general', HOST, policy(1));
  const state = world([web, selected, general]);
  test('wins for outbound traffic of the proxies it selects, and is ignored inbound', () => {
    expect(nameFor(state, 'default', { app: 'a' })).toBe('default/selected');
    expect(nameFor(state, 'default', { app: 'b' })).toBe('default/general');
    expect(nameFor(state, 'default', { app: 'a' }, 'inbound')).toBe('default/general');
  });
  test('hides rules of other namespaces from all other proxies', () => {
    expect(nameFor(world([web, selected, inNamespace('prod')]), 'default', { app: 'b' })).toBeUndefined();
  });
});

test('DestinationRules of one host merge: subsets by first name, and the first policy', () => {
  const subset = (name: string, version: string) => ({ name, labels: { version } });
  const state = world([
    web,
    rule('a', HOST, { subsets: [subset('v1', '1')] }, { day: 1 }),
    rule('b', HOST, { subsets: [subset('v1', 'other'), subset('v2', '2')], ...policy(7) }, { day: 2 }),
    rule('c', HOST, { ...policy(9), exportTo: ['.'] }, { day: 3 }),
  ]);
  const merged = ask(state, destinationRule, { hostname: HOST, direction: 'outbound' });
  // The third has another exportTo, so it stands alone, and the last without a selector counts.
  expect(merged?.name).toBe('c');
  const two = world([
    web,
    rule('b', HOST, { subsets: [subset('v1', 'other'), subset('v2', '2')], ...policy(7) }, { day: 2 }),
    rule('a', HOST, { subsets: [subset('v1', '1')] }, { day: 1 }),
  ]);
  const both = ask(two, destinationRule, { hostname: HOST, direction: 'outbound' });
  expect(both?.name).toBe('a');
  expect(both?.spec.subsets).toEqual([subset('v1', '1'), subset('v2', '2')]);
  expect(both?.spec.trafficPolicy?.connectionPool?.tcp?.maxConnections).toBe(7);
  expect(both?.from.map(obj => obj.name)).toEqual(['a', 'b']);
});

describe('DestinationRules of one host and namespace', () => {
  const subset = (name: string) => ({ name, labels: { version: name } });
  const made = (name: string, day: number, spec: JsonObject) =>
    rule(name, HOST, { subsets: [subset(name)], ...spec }, { day });
  const selector = (app: string) => ({ workloadSelector: { matchLabels: { app } } });
  const LEGACY = { ENABLE_ENHANCED_DESTINATIONRULE_MERGE: 'false' };
  /** Of each entry of the pool: the rules that it was made of, and who sees it. */
  const entries = (rules: readonly JsonObject[], env: Readonly<Record<string, string>> = {}): readonly string[] => {
    const state = world([web, ...rules], { settings: { ...defaultSettings, env } });
    const pool = ask(state, rulePool, { pool: 'local', namespace: 'default' });
    const list = pool.entries.get(HOST) ?? [];
    return list.map(
      ({ rule: merged, exportTo }) =>
        `${merged.from.map(({ name }) => name).join('+')} ${[...exportTo].sort().join(',')}`,
    );
  };

  test('have the list of namespaces as it is written, which may be long', () => {
    const state = world([web, rule('r', HOST, { exportTo: ['x', '.', 'b'] })]);
    const [entry] = ask(state, rulePool, { pool: 'local', namespace: 'default' }).entries.get(HOST)!;
    expect(entry!.exportTo).toBe(entry!.rule.from[0]!.spec.exportTo);
  });

  test('merge if both are exported alike, in any order of the names', () => {
    const [b, a] = [made('b', 1, { exportTo: ['x', '.'] }), made('a', 2, { exportTo: ['.', 'x'] })];
    expect(entries([b, a])).toEqual(['b+a .,x']);
    expect(entries([b, made('a', 2, { exportTo: ['.', 'y'] })])).toEqual(['b .,x', 'a .,y']);
  });
  test('merge into the older, whose exportTo counts, if the newer is exported to all namespaces of that', () => {
    const older = made('older', 1, { exportTo: ['.', 'x'] });
    const beside = (exportTo: string[]) => entries([older, made('newer', 2, { exportTo })]);
    expect(beside(['.', 'x', 'y'])).toEqual(['older+newer .,x']);
    expect(beside(['x', 'y'])).toEqual(['older .,x']);
    expect(beside(['default', 'x', 'y'])).toEqual(['older .,x', 'newer default,x,y']);
    expect(entries([made('all', 1, {}), made('newer', 2, { exportTo: ['.'] })])).toEqual(['all ', 'newer .']);
  });
  test('merge however they are exported without the enhanced merge', () => {
    const rules = [made('a', 1, { exportTo: ['.'] }), made('b', 2, { exportTo: ['*'] }), made('c', 3, {})];
    expect(entries(rules, LEGACY)).toEqual(['a+b+c .']);
    expect(entries(rules)).toEqual(['a .', 'b *', 'c ']);
  });
  test('with a workload selector merge with those of the same selector, and come first', () => {
    const rules = [
      made('plain', 1, {}),
      made('x', 2, selector('x')),
      made('y', 3, selector('y')),
      made('z-plain', 1, {}),
    ];
    const later = made('x-later', 4, selector('x'));
    expect(entries(rules)).toEqual(['x .', 'y .', 'plain+z-plain ']);
    expect(entries([...rules.slice(0, 2), later])).toEqual(['x+x-later .', 'plain ']);
    // The last entry that it may be merged with decides.
    expect(entries([...rules, later])).toEqual(['x+x-later .', 'y .', 'x-later .', 'plain+z-plain ']);
    expect(entries(rules.slice(0, 3), LEGACY)).toEqual(['x+plain .', 'y+plain .', 'plain ']);
  });
  test('without a selector merge into those with one, and are gone beside them, if both are private', () => {
    expect(entries([made('x', 1, selector('x')), made('plain', 2, { exportTo: ['.'] })])).toEqual(['x+plain .']);
  });
  test('have the subsets of all, and the policy of the oldest that has one', () => {
    const merged = (...rules: readonly JsonObject[]) =>
      ask(world([web, ...rules]), destinationRule, { hostname: HOST, direction: 'outbound' })?.spec;
    const found = merged(made('a', 1, { ...policy(1) }), made('b', 2, { ...policy(2) }));
    expect(found?.subsets?.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(found?.trafficPolicy).toMatchObject(policy(1).trafficPolicy);
    expect(merged(rule('a', HOST, policy(1)), rule('b', HOST, {}))).toMatchObject({ host: HOST, subsets: [] });
    expect(merged(rule('a', HOST, policy(1)))?.subsets).toBeUndefined();
  });
});

describe('who sees a DestinationRule', () => {
  const OTHER = inNamespace('prod', HOST, {});
  const exported = (exportTo: string[], mesh: JsonObject = {}) => {
    const state = world([web, inNamespace('prod', HOST, { exportTo })], { mesh });
    return ['prod', 'default', 'third'].filter(namespace => nameFor(state, namespace) !== undefined);
  };
  test.each<[string[], string[]]>([
    [[], ['prod', 'default', 'third']],
    [['*'], ['prod', 'default', 'third']],
    [['.'], ['prod']],
    [['prod'], ['prod']],
    [['default'], ['default']],
    [
      ['default', '.'],
      ['prod', 'default'],
    ],
    [
      ['default', 'prod'],
      ['prod', 'default'],
    ],
  ])('exported to %j: %j', (exportTo, namespaces) => {
    expect(exported(exportTo)).toEqual(namespaces);
  });
  test('is decided by the mesh only for rules without exportTo', () => {
    const mesh = { defaultDestinationRuleExportTo: ['.'] };
    expect(exported([], mesh)).toEqual(['prod']);
    expect(exported(['default'], mesh)).toEqual(['default']);
    expect(exported(['*'], mesh)).toEqual(['prod', 'default', 'third']);
  });
  test('in the root namespace, for its proxies: its private rules, then those of the service, then its public ones', () => {
    const own = (name: string, exportTo?: string[]) =>
      rule(name, HOST, exportTo === undefined ? {} : { exportTo }, { namespace: 'istio-system' });
    expect(nameFor(world([web, OTHER, own('private', ['.']), own('public')]), 'istio-system')).toBe(
      'istio-system/private',
    );
    expect(nameFor(world([web, OTHER, own('named', ['istio-system'])]), 'istio-system')).toBe('istio-system/named');
    expect(nameFor(world([web, OTHER, own('public')]), 'istio-system')).toBe('prod/prod-rule');
    expect(nameFor(world([web, own('public')]), 'istio-system')).toBe('istio-system/public');
    expect(nameFor(world([web, own('private', ['.'])]), 'default')).toBeUndefined();
  });
  test('of a service in the root namespace: its rules there, once', () => {
    const there = service('web', {}, { namespace: 'istio-system' });
    const host = 'web.istio-system.svc.cluster.local';
    const state = world([there, rule('r', host, {}, { namespace: 'istio-system' })]);
    expect(ask(state, destinationRule, { hostname: host, direction: 'outbound' })?.name).toBe('r');
  });
  test('with a selector: proxies of its namespace, also if it is of the namespace of the service', () => {
    const state = world([
      web,
      rule('s', HOST, { workloadSelector: { matchLabels: { app: 'a' } } }, { namespace: 'prod' }),
    ]);
    expect(nameFor(state, 'prod', { app: 'a' })).toBe('prod/s');
    expect(nameFor(state, 'prod', { app: 'b' })).toBeUndefined();
    expect(nameFor(state, 'default', { app: 'a' })).toBeUndefined();
  });
});

test('the rules of all services of a scope are those that each service has', () => {
  const db = service('db', {}, { namespace: 'prod' });
  const lonely = service('lonely', {}, { namespace: 'prod' });
  const selected = rule('selected', HOST, { workloadSelector: { matchLabels: { app: 'a' } } });
  const state = world([web, db, lonely, selected, inNamespace('default'), rule('db', 'db.prod.svc.cluster.local')]);
  const found = (app: string) =>
    [...ask(state, scopeRules, '', proxyOf(nodeOf({ labels: { app } })))].map(([host, { name }]) => [
      host.split('.')[0],
      name,
    ]);
  expect(found('a')).toEqual([
    ['db', 'db'],
    ['web', 'selected'],
  ]);
  expect(found('b')).toEqual([
    ['db', 'db'],
    ['web', 'default-rule'],
  ]);
});

test('rules asked of one tracker are those of each host, client and direction', () => {
  const selected = rule('selected', HOST, { workloadSelector: { matchLabels: { app: 'a' } } });
  const rules = [selected, inNamespace('prod'), inNamespace('third'), rule('far', 'far.prod.svc.cluster.local')];
  const state = world([web, service('far', {}, { namespace: 'prod' }), ...rules]);
  const tracker = new Tracker();
  const found = (namespace: string, hostname: string, direction: 'outbound' | 'inbound') => {
    const proxy = proxyOf(nodeOf({ namespace, labels: { app: 'a' } }), namespace);
    return tracker.get(state, proxy, destinationRule, { hostname, direction })?.name;
  };
  expect(found('default', HOST, 'outbound')).toBe('selected');
  expect(found('default', HOST, 'inbound')).toBeUndefined();
  expect(found('default', 'far.prod.svc.cluster.local', 'outbound')).toBe('far');
  expect(found('third', HOST, 'outbound')).toBe('third-rule');
  expect(found('prod', HOST, 'outbound')).toBe('prod-rule');
});

describe('the effective traffic policy', () => {
  const pool = (maxConnections: number) => ({ tcp: { maxConnections } });
  const tls = { mode: 'SIMPLE' } as const;
  const general = { connectionPool: pool(1), tls, tunnel: { targetHost: 'h' } };

  test('lets a port-level entry inherit nothing', () => {
    const withPort = { ...general, portLevelSettings: [{ port: { number: 80 }, loadBalancer: {} }] };
    expect(policyOfPort(withPort, 80)).toEqual({ loadBalancer: {} });
    expect(policyOfPort(withPort, 81)).toEqual(general);
  });
  test('lets a subset replace whole fields, and its port-level entry all four', () => {
    const subset = { name: 'v1', trafficPolicy: { connectionPool: pool(2) } };
    expect(policyOfSubset(general, subset, 80)).toMatchObject({ connectionPool: pool(2), tls });
    const port = {
      name: 'v1',
      trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, connectionPool: pool(3) }] },
    };
    const composed = policyOfSubset(general, port, 80);
    expect(composed).toMatchObject({ connectionPool: pool(3), tunnel: { targetHost: 'h' } });
    expect(composed?.tls).toBeUndefined();
    expect(policyOfSubset(general, { name: 'v2' }, 80)).toBe(general);
  });
  test('takes the TLS mode of endpoints from the subset alone', () => {
    const spec = { trafficPolicy: general, subsets: [{ name: 'v1', trafficPolicy: { connectionPool: pool(2) } }] };
    expect(endpointTlsModeOfRule(spec, '', 80)).toBe('SIMPLE');
    expect(endpointTlsModeOfRule(spec, 'v1', 80)).toBeUndefined();
    expect(endpointTlsModeOfRule(undefined, '', 80)).toBeUndefined();
  });
});
