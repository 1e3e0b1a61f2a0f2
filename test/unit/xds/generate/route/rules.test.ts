// What the rules of a VirtualService become, one feature after the other, through the whole of generation.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio, SHOP, shopRoutes, shopScene } from './scene.ts';

const to = (
  host: string,
  more: Readonly<Record<string, never>> | object = {},
): { readonly destination: { readonly host: string } } => ({
  destination: { host },
  ...more,
});
const clusterOf = (host: string, subset = ''): string => `outbound|8080|${subset}|${host}.prod.svc.cluster.local`;

describe('routes of a VirtualService', () => {
  it('exist for each match, named after rule and match, and end at the first catch-all', () => {
    const routes = shopRoutes(
      { name: 'first', match: [{ name: 'a', uri: { exact: '/a' } }, { uri: { exact: '/b' } }], route: [to('shop')] },
      { match: [{ name: 'm', uri: { regex: '.*' } }], route: [to('shop')] },
      { name: 'never', route: [to('shop')] },
    );
    expect(routes.map(route => route.name)).toEqual(['first.a', 'first', '.m']);
  });

  it('have the name of their object in metadata, and name their spans', () => {
    const routes = shopRoutes(
      { match: [{ uri: { exact: '/a' }, statPrefix: 'stats' }], route: [to('shop')] },
      { match: [{ uri: { prefix: '/b' } }], route: [to('shop', { weight: 1 }), to('other', { weight: 1 })] },
      { match: [{ uri: { regex: '/c.?' } }], redirect: { uri: '/d' } },
    );
    const config = '/apis/networking.istio.io/v1/namespaces/prod/virtual-service/shop';
    expect(routes[0]?.metadata).toEqual({ filterMetadata: { istio: { config } } });
    expect(routes[0]?.statPrefix).toBe('stats');
    expect(routes.map(route => route.decorator?.operation)).toEqual([
      'shop.prod.svc.cluster.local:8080/a',
      'shop:8080/b*',
      'shop:8080/c.?',
    ]);
  });

  it('are selected by port, gateway, source label and source namespace', () => {
    const rule = (name: string, match: object): object => ({ name, match: [match], route: [to('shop')] });
    const scene = shopScene([
      rule('port', { port: 8080, uri: { exact: '/' } }),
      rule('other-port', { port: 80, uri: { exact: '/' } }),
      rule('mesh', { gateways: ['mesh'], sourceNamespace: 'far', uri: { exact: '/' } }),
      rule('gateway', { gateways: ['gw'], uri: { exact: '/' } }),
      rule('near', { sourceNamespace: 'prod', uri: { exact: '/' } }),
      rule('far', { sourceNamespace: 'far', uri: { exact: '/' } }),
    ] as never);
    expect(scene.routes('client', '8080', SHOP).map(route => route.name)).toEqual(['port', 'mesh', 'near']);
  });
});

