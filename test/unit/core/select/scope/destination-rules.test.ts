import { describe, expect, test } from 'vitest';
import {
  endpointTlsModeOfRule,
  policyOfPort,
  policyOfSubset,
} from '../../../../../src/core/select/cluster/traffic-policy.ts';
import { destinationRule } from '../../../../../src/core/select/scope/destination-rules.ts';
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
