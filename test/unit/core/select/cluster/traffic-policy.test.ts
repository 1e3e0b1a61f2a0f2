// The policy of a cluster from those of the rule, a port and a subset.

import { describe, expect, it } from 'vitest';
import type { DestinationRule, TrafficPolicy } from '../../../../../src/core/schema/istio-types.gen.ts';
import {
  endpointTlsModeOfRule,
  policyOfPort,
  policyOfSubset,
} from '../../../../../src/core/select/cluster/traffic-policy.ts';

/** A policy with every message, which `n` tells from others. */
const policy = (n: number): TrafficPolicy => ({
  connectionPool: { tcp: { maxConnections: n } },
  outlierDetection: { consecutive5xxErrors: n },
  loadBalancer: { warmupDurationSecs: { seconds: n, nanos: 0 } },
  tls: { mode: 'SIMPLE', sni: `${n}.com` },
  tunnel: { protocol: 'CONNECT', targetHost: 'a.com', targetPort: n },
  proxyProtocol: { version: n === 1 ? 'V1' : 'V2' },
  retryBudget: { minRetryConcurrency: n },
});
const four = (n: number): TrafficPolicy => {
  const { connectionPool, outlierDetection, loadBalancer, tls } = policy(n);
  return { connectionPool, outlierDetection, loadBalancer, tls } as TrafficPolicy;
};
const atPort = (number: number, n: number, rest: TrafficPolicy = {}): TrafficPolicy => ({
  ...rest,
  portLevelSettings: [
    { port: { number: 9 }, tls: { mode: 'DISABLE' } },
    { port: { number }, ...four(n) },
  ],
});

describe('the policy of a port', () => {
  it('is that of the rule without its ports, or the four messages of the port alone', () => {
    expect(policyOfPort(undefined, 80)).toBeUndefined();
    expect(policyOfPort(policy(1), 80)).toEqual(policy(1));
    expect(policyOfPort(atPort(80, 2, policy(1)), 81)).toStrictEqual(policy(1));
    expect(policyOfPort(atPort(80, 2, policy(1)), 80)).toEqual(four(2));
  });
});

describe('the policy of a subset', () => {
  const subset = (trafficPolicy?: TrafficPolicy) => ({
    name: 'v1',
    ...(trafficPolicy === undefined ? {} : { trafficPolicy }),
  });

  it('is that of the port where it has none, and its own where the port has none', () => {
    expect(policyOfSubset(policy(1), subset(), 80)).toEqual(policy(1));
    expect(policyOfSubset(undefined, subset(), 80)).toBeUndefined();
    expect(policyOfSubset(undefined, subset(atPort(80, 2, policy(1))), 81)).toStrictEqual(policy(1));
    expect(policyOfSubset(undefined, subset(atPort(80, 2, policy(1))), 80)).toEqual(four(2));
  });

  it('replaces message by message what it has itself', () => {
    expect(policyOfSubset(policy(1), subset(policy(2)), 80)).toEqual(policy(2));
    expect(policyOfSubset(policy(1), subset({}), 80)).toEqual(policy(1));
  });

  it('of its own port replaces the four messages, set or not, and leaves the others', () => {
    expect(policyOfSubset(policy(1), subset(atPort(80, 2, policy(3))), 80)).toEqual({ ...policy(1), ...four(2) });
    const bare = subset({ portLevelSettings: [{ port: { number: 80 } }] });
    const { tunnel, proxyProtocol, retryBudget } = policy(1);
    expect(policyOfSubset(policy(1), bare, 80)).toEqual({ tunnel, proxyProtocol, retryBudget });
  });
});

describe('the TLS mode that a rule sets for endpoints', () => {
  const rule = (spec: Partial<DestinationRule>): DestinationRule => ({ host: 'a.com', ...spec });
  const ports = { portLevelSettings: [{ port: { number: 80 }, tls: { mode: 'SIMPLE' } }, { port: { number: 81 } }] };
  const own = { tls: { mode: 'ISTIO_MUTUAL' }, ...ports } as TrafficPolicy;

  it.each<[string, number, string | undefined]>([
    ['', 80, 'SIMPLE'],
    ['', 81, 'ISTIO_MUTUAL'],
    ['', 82, 'ISTIO_MUTUAL'],
    ['bare', 80, undefined],
    ['absent', 80, undefined],
    ['plain', 80, 'DISABLE'],
    ['unset', 80, undefined],
  ])('of the subset "%s" at port %i is %s', (subset, port, mode) => {
    const subsets = [
      { name: 'bare' },
      { name: 'plain', trafficPolicy: { tls: {} } },
      { name: 'unset', trafficPolicy: { proxyProtocol: {} } },
    ];
    expect(endpointTlsModeOfRule(rule({ trafficPolicy: own, subsets }), subset, port)).toBe(mode);
  });

  it('is found without a walk through thousands of subsets', () => {
    let names = 0;
    const subsets = Array.from({ length: 500 }, (_, i) => ({
      get name() {
        names++;
        return `v${i}`;
      },
      trafficPolicy: { tls: {} },
    }));
    const many = rule({ subsets });
    for (let i = 0; i < 500; i++) expect(endpointTlsModeOfRule(many, `v${i}`, 80)).toBe('DISABLE');
    expect(names).toBeLessThan(10 * subsets.length);
  });

  it('is none without a rule, its policy or its subsets', () => {
    expect(endpointTlsModeOfRule(undefined, '', 80)).toBeUndefined();
    expect(endpointTlsModeOfRule(rule({}), '', 80)).toBeUndefined();
    expect(endpointTlsModeOfRule(rule({}), 'v1', 80)).toBeUndefined();
  });
});
