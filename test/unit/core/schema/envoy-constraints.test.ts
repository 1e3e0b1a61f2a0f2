// What Envoy demands of messages: each kind of rule on a message that carries it. That istiod's own output breaks none
// is seen over the conformance vectors; that ours does not, over arbitrary worlds (law 8).

import { describe, expect, it } from 'vitest';
import { constraintsOfEnvoy } from '../../../../src/core/schema/envoy-constraints.gen.ts';
import { envoyViolations } from '../../../../src/core/schema/envoy-constraints.ts';
import type { EnvoyMessage } from '../../../../src/core/schema/envoy-message.ts';
import type { ValueRule } from '../../../../src/core/schema/envoy-rule.ts';
import { envoyType } from '../../../../src/core/schema/envoy-types.ts';

const told = (type: string, message: EnvoyMessage): readonly string[] =>
  envoyViolations(type, message).map(({ path, message: says }) => `${path}: ${says}`);

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const ROUTE = 'envoy.config.route.v3.RouteConfiguration';
const HASH = 'envoy.config.cluster.v3.Cluster.RingHashLbConfig';

describe('a constraint of Envoy', () => {
  it.each<[string, string, EnvoyMessage, string]>([
    ['on an empty text', CLUSTER, {}, 'name: it must not be empty'],
    [
      'on a duration',
      CLUSTER,
      { name: 'a', connectTimeout: { seconds: 0, nanos: 0 } },
      'connectTimeout: 0 must be greater than 0',
    ],
    [
      'on an enum',
      CLUSTER,
      { name: 'a', lbPolicy: 99 },
      'lbPolicy: 99 is no value of envoy.config.cluster.v3.Cluster.LbPolicy',
    ],
    [
      'on a wrapped number',
      HASH,
      { maximumRingSize: { value: 8388609 } },
      'maximumRingSize: 8388609 must be at most 8388608',
    ],
    [
      'on a list inside of a list',
      ROUTE,
      { virtualHosts: [{ name: 'a' }] },
      'virtualHosts[0].domains: at least 1 is required',
    ],
    [
      'on a required oneof',
      ROUTE,
      { virtualHosts: [{ name: 'a', domains: ['*'], routes: [{ match: {}, redirect: {} }] }] },
      'virtualHosts[0].routes[0].match: one of prefix, path, safeRegex, connectMatcher, pathSeparatedPrefix, pathMatchPolicy is required',
    ],
    [
      'on the name of a header',
      ROUTE,
      { requestHeadersToRemove: ['a\nb'] },
      'requestHeadersToRemove[0]: "a\\nb" must be a header name',
    ],
    [
      'on a message inside of an Any',
      'envoy.config.core.v3.TypedExtensionConfig',
      {
        name: 'a',
        typedConfig: { '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy' },
      },
      'typedConfig: one of cluster, weightedClusters is required',
    ],
    ['on a required message', 'envoy.config.core.v3.HeaderValueOption', {}, 'header: a value is required'],
  ])('%s is told with the place', (_, type, message, line) => {
    expect(told(type, message)).toContain(line);
  });

  it.each<[string, string, EnvoyMessage]>([
    ['an absent member of a oneof', 'envoy.type.matcher.v3.StringMatcher', { exact: 'a' }],
    ['an absent wrapper', HASH, {}],
    ['a message of no known type', 'example.Unknown', { a: 1 }],
    ['an empty text that may be so', 'envoy.config.route.v3.RedirectAction', {}],
  ])('is not broken by %s', (_, type, message) => {
    expect(told(type, message)).toEqual([]);
  });

  it('is reported ten times at most', () => {
    expect(told(ROUTE, { virtualHosts: Array.from({ length: 1_000 }, () => ({ name: 'a' })) })).toHaveLength(10);
  });
});

describe('the generated constraints', () => {
  it('name messages and fields of the schema, and expressions that compile', () => {
    const rules = constraintsOfEnvoy.flatMap(([name, { fields, oneofs = [] }]) => {
      const known = envoyType(name)?.fields;
      expect([...Object.keys(fields), ...oneofs.flat()].filter(field => known?.has(field) !== true)).toEqual([]);
      return Object.values(fields).flatMap(({ items, keys, values, ...own }): readonly ValueRule[] =>
        [own, items, keys, values].filter(rule => rule !== undefined),
      );
    });
    expect(rules.length).toBeGreaterThan(1_000);
    for (const { pattern } of rules) if (pattern !== undefined) expect(() => new RegExp(pattern, 'u')).not.toThrow();
  });
});

describe('the check of large members', () => {
  /** A map that counts how often a member of it is looked at. */
  function counted<T extends object>(members: T) {
    const seen = { reads: 0 };
    const get = (target: T, name: string | symbol): unknown => {
      seen.reads++;
      return Reflect.get(target, name);
    };
    return { seen, members: new Proxy(members, { get }) };
  }
  const config = { '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster.RingHashLbConfig' };

  it('looks at no member of a map that may hold anything', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => [`k${i}`, { a: 'b' }] as const);
    const { seen, members } = counted(Object.fromEntries(keys));
    expect(told(CLUSTER, { name: 'a', metadata: { filterMetadata: members } })).toEqual([]);
    expect(seen.reads).toBe(0);
  });

  it('looks once at a map that a patch puts into many messages', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => [`k${i}`, config] as const);
    const { seen, members } = counted(Object.fromEntries(keys));
    for (let i = 0; i < 5; i++) {
      expect(told(CLUSTER, { name: `c${i}`, typedExtensionProtocolOptions: members })).toEqual([]);
    }
    expect(seen.reads).toBe(1000);
  });

  it('reports what is wrong in one in every message that has it', () => {
    const wrong = { ...config, maximumRingSize: { value: 8388609 } };
    const keys = Array.from({ length: 200 }, (_, i) => [`k${i}`, i === 150 ? wrong : config] as const);
    const typedExtensionProtocolOptions = Object.fromEntries(keys);
    for (const name of ['a', 'b']) expect(told(CLUSTER, { name, typedExtensionProtocolOptions })).toHaveLength(1);
  });
});
