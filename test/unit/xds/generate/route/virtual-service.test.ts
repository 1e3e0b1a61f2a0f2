// The routes of one VirtualService, from what was selected for them.
// Source of the rules: Istio pilot/pkg/networking/core/route/route.go (TranslateRoute, applyHTTPRouteDestination).

import { describe, expect, it } from 'vitest';
import type { HTTPRoute } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { VirtualServiceRoutesInputs } from '../../../../../src/core/select/route/virtual-service-routes.ts';
import { catchAll } from '../../../../../src/xds/generate/route/catch-all.ts';
import { joinedRoutes } from '../../../../../src/xds/generate/route/gateway.ts';
import {
  emptyRoute,
  proxylessRoute,
  routeConfiguration,
} from '../../../../../src/xds/generate/route/route-configuration.ts';
import { virtualServiceRoutes } from '../../../../../src/xds/generate/route/virtual-service-routes.ts';
import type { Route } from '../../../../../src/xds/proto/types.gen.ts';

interface Given extends Partial<VirtualServiceRoutesInputs> {
  readonly semantics?: 'gateway' | 'ingress';
}

/** Each rule with its first match, or with none. */
function made(http: readonly HTTPRoute[], { semantics, ...more }: Given = {}) {
  const annotations = semantics === undefined ? {} : { 'internal.istio.io/route-semantics': semantics };
  const virtualService = {
    obj: { namespace: 'shop', name: 'v', annotations },
    name: 'v',
    namespace: 'shop',
    spec: { http },
  } as unknown as VirtualServiceRoutesInputs['virtualService'];
  return virtualServiceRoutes.run({
    virtualService,
    selected: http.map((rule, index) => [index, rule.match === undefined ? -1 : 0] as const),
    port: 80,
    https: false,
    http3: false,
    inferred: [],
    clusters: [],
    hashes: [],
    retry: undefined,
    appendXForwardedHost: false,
    proxyless: false,
    shadowSuffix: true,
    sessions: [],
    ...more,
  });
}
const only = (rule: HTTPRoute, given?: Given): Route => made([rule], given).routes[0]!;
const to = (host: string, more: object = {}): HTTPRoute => ({ route: [{ destination: { host }, ...more }] });

describe('a route without settings', () => {
  it('has nothing but its match, its cluster and its names', () => {
    const { route, ...rest } = only(to('a'));
    expect(rest).toEqual({
      match: { prefix: '/' },
      metadata: {
        filterMetadata: { istio: { config: '/apis/networking.istio.io/v1/namespaces/shop/virtual-service/v' } },
      },
      decorator: { operation: 'a:80/*' },
    });
    const { retryPolicy: _, ...action } = route!;
    const never = { seconds: 0, nanos: 0 };
    expect(action).toEqual({ cluster: 'outbound|80||a', timeout: never, maxGrpcTimeout: never });
  });

  it('is named only if its rule or match is', () => {
    const named = (name: string | undefined, matchName: string | undefined): string | undefined =>
      only({ ...to('a'), ...(name && { name }), match: [matchName === undefined ? {} : { name: matchName }] }).name;
    expect([named(undefined, undefined), named('r', ''), named('r', 'm'), named(undefined, 'm')]).toEqual([
      undefined,
      'r',
      'r.m',
      '.m',
    ]);
    expect(only({ ...to('a'), match: [{ statPrefix: '' }] }).statPrefix).toBeUndefined();
  });

  it('announces HTTP/3 where its port is served over QUIC', () => {
    expect(only(to('a'), { http3: true }).responseHeadersToAdd).toEqual([
      { header: { key: 'alt-svc', value: 'h3=":80"; ma=86400' } },
    ]);
  });
});

