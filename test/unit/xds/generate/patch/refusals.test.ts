// What Envoy refuses in code of a patched resource, a sentence each.

import { describe, expect, it } from 'vitest';
import { refusalsOf } from '../../../../../src/xds/generate/patch/refusals.ts';
import type {
  Cluster,
  Filter,
  HttpFilter,
  Listener,
  RouteConfiguration,
  VirtualHost,
} from '../../../../../src/xds/proto/types.gen.ts';

const TYPE = 'type.googleapis.com/';
const listener = (message: Listener) => refusalsOf(`${TYPE}envoy.config.listener.v3.Listener`, message);
const routes = (message: RouteConfiguration) => refusalsOf(`${TYPE}envoy.config.route.v3.RouteConfiguration`, message);
const cluster = (message: Cluster) => refusalsOf(`${TYPE}envoy.config.cluster.v3.Cluster`, message);

const address = { socketAddress: { address: '1.1.1.1', portValue: 80 } };
const TCP_PROXY = 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy';
const REDIS = 'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const network = (name: string, type: string, rest: object = {}): Filter =>
  ({ name, typedConfig: { '@type': `${TYPE}${type}`, ...rest } }) as Filter;
const tcp = network('tcp', TCP_PROXY, { statPrefix: 's', cluster: 'c' });
const http = (name: string, type = 'x'): HttpFilter =>
  ({ name, typedConfig: { '@type': `${TYPE}${type}` } }) as HttpFilter;
const manager = (httpFilters: readonly HttpFilter[], virtualHosts: readonly VirtualHost[] = []): Filter =>
  network('hcm', HCM, { statPrefix: 's', httpFilters, routeConfig: { name: 'r', virtualHosts } });
const REDIS_PARTS = { statPrefix: 's', settings: { opTimeout: { seconds: 1, nanos: 0 } } };
const ofFilters = (...filters: readonly Filter[]) => listener({ address, filterChains: [{ filters }] });

describe('Envoy refuses a listener', () => {
  it('without an address or chains, unless it is one for gRPC', () => {
    expect(listener({})).toEqual(['has no address', 'has no filter chain']);
    expect(listener({ address })).toEqual(['has no filter chain']);
    expect(listener({ filterChains: [{ filters: [tcp] }] })).toEqual(['has no address']);
    expect(listener({ address, defaultFilterChain: { filters: [tcp] } })).toEqual([]);
    expect(listener({ apiListener: {} })).toEqual([]);
  });
  it('with two chains of one match, said once', () => {
    const chain = (port?: number) => ({
      filters: [tcp],
      ...(port && { filterChainMatch: { destinationPort: { value: port } } }),
    });
    const filterChains = [chain(1), chain(2), chain(1), chain(), chain(), chain(2)];
    expect(listener({ address, filterChains })).toEqual(['has two filter chains with the same match']);
    expect(listener({ address, filterChains: filterChains.slice(0, 2) })).toEqual([]);
  });
  it('with filters without configuration or behind a terminal one, in every chain', () => {
    expect(ofFilters({ name: 'bare' }, tcp)).toEqual(['has the network filter bare without configuration']);
    expect(ofFilters({ name: 'found', configDiscovery: { configSource: { ads: {} }, typeUrls: ['x'] } }, tcp)).toEqual(
      [],
    );
    for (const terminal of [tcp, network('redis', REDIS, REDIS_PARTS), manager([http('router', ROUTER)])]) {
      expect(ofFilters(terminal)).toEqual([]);
      expect(ofFilters(terminal, tcp)).toEqual([`has network filters behind the terminal filter ${terminal.name}`]);
    }
    const after = { address, filterChains: [{ filters: [tcp] }], defaultFilterChain: { filters: [tcp, tcp] } };
    expect(listener(after)).toEqual(['has network filters behind the terminal filter tcp']);
  });
  it('whose HTTP filters do not end with the router', () => {
    const router = http('router', ROUTER);
    expect(ofFilters(manager([http('a'), router]))).toEqual([]);
    expect(ofFilters(manager([http('a')]))).toEqual(['has HTTP filters that do not end with the router']);
    expect(ofFilters(manager([]))).toEqual(['has HTTP filters that do not end with the router']);
    expect(ofFilters(manager([router, http('a')]))).toEqual(['has HTTP filters behind the router']);
    expect(ofFilters(manager([{ name: 'bare' }, router]))).toEqual(['has the HTTP filter bare without configuration']);
    const found = { name: 'found', configDiscovery: { configSource: { ads: {} }, typeUrls: ['x'] } };
    expect(ofFilters(manager([found, router]))).toEqual([]);
  });
  it('whose own routes it refuses', () => {
    const host = { name: 'h', domains: ['a'] };
    expect(ofFilters(manager([http('router', ROUTER)], [host, { ...host, domains: ['b'] }]))).toEqual([
      'has two virtual hosts named h',
    ]);
  });
});

describe('Envoy refuses routes', () => {
  it('with two virtual hosts of one name or domain', () => {
    const host = (name: string, ...domains: readonly string[]): VirtualHost => ({ name, domains });
    expect(routes({ virtualHosts: [host('a', 'x', 'y'), host('b', 'z')] })).toEqual([]);
    expect(routes({ virtualHosts: [host('a', 'x'), host('a', 'y')] })).toEqual(['has two virtual hosts named a']);
    expect(routes({ virtualHosts: [host('a', 'x'), host('b', 'y', 'x')] })).toEqual([
      'has the domain x in two virtual hosts',
    ]);
    expect(routes({})).toEqual([]);
  });
});

describe('Envoy refuses a cluster', () => {
  it('with a transport socket beside those that endpoints choose', () => {
    const transportSocket = { name: 'tls' };
    const transportSocketMatches = [{ name: 'x', transportSocket }];
    expect(cluster({ name: 'a', transportSocket })).toEqual([]);
    expect(cluster({ name: 'a', transportSocketMatches })).toEqual([]);
    expect(cluster({ name: 'a', transportSocket, transportSocketMatches: [] })).toEqual([]);
    expect(cluster({ name: 'a', transportSocket, transportSocketMatches })).toEqual([
      'has a transport socket beside those that endpoints choose',
    ]);
  });
  it('that breaks a constraint of its API, first of all', () => {
    const broken = {
      transportSocket: { name: 't' },
      transportSocketMatches: [{ name: 'x', transportSocket: { name: 't' } }],
    };
    expect(cluster(broken)).toEqual([
      'breaks a constraint at name: it must not be empty',
      'has a transport socket beside those that endpoints choose',
    ]);
  });
});

it('extension configurations and types without rules of their own are not judged in code', () => {
  expect(refusalsOf(`${TYPE}envoy.config.core.v3.TypedExtensionConfig`, {})).toEqual([]);
  expect(refusalsOf(`${TYPE}envoy.config.endpoint.v3.ClusterLoadAssignment`, { clusterName: 'a' })).toEqual([]);
});