describe('destinations of a route', () => {
  it('are one cluster for any weight; of several, those without weight are omitted', () => {
    const [one] = shopRoutes({ route: [to('shop', { weight: 0 })] });
    expect(one?.route?.cluster).toBe(clusterOf('shop'));
    const [many] = shopRoutes({
      route: [
        {
          destination: { host: 'shop', subset: 'v1' },
          weight: 80,
          headers: { request: { set: { host: 'h', 'x-v': '1' } } },
        },
        { destination: { host: 'shop', subset: 'v2' }, weight: 20 },
        { destination: { host: 'shop', subset: 'v3' }, weight: 0 },
      ],
    });
    expect(many?.route?.weightedClusters?.clusters?.map(({ name, weight }) => [name, weight?.value])).toEqual([
      [clusterOf('shop', 'v1'), 80],
      [clusterOf('shop', 'v2'), 20],
    ]);
    const [first] = many?.route?.weightedClusters?.clusters ?? [];
    expect(first?.hostRewriteLiteral).toBe('h');
    expect(first?.requestHeadersToAdd?.map(({ header }) => header)).toEqual([{ key: 'x-v', value: '1' }]);
    expect(many?.requestHeadersToAdd).toBeUndefined();
  });

  it('have their explicit port', () => {
    const [route] = shopRoutes({ route: [{ destination: { host: 'shop', port: { number: 9 } } }] });
    expect(route?.route?.cluster).toBe('outbound|9||shop.prod.svc.cluster.local');
  });

  it('follow an ExternalName to its target', () => {
    const alias = { type: 'ExternalName', externalName: 'real.example.com', ports: [{ name: 'http', port: 8080 }] };
    const scene = shopScene(
      [{ route: [to('alias')] }],
      [{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'alias', namespace: 'prod' }, spec: alias }],
    );
    const known = istio('ServiceEntry', 'prod', 'real', {
      hosts: ['real.example.com'],
      ports: [{ number: 8080, name: 'http', protocol: 'HTTP' }],
      resolution: 'DNS',
    });
    scene.put(known);
    expect(scene.routes('client', '8080', SHOP)[0]?.route?.cluster).toBe('outbound|8080||real.example.com');
  });
});

describe('timeouts of a route', () => {
  it('are zero unless given, for gRPC too', () => {
    const [none, some] = shopRoutes(
      { match: [{ uri: { exact: '/a' } }], route: [to('shop')] },
      { timeout: '1.5s', route: [to('shop')] },
    );
    expect(none?.route?.timeout).toEqual({ seconds: 0, nanos: 0 });
    expect(some?.route?.timeout).toEqual({ seconds: 1, nanos: 500_000_000 });
    expect(some?.route?.maxGrpcTimeout).toEqual(some?.route?.timeout);
  });
});

describe('header operations of a route', () => {
  it('are applied in order, those of the rule before those of its only destination', () => {
    const [route] = shopRoutes({
      headers: { request: { set: { b: '1', a: '2' }, add: { c: '3' }, remove: ['x'] } },
      route: [to('shop', { headers: { request: { add: { d: '4' } }, response: { remove: ['server'] } } })],
    });
    expect(route?.requestHeadersToAdd).toEqual([
      { header: { key: 'a', value: '2' }, appendAction: 2 },
      { header: { key: 'b', value: '1' }, appendAction: 2 },
      { header: { key: 'c', value: '3' } },
      { header: { key: 'd', value: '4' } },
    ]);
    expect(route?.requestHeadersToRemove).toEqual(['x']);
    expect(route?.responseHeadersToRemove).toEqual(['server']);
  });

  it('rewrite the host in the order rewrite.authority, rule, destination', () => {
    const destination = to('shop', { headers: { request: { set: { ':authority': 'destination' } } } });
    const headers = { request: { add: { Host: 'rule' } } };
    const literal = (rule: object): unknown => shopRoutes(rule as never)[0]?.route?.hostRewriteLiteral;
    expect(literal({ route: [destination] })).toBe('destination');
    expect(literal({ headers, route: [destination] })).toBe('rule');
    expect(literal({ rewrite: { authority: 'rewrite' }, route: [destination] })).toBe('rewrite');
    expect(shopRoutes({ headers, route: [destination] })[0]?.requestHeadersToAdd).toBeUndefined();
  });
});