describe('the cluster of a route', () => {
  it('is that of the port, or the one and the host that the registry knows for it', () => {
    const inferred = [['a', 'real', 8080]] as const;
    expect(only(to('a'), { inferred }).route?.cluster).toBe('outbound|8080||real');
    expect(only(to('b'), { inferred }).route?.cluster).toBe('outbound|80||b');
  });

  it('of a waypoint is the one that was chosen for the destination', () => {
    const clusters = [['a|v1|', 'inbound-vip|80|http/v1|a']] as const;
    const route = (subset: string) => only({ route: [{ destination: { host: 'a', subset } }] }, { clusters }).route;
    expect(route('v1')?.cluster).toBe('inbound-vip|80|http/v1|a');
    expect(route('v2')?.cluster).toBe('outbound|80|v2|a');
  });

  it('is unknown without a host', () => {
    expect(only({ route: [{}] }).route?.cluster).toBe('UnknownService');
    expect(only({ route: [{ destination: { host: '' } }] }).route?.cluster).toBe('UnknownService');
  });

  it('is none where no destination has a weight', () => {
    const none = { route: [{ destination: { host: 'a' } }, { destination: { host: 'b' }, weight: 0 }] };
    expect(only(none).route?.weightedClusters).toEqual({});
    expect(only({}).route?.weightedClusters).toEqual({});
  });

  it('is answered for with 500 where it is missing, for routes of the Gateway API alone', () => {
    expect(only(to('a'), { semantics: 'gateway' }).route?.clusterNotFoundResponseCode).toBe(2);
    expect(only(to('a'), { semantics: 'ingress' }).route?.clusterNotFoundResponseCode).toBeUndefined();
  });

  it('of several destinations has its weight, its headers and the host that these set', () => {
    const [first, second] =
      only({
        route: [
          { destination: { host: 'a' }, weight: 1, headers: { request: { set: { host: 'h' } } } },
          { destination: { host: 'b' }, weight: 2 },
        ],
      }).route?.weightedClusters?.clusters ?? [];
    expect(first).toEqual({ name: 'outbound|80||a', weight: { value: 1 }, hostRewriteLiteral: 'h' });
    expect(second).toEqual({ name: 'outbound|80||b', weight: { value: 2 } });
  });
});

describe('the rewrite of a route', () => {
  const prefix = [{ uri: { prefix: '/old' } }];
  const rewritten = (rewrite: HTTPRoute['rewrite'], semantics?: 'gateway' | 'ingress') => {
    const route = only({ ...to('a'), match: prefix, ...(rewrite && { rewrite }) }, semantics && { semantics }).route;
    return [route?.prefixRewrite, route?.regexRewrite, route?.hostRewriteLiteral];
  };

  it('of a prefix by a slash takes care of the slash behind it, for routes of the Gateway API alone', () => {
    const whole = { pattern: { regex: '^/old(/?)(.*)' }, substitution: '/\\2' };
    expect(rewritten({ uri: '/' }, 'gateway')).toEqual([undefined, whole, undefined]);
    expect(rewritten({ uri: '/' }, 'ingress')).toEqual(['/', undefined, undefined]);
    expect(rewritten({ uri: '/new' }, 'gateway')).toEqual(['/new', undefined, undefined]);
    const [any] = made([{ ...to('a'), rewrite: { uri: '/' } }], { semantics: 'gateway' }).routes;
    expect(any?.route?.regexRewrite?.pattern).toEqual({ regex: '^(/?)(.*)' });
  });

  it('changes nothing that it does not name', () => {
    expect(rewritten({})).toEqual([undefined, undefined, undefined]);
    expect(rewritten({ uri: '', authority: '' })).toEqual([undefined, undefined, undefined]);
    expect(rewritten({ authority: 'h' })).toEqual([undefined, undefined, 'h']);
    const empty = { pattern: { regex: '' }, substitution: '' };
    expect(rewritten({ uriRegexRewrite: {} })).toEqual([undefined, empty, undefined]);
  });

  it('differs between the matches of a rule of the Gateway API', () => {
    const rule = { ...to('a'), match: [{ uri: { prefix: '/a' } }, { uri: { prefix: '/b' } }], rewrite: { uri: '/' } };
    const selected = [
      [0, 0],
      [0, 1],
    ] as const;
    const { routes } = made([rule], { semantics: 'gateway', selected });
    expect(routes.map(({ route }) => route?.regexRewrite?.pattern?.regex)).toEqual(['^/a(/?)(.*)', '^/b(/?)(.*)']);
  });
});

it('prefixes end at separators for routes of the Gateway API and of Ingresses', () => {
  const match = (semantics?: 'gateway' | 'ingress') =>
    only({ ...to('a'), match: [{ uri: { prefix: '/p' } }] }, semantics && { semantics }).match;
  expect([match('gateway')?.pathSeparatedPrefix, match('ingress')?.pathSeparatedPrefix]).toEqual(['/p', '/p']);
  expect(match()).toEqual({ prefix: '/p', caseSensitive: { value: true } });
});

