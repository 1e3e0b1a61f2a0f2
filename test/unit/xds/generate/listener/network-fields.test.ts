// The network filters of a TCP chain and those of extensions, each field from the one input that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/networkfilter.go, pilot/pkg/networking/core/extension.

import { describe, expect, it } from 'vitest';
import { luaFilter, moduleFilter, moduleInPlace } from '../../../../../src/xds/generate/listener/extension-filters.ts';
import { networkFilterList } from '../../../../../src/xds/generate/listener/network-filters.ts';
import { type TerminalInputs, terminalGenerator } from '../../../../../src/xds/generate/listener/tcp-proxy.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';

describe('the last filters of a TCP chain', () => {
  const inputs: TerminalInputs = {
    clusters: ['c'],
    weights: [],
    statPrefix: 's',
    hashSourceIp: false,
    tunnelHost: '',
    tunnelPost: false,
    accessLog: [],
    codec: '',
    dynamicHost: '',
    dynamicPort: 0,
  };
  const made = (more: Partial<TerminalInputs>) => terminalGenerator.run({ ...inputs, ...more });
  const proxy = (more: object = {}) => ({
    name: 'envoy.filters.network.tcp_proxy',
    typedConfig: {
      '@type': typeUrl('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'),
      cluster: 'c',
      statPrefix: 's',
      ...more,
    },
  });

  it.each<[Partial<TerminalInputs>, object]>([
    [{}, {}],
    [{ accessLog: [{ name: 'l' }] }, { accessLog: [{ name: 'l' }] }],
    [{ idleTimeout: '5s' }, { idleTimeout: { seconds: 5, nanos: 0 } }],
    [{ maxDuration: { seconds: 6 } }, { maxDownstreamConnectionDuration: { seconds: 6, nanos: 0 } }],
    [{ hashSourceIp: true }, { hashPolicy: [{ sourceIp: {} }] }],
    [{ tunnelHost: 'h:1' }, { tunnelingConfig: { hostname: 'h:1' } }],
    [{ tunnelHost: 'h:1', tunnelPost: true }, { tunnelingConfig: { hostname: 'h:1', usePost: true } }],
    [
      { clusters: ['a', 'b'], weights: [1, 2] },
      {
        cluster: undefined,
        weightedClusters: {
          clusters: [
            { name: 'a', weight: 1 },
            { name: 'b', weight: 2 },
          ],
        },
      },
    ],
  ])('with %j have %j', (more, expected) => {
    expect(made(more)).toEqual([proxy(expected)]);
  });

  it.each([
    ['mongo', 'mongo_proxy', 'mongo_proxy.v3.MongoProxy'],
    ['mysql', 'mysql_proxy', 'mysql_proxy.v3.MySQLProxy'],
  ] as const)('look into %s in front of the proxy', (codec, name, type) => {
    const filter = {
      name: `envoy.filters.network.${name}`,
      typedConfig: { '@type': `type.googleapis.com/envoy.extensions.filters.network.${type}`, statPrefix: 's' },
    };
    expect(made({ codec })).toEqual([filter, proxy()]);
  });

  it('take the place of the proxy for Redis', () => {
    expect(made({ codec: 'redis' })).toEqual([
      {
        name: 'envoy.filters.network.redis_proxy',
        typedConfig: {
          '@type': typeUrl('envoy.extensions.filters.network.redis_proxy.v3.RedisProxy'),
          latencyInMicros: true,
          statPrefix: 's',
          settings: { opTimeout: { seconds: 5, nanos: 0 } },
          prefixRoutes: { catchAllRoute: { cluster: 'c' } },
        },
      },
    ]);
  });

  it('resolve the name in a client’s TLS on demand, in the cache of the cluster', () => {
    expect(made({ dynamicHost: '*.a', dynamicPort: 443 })).toEqual([
      {
        name: 'envoy.extensions.filters.network.sni_dynamic_forward_proxy',
        typedConfig: {
          '@type': typeUrl('envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig'),
          dnsCacheConfig: { name: '*.a_dfp_dns_cache', dnsLookupFamily: 1 },
          portValue: 443,
        },
      },
      proxy(),
    ]);
  });

  it.each(['mongo', 'mysql', 'redis'] as const)('resolve the name in front of the filter of %s', codec => {
    const [first, second] = made({ codec, dynamicHost: '*.a', dynamicPort: 443 });
    expect(first?.name).toBe('envoy.extensions.filters.network.sni_dynamic_forward_proxy');
    expect(second?.name).toBe(`envoy.filters.network.${codec}_proxy`);
  });
});

describe('the filters in front of them', () => {
  const none = { AUTHN: [], AUTHZ: [], STATS: [], UNSPECIFIED: [] };
  const inputs = {
    exchangedLabels: undefined,
    customAuthorization: [],
    authorization: [],
    stats: [],
    extensions: none,
  };
  const named = (name: string) => [{ name }];

  it('are in this order', () => {
    expect(networkFilterList.run(inputs)).toEqual([]);
    const all = networkFilterList.run({
      exchangedLabels: 'a',
      customAuthorization: named('custom'),
      authorization: named('rbac'),
      stats: named('stats'),
      extensions: { AUTHN: named('authn'), AUTHZ: named('authz'), STATS: named('of-stats'), UNSPECIFIED: named('own') },
    });
    expect(all.map(({ name }) => name)).toEqual([
      'istio.metadata_exchange',
      'custom',
      'authn',
      'authz',
      'rbac',
      'of-stats',
      'own',
      'stats',
    ]);
    expect(all[0]?.typedConfig).toMatchObject({
      typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
      value: { protocol: 'istio-peer-exchange', enable_discovery: true, additional_labels: ['a'] },
    });
  });
});

describe('the filter of an extension', () => {
  const source = { ads: {}, initialFetchTimeout: { seconds: 0, nanos: 0 }, resourceApiVersion: 2 };

  it.each(['http', 'network'] as const)('asks for a module of an %s chain, or what stands in for it', kind => {
    expect(moduleFilter.run({ name: 'm', network: kind === 'network' })).toEqual({
      name: 'm',
      configDiscovery: {
        configSource: source,
        typeUrls: [
          `type.googleapis.com/envoy.extensions.filters.${kind}.wasm.v3.Wasm`,
          `type.googleapis.com/envoy.extensions.filters.${kind}.rbac.v3.RBAC`,
        ],
      },
    });
  });

  it('holds a module in place, or Lua code', () => {
    const typedConfig = { '@type': '' as const };
    const config = { name: 'm', message: { typedConfig }, problems: [] };
    expect(moduleInPlace.run({ config })).toEqual({ name: 'm', typedConfig });
    expect(luaFilter.run({ name: 'l', source: 'code' })).toEqual({
      name: 'l',
      typedConfig: {
        '@type': typeUrl('envoy.extensions.filters.http.lua.v3.Lua'),
        defaultSourceCode: { inlineString: 'code' },
      },
    });
  });
});