describe('rewrites of a route', () => {
  it('replace the prefix, or match by regex', () => {
    const [prefix] = shopRoutes({ rewrite: { uri: '/new' }, route: [to('shop')] });
    expect(prefix?.route?.prefixRewrite).toBe('/new');
    const uriRegexRewrite = { match: '^/a/(.*)', rewrite: '/b/\\1' };
    const [regex] = shopRoutes({ rewrite: { uriRegexRewrite }, route: [to('shop')] });
    expect(regex?.route?.regexRewrite).toEqual({ pattern: { regex: '^/a/(.*)' }, substitution: '/b/\\1' });
    expect(regex?.route?.prefixRewrite).toBeUndefined();
  });

  it('append the forwarded host where the proxy is configured for it', () => {
    const mesh = { defaultConfig: { proxyHeaders: { xForwardedHost: { enabled: true } } } };
    const appended = (rule: object): unknown =>
      shopScene([rule as never], [], { mesh }).routes('client', '8080', SHOP)[0]?.route?.appendXForwardedHost;
    expect(appended({ rewrite: { authority: 'x' }, route: [to('shop')] })).toBe(true);
    expect(appended({ route: [to('shop')] })).toBeUndefined();
  });
});

describe('mirrors of a route', () => {
  const mirrored = (rule: object): unknown =>
    shopRoutes({ route: [to('shop')], ...rule })[0]?.route?.requestMirrorPolicies?.map(policy => [
      policy.cluster,
      policy.runtimeFraction?.defaultValue,
    ]);

  it('have their percentage, and are omitted at zero', () => {
    const half = { destination: { host: 'half' }, percentage: { value: 0.5 } };
    const all = { destination: { host: 'all', subset: 'v2' } };
    const none = { destination: { host: 'none' }, percentage: { value: 0 } };
    expect(mirrored({ mirrors: [half, all, none] })).toEqual([
      [clusterOf('half'), { numerator: 5000, denominator: 2 }],
      [clusterOf('all', 'v2'), { numerator: 100 }],
    ]);
    expect(mirrored({ mirrors: [none] })).toBeUndefined();
  });

  it('may be a single one, with its percentage in either field', () => {
    const mirror = { host: 'copy' };
    expect(mirrored({ mirror })).toEqual([[clusterOf('copy'), { numerator: 100 }]]);
    expect(mirrored({ mirror, mirrorPercent: 20 })).toEqual([[clusterOf('copy'), { numerator: 20 }]]);
    expect(mirrored({ mirror, mirrorPercentage: { value: 12.5 } })).toEqual([
      [clusterOf('copy'), { numerator: 125_000, denominator: 2 }],
    ]);
  });

  it('are not sampled for traces, and keep the host', () => {
    const [policy] =
      shopRoutes({ route: [to('shop')], mirror: { host: 'copy' } })[0]?.route?.requestMirrorPolicies ?? [];
    expect([policy?.traceSampled, policy?.disableShadowHostSuffixAppend]).toEqual([{ value: false }, true]);
  });
});

describe('faults and CORS of a route', () => {
  it('are configured on the route', () => {
    const [route] = shopRoutes({
      route: [to('shop')],
      fault: {
        delay: { fixedDelay: '7s', percentage: { value: 100 } },
        abort: { grpcStatus: 'UNAVAILABLE', percentage: { value: 0.1 } },
      },
      corsPolicy: {
        allowOrigins: [{ prefix: 'https://a' }],
        allowMethods: ['GET', 'POST'],
        maxAge: '90s',
        allowCredentials: false,
        unmatchedPreflights: 'IGNORE',
      },
    });
    const configs = route?.typedPerFilterConfig;
    expect(configs?.['envoy.filters.http.fault']).toEqual({
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault',
      delay: { fixedDelay: { seconds: 7, nanos: 0 }, percentage: { numerator: 1_000_000, denominator: 2 } },
      abort: { grpcStatus: 14, percentage: { numerator: 1000, denominator: 2 } },
    });
    expect(configs?.['envoy.filters.http.cors']).toEqual({
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy',
      allowOriginStringMatch: [{ prefix: 'https://a' }],
      allowMethods: 'GET,POST',
      maxAge: '90',
      allowCredentials: { value: false },
      filterEnabled: { defaultValue: { numerator: 100 } },
      forwardNotMatchingPreflights: { value: false },
    });
  });
});