describe('a redirect', () => {
  it('that the proxy knows is no finding, and another one is', () => {
    expect(made([{ redirect: { redirectCode: 302 } }]).problems).toEqual([]);
    const { routes, problems } = made([to('a', { weight: 1 }), { redirect: { redirectCode: 304 } }], {
      selected: [[1, -1]],
    });
    expect([routes[0]?.redirect, routes[0]?.route]).toEqual([undefined, undefined]);
    expect(problems).toEqual([
      {
        path: 'VirtualService shop/v spec.http[1].redirect.redirectCode',
        message: '304 is no redirect that the proxy knows (301, 302, 303, 307, 308): it will refuse the route',
      },
    ]);
  });

  it('goes before an answer and destinations, and an answer before destinations', () => {
    const answer = { directResponse: { status: 204 } };
    const all = only({ ...to('a'), ...answer, redirect: { uri: '/x' } });
    expect([all.redirect, all.directResponse, all.route]).toEqual([{ pathRedirect: '/x' }, undefined, undefined]);
    const answered = only({ ...to('a'), ...answer });
    expect([answered.directResponse, answered.route]).toEqual([{ status: 204 }, undefined]);
  });

  it('and an answer take the headers of the rule alone, and keep no session', () => {
    const rule = to('a', { headers: { request: { set: { x: '1' } } } });
    const sessions = [['a', 'cookie:c']] as const;
    for (const route of [
      only({ ...rule, redirect: { uri: '/x' } }, { sessions }),
      only({ ...rule, directResponse: { status: 204 } }, { sessions }),
    ]) {
      expect([route.requestHeadersToAdd, route.typedPerFilterConfig]).toEqual([undefined, undefined]);
    }
    const forwarding = only(rule, { sessions });
    expect(Object.keys(forwarding.typedPerFilterConfig ?? {})).toEqual(['envoy.filters.http.stateful_session']);
    expect(forwarding.requestHeadersToAdd).toHaveLength(1);
  });
});

describe('the session of a route', () => {
  it('is that of a destination that gets requests', () => {
    const sessions = [['a', 'cookie:c']] as const;
    const two = (weight: number) => ({
      route: [{ destination: { host: 'a' }, weight }, { destination: { host: 'b' }, weight: 1 }, { weight: 0 }],
    });
    expect(only(two(0), { sessions }).typedPerFilterConfig).toBeUndefined();
    expect(only({ route: [{}] }, { sessions }).typedPerFilterConfig).toBeUndefined();
    expect(only({}, { sessions }).typedPerFilterConfig).toBeUndefined();
    expect(only(to('b'), { sessions }).typedPerFilterConfig).toBeUndefined();
    expect(only(to('a'), { sessions }).typedPerFilterConfig).toBeDefined();
  });
});

it('a rule with an endpoint picker asks it', () => {
  const rule = { ...to('a'), endpointPicker: { host: 'p', port: 9002, failOpen: true } };
  expect(Object.keys(only(rule).typedPerFilterConfig ?? {})).toEqual(['envoy.filters.http.ext_proc']);
});

it('CORS has no effect on gRPC clients, which is a finding, and faults have', () => {
  const rule = { ...to('a'), corsPolicy: {}, fault: { abort: { httpStatus: 500 } } };
  const { routes, problems } = made([rule], { proxyless: true });
  expect(Object.keys(routes[0]?.typedPerFilterConfig ?? {})).toEqual(['envoy.filters.http.fault']);
  expect(problems).toEqual([
    {
      path: 'VirtualService shop/v spec.http[0].corsPolicy',
      message: 'has no effect on gRPC clients without a proxy',
    },
  ]);
  expect(only(to('a'), { proxyless: true }).route).toMatchObject({
    maxStreamDuration: { maxStreamDuration: { seconds: 0, nanos: 0 } },
  });
});

it('hashes are those of the destinations that have a key', () => {
  const hashes = [
    ['a||', { httpHeaderName: 'h' }],
    ['b||', { minimumRingSize: 5 }],
  ] as const;
  const two = {
    route: [
      { destination: { host: 'a' }, weight: 1 },
      { destination: { host: 'b' }, weight: 1 },
    ],
  };
  expect(only(two, { hashes }).route?.hashPolicy).toEqual([{ header: { headerName: 'h' } }]);
  expect(only(to('b'), { hashes }).route?.hashPolicy).toBeUndefined();
  expect(only({ route: [{}] }, { hashes }).route?.hashPolicy).toBeUndefined();
});

