// From a request to a host: first match, weights, headers that name clusters, mirrors, faults, clusters without hosts,
// and the explanation.

import { describe, expect, it } from 'vitest';
import { explain } from '../../../src/oracle/explain.ts';
import type { Connection, HttpRequest, ProxyConfig } from '../../../src/oracle/question.ts';
import { any } from '../../../src/xds/proto/any.ts';
import type { Cluster, HttpConnectionManager, Route, RouteAction } from '../../../src/xds/proto/types.gen.ts';
import { at, cluster, http, ORIGINAL_DST, oracle, outcome, shown, tcp } from './scene.ts';

const clusters: readonly Cluster[] = [
  cluster('a', '10.9.0.1'),
  cluster('b', '10.9.0.2'),
  { name: 'empty' },
  ORIGINAL_DST,
];

function asked(routes: readonly Route[], hcm: HttpConnectionManager = {}, more: Partial<ProxyConfig> = {}) {
  const routeConfig = { name: 'inline', virtualHosts: [{ name: 'all', domains: ['a.com', 'a.com:80'], routes }] };
  return oracle({
    listeners: [{ address: at('0.0.0.0', 80), filterChains: [{ filters: [http({ routeConfig, ...hcm })] }] }],
    clusters,
    ...more,
  });
}

const ask = (request: Partial<HttpRequest> = {}): Connection => ({
  arrives: 'direct',
  destination: { address: '10.0.0.1', port: 80 },
  http: { authority: 'a.com', ...request },
});
const all = { prefix: '/' };
const to = (route: RouteAction): Route => ({ match: all, route });

describe('the oracle’s routes', () => {
  it('are evaluated in order, and the first match is used', () => {
    const two = asked([{ match: { prefix: '/x' }, route: { cluster: 'a' } }, to({ cluster: 'b' })]);
    expect(shown(two, ask({ path: '/x/y' }))).toEqual(['100% a@10.9.0.1:80']);
    expect(shown(two, ask({ path: '/y' }))).toEqual(['100% b@10.9.0.2:80']);
  });

  it('give a 404 without a matching host or route', () => {
    expect(outcome(asked([]), ask({ authority: 'b.com' }))).toMatchObject({
      status: 404,
      why: 'no virtual host for b.com',
    });
    expect(outcome(asked([{ match: { path: '/x' }, route: { cluster: 'a' } }]), ask())).toMatchObject({
      status: 404,
      why: 'no route for GET /',
    });
  });

  it('match for their runtime fraction, and the rest continues', () => {
    const fraction = { prefix: '/', runtimeFraction: { defaultValue: { numerator: 30 } } };
    const two = asked([{ match: fraction, route: { cluster: 'a' } }, to({ cluster: 'b' })]);
    expect(shown(two, ask())).toEqual(['70% b@10.9.0.2:80', '30% a@10.9.0.1:80']);
  });

  it('come from RDS by name, and a missing one is reported', () => {
    const rds = { routeConfig: undefined, rds: { routeConfigName: '80' } };
    const virtualHosts = [{ name: 'v', domains: ['*'], routes: [to({ cluster: 'a' })] }];
    expect(shown(asked([], rds, { routes: [{ name: '80', virtualHosts }] }), ask())).toEqual(['100% a@10.9.0.1:80']);
    expect(outcome(asked([], rds), ask()).kind).toBe('unknown');
  });

  it('redirect plaintext if the virtual host requires TLS', () => {
    const virtualHosts = [{ name: 'v', domains: ['*'], requireTls: 2 as const, routes: [to({ cluster: 'a' })] }];
    const secured = asked([], { routeConfig: { virtualHosts } });
    expect(outcome(secured, ask({ path: '/x' }))).toMatchObject({ status: 301, location: 'https://a.com/x' });
    // The port stays in the host: seen of Envoy 1.38.3.
    expect(outcome(secured, ask({ authority: 'a.com:80' }))).toMatchObject({ location: 'https://a.com:80/' });
    expect(shown(secured, ask({ headers: { 'x-forwarded-proto': 'https' } }))).toEqual(['100% a@10.9.0.1:80']);
    const edge = asked([], { routeConfig: { virtualHosts }, useRemoteAddress: { value: true } });
    expect(outcome(edge, ask({ headers: { 'x-forwarded-proto': 'https' } }))).toMatchObject({ status: 301 });
  });
});