describe('direct responses of a route', () => {
  it('have a status and a body of text or bytes', () => {
    const [text] = shopRoutes({ directResponse: { status: 418, body: { string: 'short and stout' } } });
    expect(text?.directResponse).toEqual({ status: 418, body: { inlineString: 'short and stout' } });
    const [bytes] = shopRoutes({ directResponse: { status: 200, body: { bytes: 'AAH/aGk=' } } });
    expect(bytes?.directResponse?.body?.inlineBytes).toEqual(Uint8Array.of(0, 1, 255, 104, 105));
  });
});

describe('the matches of a rule', () => {
  const names = (...http: readonly JsonObject[]) => shopRoutes(...http).map(({ match }) => match?.prefix);
  const match = (prefix: string, more: JsonObject = {}): JsonObject => ({ uri: { prefix }, ...more });

  it('are those that apply to the client and the port, if it is the only rule too', () => {
    const mine = [
      match('/other', { sourceLabels: { app: 'other' } }),
      match('/all', { port: 0, sourceLabels: {} }),
      match('/port', { port: 8080 }),
      match('/else', { port: 9 }),
    ];
    const rule = { match: mine, route: [to('shop')] };
    expect(names(rule)).toEqual(['/all', '/port']);
    expect(names(rule, { match: [match('/next')], route: [to('shop')] })).toEqual(['/all', '/port', '/next']);
  });
});

describe('hash policies of a route', () => {
  const hashed = (
    trafficPolicy: object,
    destination: object = { host: 'shop' },
    subsets: readonly object[] = [],
  ): unknown => {
    const rule = istio('DestinationRule', 'prod', 'shop', { host: 'shop', trafficPolicy, subsets } as never);
    const scene = shopScene([{ route: [{ destination }] }] as never, [rule]);
    return scene.routes('client', '8080', SHOP)[0]?.route?.hashPolicy;
  };
  const by = (name: string): object => ({ loadBalancer: { consistentHash: { httpHeaderName: name } } });
  const header = (headerName: string): object => ({ header: { headerName } });

  it('are those of the destination, the more specific first', () => {
    const ofPort = { ...by('top'), portLevelSettings: [{ port: { number: 8080 }, ...by('port') }] };
    const subset = { name: 'v1', labels: { v: '1' }, trafficPolicy: by('subset') };
    expect(hashed(by('top'))).toEqual([header('top')]);
    expect(hashed(ofPort)).toEqual([header('top')]);
    expect(hashed(ofPort, { host: 'shop', port: { number: 8080 } })).toEqual([header('port')]);
    expect(hashed(ofPort, { host: 'shop', subset: 'v1', port: { number: 8080 } }, [subset])).toEqual([
      header('subset'),
    ]);
  });

  it('keep retries on the same host, unless the destination is one of several', () => {
    const rule = istio('DestinationRule', 'prod', 'shop', { host: 'shop', trafficPolicy: by('x') as never });
    const predicates = (route: readonly object[]): unknown =>
      shopScene([{ route }] as never, [rule]).routes('client', '8080', SHOP)[0]?.route?.retryPolicy?.retryHostPredicate
        ?.length;
    expect(predicates([to('shop')])).toBeUndefined();
    expect(predicates([to('shop', { weight: 1 }), to('other', { weight: 1 })])).toBe(1);
  });

  it('use a cookie, the source address or a query parameter', () => {
    const policy = (consistentHash: object): unknown => hashed({ loadBalancer: { consistentHash } });
    expect(policy({ httpCookie: { name: 'c', ttl: '0s', path: '/p' } })).toEqual([
      { cookie: { name: 'c', ttl: { seconds: 0, nanos: 0 }, path: '/p' } },
    ]);
    expect(policy({ useSourceIp: true })).toEqual([{ connectionProperties: { sourceIp: true } }]);
    expect(policy({ httpQueryParameterName: 'q' })).toEqual([{ queryParameter: { name: 'q' } }]);
  });
});