describe('route configurations', () => {
  const found = [['path', 'message']] as const;
  const problems = [{ path: 'path', message: 'message' }];
  const virtualHosts = [{ name: 'h', domains: ['h'] }];

  it('limit direct responses to a megabyte, ignore ports and check no cluster', () => {
    const made = (hosts: typeof virtualHosts) =>
      routeConfiguration.run({ name: 'r', virtualHosts: hosts, problems: found });
    const fixed = {
      name: 'r',
      validateClusters: { value: false },
      maxDirectResponseBodySizeBytes: { value: 1_048_576 },
      ignorePortInHostMatching: true,
    };
    expect(made(virtualHosts)).toEqual({ name: 'r', message: { ...fixed, virtualHosts }, problems });
    expect(made([]).message).toEqual(fixed);
  });

  it('of gRPC clients have their hosts alone', () => {
    const hosts = (list: typeof virtualHosts) => proxylessRoute.run({ name: 'r', virtualHosts: list, problems: found });
    expect(hosts(virtualHosts)).toEqual({ name: 'r', message: { name: 'r', virtualHosts }, problems });
    expect(hosts([]).message).toEqual({ name: 'r' });
  });

  it('that mean nothing to the proxy are empty', () => {
    expect(emptyRoute.run({ name: 'r' })).toEqual({
      name: 'r',
      message: { name: 'r', validateClusters: { value: false } },
      problems: [],
    });
  });

  it('of gateways put the routes that match everything behind those of all VirtualServices', () => {
    const route = (name: string, prefix: string): Route => ({ name, match: { prefix } });
    const one = { routes: [route('a', '/a'), route('all', '/')], problems: [] };
    const two = { routes: [route('b', '/b'), route('all-of-b', '/')], problems: [] };
    const names = (list: readonly Route[]) => list.map(({ name }) => name);
    expect(names(joinedRoutes([one, two]))).toEqual(['a', 'b', 'all', 'all-of-b']);
    expect(names(joinedRoutes([one]))).toEqual(['a', 'all']);
    expect(joinedRoutes([])).toEqual([]);
  });
});

describe('the last virtual host of a sidecar', () => {
  const plain = { allowAny: true, egressCluster: '', attemptCount: false, appendXForwardedHost: false };
  const never = { seconds: 0, nanos: 0 };

  it('passes requests through without a timeout, or to the egress proxy of its Sidecar', () => {
    const route = { cluster: 'PassthroughCluster', timeout: never, maxGrpcTimeout: never };
    expect(catchAll.run(plain)).toEqual({
      name: 'allow_any',
      domains: ['*'],
      routes: [{ name: 'allow_any', match: { prefix: '/' }, route }],
    });
    const egress = catchAll.run({ ...plain, egressCluster: 'e', appendXForwardedHost: true, attemptCount: true });
    expect(egress.routes?.[0]?.route).toEqual({ ...route, cluster: 'e', appendXForwardedHost: true });
    expect(egress.includeRequestAttemptCount).toBe(true);
  });

  it('answers 502 where only the registry is allowed', () => {
    expect(catchAll.run({ ...plain, allowAny: false })).toEqual({
      name: 'block_all',
      domains: ['*'],
      routes: [{ name: 'block_all', match: { prefix: '/' }, directResponse: { status: 502 } }],
    });
  });
});

describe('a rule with thousands of destinations', () => {
  it('looks through the hosts that they mean once, not once for each', () => {
    const hosts = Array.from({ length: 2000 }, (_, i) => `h${i}`);
    const seen = { reads: 0 };
    const counted = <T extends object>(list: T): T =>
      new Proxy(list, {
        get: (target, name) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) seen.reads++;
          return Reflect.get(target, name);
        },
      });
    const rule = { route: hosts.map(host => ({ destination: { host }, weight: 1 })) };
    const inferred = counted(hosts.map(host => [host, `${host}.shop`, 7] as const));
    const clusters = counted(hosts.map(host => [`${host}||`, `of-${host}`] as const));
    const names = (route: Route) => route.route?.weightedClusters?.clusters?.map(({ name }) => name);
    expect(names(only(rule, { inferred }))?.[1999]).toBe('outbound|7||h1999.shop');
    expect(names(only(rule, { inferred, clusters }))?.[1999]).toBe('of-h1999');
    expect(seen.reads).toBeLessThanOrEqual(6 * hosts.length);
  });
});