describe('the oracle’s route actions', () => {
  it('split by weight relative to the sum, with nothing for weight 0', () => {
    const weighted = (...pairs: readonly (readonly [string, number])[]): Route =>
      to({ weightedClusters: { clusters: pairs.map(([name, value]) => ({ name, weight: { value } })) } });
    expect(shown(asked([weighted(['a', 1], ['b', 3])]), ask())).toEqual(['75% b@10.9.0.2:80', '25% a@10.9.0.1:80']);
    expect(shown(asked([weighted(['a', 0], ['b', 100])]), ask())).toEqual(['100% b@10.9.0.2:80']);
    expect(outcome(asked([weighted(['a', 0])]), ask()).kind).toBe('unknown');
  });

  it('take the cluster from a header', () => {
    const named = asked([to({ clusterHeader: 'X-Cluster' })]);
    expect(shown(named, ask({ headers: { 'x-cluster': 'b' } }))).toEqual(['100% b@10.9.0.2:80']);
    expect(shown(named, ask())).toEqual(['100% 503']);
  });

  it('distinguish a missing cluster from a missing host', () => {
    expect(shown(asked([to({ cluster: 'nowhere' })]), ask())).toEqual(['100% 503']);
    expect(shown(asked([to({ cluster: 'nowhere', clusterNotFoundResponseCode: 1 })]), ask())).toEqual(['100% 404']);
    expect(shown(asked([to({ cluster: 'empty' })]), ask())).toEqual(['100% 503']);
  });

  it('use the original destination of the connection, or the one in a header', () => {
    expect(shown(asked([to({ cluster: 'passthrough' })]), ask())).toEqual(['100% passthrough@10.0.0.1:80']);
    const overriding: Cluster = {
      name: 'o',
      type: 4,
      originalDstLbConfig: { useHttpHeader: true, upstreamPortOverride: { value: 81 } },
    };
    const headers = { 'X-Envoy-Original-Dst-Host': '10.7.7.7:90' };
    const over = asked([to({ cluster: 'o' })], {}, { clusters: [overriding] });
    expect(shown(over, ask({ headers }))).toEqual(['100% o@10.7.7.7:81']);
    expect(shown(over, ask())).toEqual(['100% o@10.0.0.1:81']);
  });

  it('forward to the host of the request through a dynamic forward proxy', () => {
    const clusterType = {
      name: 'envoy.clusters.dynamic_forward_proxy',
      typedConfig: any('envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig', {}),
    };
    const dynamic = (type: Cluster['clusterType']) =>
      asked([to({ cluster: 'd' })], {}, { clusters: [{ name: 'd', clusterType: type }] });
    expect(shown(dynamic(clusterType), ask())).toEqual(['100% d@a.com:80']);
    expect(outcome(dynamic({ name: 'mine' }), ask()).kind).toBe('unknown');
  });

  it('find endpoints by EDS under the service name', () => {
    const eds: Cluster = { name: 'e', type: 3, edsClusterConfig: { serviceName: 's' } };
    const endpoints = [
      { clusterName: 's', endpoints: [{ lbEndpoints: [{ endpoint: { address: at('10.8.0.1', 81) } }] }] },
    ];
    const routes = [to({ cluster: 'e' })];
    expect(shown(asked(routes, {}, { clusters: [eds], endpoints }), ask())).toEqual(['100% e@10.8.0.1:81']);
    expect(outcome(asked(routes, {}, { clusters: [eds] }), ask()).kind).toBe('unknown');
  });

  it('report path, mirrors, timeout, retries and hash policy', () => {
    const action: RouteAction = {
      cluster: 'a',
      prefixRewrite: '/v2',
      timeout: { seconds: 3 },
      retryPolicy: { retryOn: '5xx' },
      hashPolicy: [{ header: { headerName: 'x-user' } }],
      requestMirrorPolicies: [
        { cluster: 'b', runtimeFraction: { defaultValue: { numerator: 5 } } },
        { cluster: 'never', runtimeFraction: { defaultValue: { numerator: 0 } } },
      ],
    };
    expect(outcome(asked([{ match: { prefix: '/v1' }, route: action }]), ask({ path: '/v1/x' }))).toMatchObject({
      kind: 'forwarded',
      request: { path: '/v2/x', authority: 'a.com' },
      timeout: { seconds: 3 },
      retryPolicy: { retryOn: '5xx' },
      hashPolicy: [{ header: { headerName: 'x-user' } }],
      mirrors: [{ cluster: 'b', share: 0.05 }],
    });
  });

  it('answer redirects and direct responses', () => {
    const redirect: Route = { match: all, redirect: { httpsRedirect: true, responseCode: 4 } };
    expect(outcome(asked([redirect]), ask())).toMatchObject({ status: 308, location: 'https://a.com/' });
    expect(shown(asked([{ match: all, directResponse: { status: 418 } }]), ask())).toEqual(['100% 418']);
    expect(outcome(asked([{ match: all }]), ask()).kind).toBe('unknown');
  });
});

describe('injected faults', () => {
  const fault = (numerator: number, more = {}) => ({
    'envoy.filters.http.fault': any('envoy.extensions.filters.http.fault.v3.HTTPFault', {
      abort: { httpStatus: 418, percentage: { numerator } },
      ...more,
    }),
  });
  const httpFilters = [{ name: 'envoy.filters.http.fault' }, { name: 'envoy.filters.http.router' }];
  const route = (typedPerFilterConfig = {}): Route => ({ ...to({ cluster: 'a' }), typedPerFilterConfig });

  it('abort their percentage, where the filter exists', () => {
    expect(shown(asked([route(fault(25))], { httpFilters }), ask())).toEqual(['75% a@10.9.0.1:80', '25% 418']);
    expect(shown(asked([route(fault(100))], { httpFilters }), ask())).toEqual(['100% 418']);
    expect(shown(asked([route(fault(25))]), ask())).toEqual(['100% a@10.9.0.1:80']);
  });

  it('delay only the requests that they match', () => {
    const delay = { fixedDelay: { seconds: 2 }, percentage: { numerator: 100 } };
    const headers = [{ name: 'x-test', presentMatch: true }];
    const delayed = asked([route(fault(0, { delay, headers }))], { httpFilters });
    expect(outcome(delayed, ask({ headers: { 'x-test': '' } }))).toMatchObject({ delay: { seconds: 2 } });
    expect(outcome(delayed, ask())).toMatchObject({ kind: 'forwarded', delay: undefined });
  });
});

describe('a TCP proxy leads to', () => {
  const connection: Connection = { arrives: 'direct', destination: { address: '10.0.0.1', port: 80 } };
  const proxying = (...filters: Parameters<typeof tcp>) =>
    oracle({
      listeners: [{ address: at('0.0.0.0', 80), filterChains: [{ filters: filters.map(tcp) }] }],
      clusters,
    });
  it.each([
    ['a cluster', { cluster: 'a' }, ['100% a@10.9.0.1:80']],
    [
      'several by weight',
      {
        weightedClusters: {
          clusters: [
            { name: 'a', weight: 1 },
            { name: 'b', weight: 4 },
          ],
        },
      },
      ['80% b@10.9.0.2:80', '20% a@10.9.0.1:80'],
    ],
    ['no cluster', { cluster: 'nowhere' }, ['100% closed']],
    ['no host', { cluster: 'empty' }, ['100% closed']],
  ] as const)('%s', (_, proxy, expected) => expect(shown(proxying(proxy), connection)).toEqual(expected));
});

describe('the explanation of a route', () => {
  it('tells the decisive steps and the routes that did not match', () => {
    const two = asked(
      [
        { match: { prefix: '/x' }, route: { cluster: 'a' } },
        { ...to({ cluster: 'b' }), name: 'rest' },
      ],
      {
        httpFilters: [{ name: 'my.lua' }],
      },
    );
    expect(explain(two.predict(ask())).split('\n')).toEqual([
      '100% to 10.9.0.2:80 of b, by plaintext',
      '  listener 0.0.0.0:80: listens on 10.0.0.1:80',
      '  filter chain #0: matches 10.0.0.1:80 from 192.0.2.1:50000, HTTP without an HTTP inspector',
      '  route configuration inline: is inline',
      '  virtual host all: its domain a.com matches a.com',
      '  route rest: is the first that matches',
      '    not #0: path',
      '  cluster b: has endpoints of its own',
      '  endpoint 10.9.0.2:80: priority 0, healthy, locality /, by plaintext',
      '  not modelled: my.lua',
      '  decided beyond this proxy: the policies of the destination, in the proxy of 10.9.0.2:80',
    ]);
  });
});
