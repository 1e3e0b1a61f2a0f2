import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { problemsOf, withSpec } from '../verdict.ts';

const to = (host: string, weight?: number): JsonObject => ({
  destination: { host },
  ...(weight === undefined ? {} : { weight }),
});
const route = [to('b')];
const problems = (spec: JsonObject): readonly string[] => problemsOf(withSpec('VirtualService', spec));
const http = (...routes: JsonObject[]): readonly string[] => problems({ hosts: ['a.com'], http: routes });

test('a VirtualService with every field is accepted', () => {
  const spec = {
    hosts: ['a.com', '*.b.com', '10.0.0.1'],
    gateways: ['mesh', 'prod/gw', 'gw'],
    exportTo: ['.', 'other'],
    http: [
      {
        match: [
          {
            uri: { prefix: '/' },
            headers: { 'x-user': { regex: 'j.*' }, ':path': { exact: '/' } },
            withoutHeaders: { 'x-debug': { regex: '*' } },
          },
          { queryParams: { q: { exact: '' } }, port: 80, sourceLabels: { app: 'x' }, sourceNamespace: 'prod' },
        ],
        route: [to('b', 0), to('c.prod.svc.cluster.local', 3)],
        timeout: '0.5s',
        retries: { attempts: 3, perTryTimeout: '1s', retryOn: '5xx,503,reset' },
        fault: { delay: { fixedDelay: '1s', percentage: { value: 0.0001 } }, abort: { httpStatus: 503 } },
        rewrite: { uri: '/', authority: 'c' },
        headers: { request: { set: { 'x-a': 'b' } }, response: { remove: ['x-b'] } },
        mirrors: [{ destination: { host: 'd', port: { number: 80 } }, percentage: { value: 10 } }],
        corsPolicy: { allowOrigins: [{ exact: '*' }], allowMethods: ['GET', '*'], maxAge: '24h' },
      },
      { redirect: { uri: '/x', redirectCode: 302 } },
      { directResponse: { status: 200, body: { string: 'hi' } } },
    ],
    tls: [{ match: [{ sniHosts: ['x.b.com'], destinationSubnets: ['10.0.0.0/8'] }], route }],
    tcp: [{ match: [{ port: 27017 }], route }],
  };
  expect(problems(spec)).toEqual([]);
  expect(problems({ http: [{ route }] })).toEqual([]);
});

describe('validation of a VirtualService as a whole', () => {
  test.each<[JsonObject, string]>([
    [{ hosts: ['a.com'] }, 'spec: has no routes: expected http, tls or tcp'],
    [
      { hosts: ['*.*.com'], http: [{ route }] },
      'spec.hosts[0]: "*.com" is not a host name: "*" is not one of letters, digits and "-" between dots',
    ],
    [
      { hosts: ['*'], http: [{ route }] },
      'spec.hosts[0]: "*" is possible on a gateway only, and this one applies to the mesh',
    ],
    [{ hosts: ['*.a.com', 'x.a.com'], http: [{ route }] }, 'spec.hosts[1]: "x.a.com" overlaps the earlier "*.a.com"'],
    [
      { hosts: ['a.com'], gateways: ['b@d'], http: [{ route }] },
      'spec.gateways[0]: "b@d" is not a host name: "b@d" is not one of letters, digits and "-" between dots',
    ],
    [{ hosts: ['a.com'], gateways: ['./gw'], http: [{ route }] }, 'spec.gateways[0]: "." is not a namespace'],
    [
      { hosts: ['a.com'], http: [{ match: [{ gateways: ['./gw'] }], route }] },
      'spec.http[0].match[0].gateways[0]: "." is not a namespace',
    ],
    [
      { gateways: ['gw'], http: [{ route }] },
      'spec.gateways: a VirtualService without hosts is a delegate, which has none',
    ],
    [
      { hosts: ['a.com'], exportTo: ['*', 'x'], http: [{ route }] },
      'spec.exportTo: "*" cannot be combined with other entries',
    ],
    [
      { hosts: ['a.com'], exportTo: ['.', 'prod'], http: [{ route }] },
      'spec.exportTo[1]: "prod" names a namespace that an earlier entry names too',
    ],
  ])('reports for %j: %s', (spec, problem) => {
    expect(problems(spec)).toEqual([problem]);
  });
  test('accepts "*" on a gateway', () => {
    expect(problems({ hosts: ['*'], gateways: ['gw'], http: [{ route }] })).toEqual([]);
  });
});

describe('validation of HTTP routes', () => {
  test.each<[JsonObject, string]>([
    [{}, 'spec.http[0]: has no action: expected route, redirect or directResponse'],
    [{ route, redirect: { uri: '/' } }, 'spec.http[0].redirect: cannot be combined with route'],
    [{ redirect: { uri: '/' }, rewrite: { uri: '/' } }, 'spec.http[0].redirect: cannot be combined with rewrite'],
    [
      { directResponse: { status: 200 }, redirect: { uri: '/' } },
      'spec.http[0].redirect: cannot be combined with directResponse',
    ],
    [{ redirect: {} }, 'spec.http[0].redirect: changes nothing: expected uri, authority, scheme or port'],
    [
      { directResponse: { status: 99 } },
      'spec.http[0].directResponse.status: 99 is not a status of HTTP: expected 200 to 600',
    ],
    [{ delegate: { name: 'x' }, route }, 'spec.http[0].route: cannot be combined with delegate'],
    [{ route, timeout: '0s' }, 'spec.http[0].timeout: 0s is too short: expected at least 1ms'],
    [{ route, timeout: '1.0005s' }, 'spec.http[0].timeout: 1.0005s is too fine: expected whole milliseconds'],
    [{ route: [to('b', 0), to('c')] }, 'spec.http[0].route: the weights of several destinations sum up to 0'],
    [{ route: [to('b', -1)] }, 'spec.http[0].route[0].weight: -1 is negative'],
    [{ route: [{}] }, 'spec.http[0].route[0].destination: is missing; expected a destination with a host'],
    [{ route: [to('*')] }, 'spec.http[0].route[0].destination.host: "*" is every host; expected one'],
    [
      { route: [{ destination: { host: 'b', port: { number: 70000 } } }] },
      'spec.http[0].route[0].destination.port.number: 70000 is not a port: expected a number from 1 to 65535',
    ],
    [
      { route: [{ destination: { host: 'b', subset: 'v_1' } }] },
      'spec.http[0].route[0].destination.subset: "v_1" is not the name of a subset: expected letters, digits and "-"',
    ],
    [
      { route, retries: { attempts: 0, retryOn: '5xx' } },
      'spec.http[0].retries.attempts: is 0, which means no retries; yet there are settings for them',
    ],
    [
      { route, retries: { attempts: 1, retryOn: 'sometimes' } },
      'spec.http[0].retries.retryOn: "sometimes" is neither a retry policy of Envoy, such as 5xx, nor a status of HTTP',
    ],
    [{ route, fault: {} }, 'spec.http[0].fault: does nothing: expected abort or delay'],
    [
      { route, fault: { abort: { httpStatus: 500, percentage: { value: 101 } } } },
      'spec.http[0].fault.abort.percentage.value: 101 is not a percentage: expected 0, or from 0.0001 to 100',
    ],
    [
      { route, fault: { abort: { grpcStatus: 'NOPE' } } },
      'spec.http[0].fault.abort.grpcStatus: "NOPE" is not a status of gRPC, such as NOT_FOUND',
    ],
    [{ route, rewrite: {} }, 'spec.http[0].rewrite: changes nothing: expected uri, uriRegexRewrite or authority'],
    [
      { route, rewrite: { uriRegexRewrite: { match: 'a' } } },
      'spec.http[0].rewrite.uriRegexRewrite: needs both match and rewrite',
    ],
    [
      { route, rewrite: { authority: 'x' }, headers: { request: { set: { Host: 'y' } } } },
      'spec.http[0].headers.request.set[Host]: sets the authority, as spec.http[0].rewrite.authority does already',
    ],
    [
      { route, headers: { request: { add: { ':path': '/' } } } },
      'spec.http[0].headers.request.add[:path]: ":path": headers that begin with ":" cannot be changed',
    ],
    [
      { route, headers: { response: { set: { host: 'x' } } } },
      'spec.http[0].headers.response.set[host]: "host" cannot be changed here',
    ],
    [
      { route, mirror: { host: 'b' }, mirrors: [{ destination: { host: 'b' } }] },
      'spec.http[0].mirrors: cannot be combined with mirror',
    ],
    [
      { route, mirror: { host: 'b' }, mirrorPercentage: { value: 101 } },
      'spec.http[0].mirrorPercentage.value: 101 is not a percentage: expected 0 to 100',
    ],
    [
      { route, corsPolicy: { allowMethods: ['PUTT'] } },
      'spec.http[0].corsPolicy.allowMethods[0]: "PUTT" is not a method: expected one of *, CONNECT, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, TRACE',
    ],
    [
      { route, corsPolicy: { maxAge: '1.5s' } },
      'spec.http[0].corsPolicy.maxAge: 1.5s is too fine: expected whole seconds',
    ],
    [
      { route, match: [{ uri: { regex: '[' } }] },
      'spec.http[0].match[0].uri.regex: "[" is not an expression of RE2: error parsing regexp: missing closing ]: `[`',
    ],
    [
      { route, match: [{ uri: { exact: '/', prefix: '/' } }] },
      'spec.http[0].match[0].uri.prefix: cannot be set together with `exact`',
    ],
    [
      { route, match: [{ port: 70000 }] },
      'spec.http[0].match[0].port: 70000 is not a port: expected a number from 1 to 65535',
    ],
    [
      { route, match: [{ headers: { 'a b': { exact: 'x' } } }] },
      'spec.http[0].match[0].headers[a b]: "a b" is not the name of a header',
    ],
  ])('reports for %j: %s', (spec, problem) => {
    expect(http(spec)).toEqual([problem]);
  });
  test('refuses an expression that JavaScript supports but RE2 does not', () => {
    expect(http({ route, match: [{ uri: { regex: '(?=x)' } }] })).toHaveLength(1);
    expect(http({ route, match: [{ uri: { regex: 'x'.repeat(5000) } }] })).toEqual([
      'spec.http[0].match[0].uri.regex: the expression is 5000 characters long; at most 1024 are allowed',
    ]);
  });
});

describe('validation of TLS and TCP routes', () => {
  test.each<[JsonObject, readonly string[]]>([
    [{ tls: [{ route }] }, ['spec.tls[0].match: is empty; a TLS route needs at least one match with sniHosts']],
    [{ tls: [{ match: [{}], route }] }, ['spec.tls[0].match[0].sniHosts: is empty; expected at least one host']],
    [
      { tls: [{ match: [{ sniHosts: ['b.com'] }], route }] },
      ['spec.tls[0].match[0].sniHosts[0]: "b.com" is not covered by any of the hosts "a.com"'],
    ],
    [
      { tls: [{ match: [{ sniHosts: ['a.com'], destinationSubnets: ['10.0.0.0/33'] }], route }] },
      [
        'spec.tls[0].match[0].destinationSubnets[0]: "10.0.0.0/33" is neither an IP address nor a prefix such as 10.0.0.0/8',
      ],
    ],
    [{ tcp: [{}] }, ['spec.tcp[0].route: is empty; expected at least one destination']],
  ])('refuses %j', (spec, expected) => {
    expect(problems({ hosts: ['a.com'], ...spec })).toEqual(expected);
  });
});

describe('validation of the names that gateways between networks route by', () => {
  const generated = 'outbound_.15010_._.istiod.istio-system.svc.cluster.local';
  const tls = (...sniHosts: string[]): JsonObject => ({ tls: [{ match: [{ sniHosts }], route }] });
  test.each<[JsonObject]>([
    [{ hosts: [generated], gateways: ['gw'], ...tls(generated) }],
    [{ hosts: ['*'], gateways: ['gw'], ...tls(generated, 'outbound_.80_.v1_.a.com') }],
    [{ hosts: ['*.local'], ...tls(generated) }],
  ])('accepts %j', spec => {
    expect(problems(spec)).toEqual([]);
  });
  test.each<[JsonObject, readonly string[]]>([
    // Not on a gateway, or no TLS route that asks for SNI hosts.
    [{ hosts: [generated], gateways: ['mesh'], ...tls(generated) }, ['spec.hosts[0]', 'spec.tls[0]']],
    [{ hosts: [generated], ...tls(generated) }, ['spec.hosts[0]']],
    [{ hosts: [generated], gateways: ['gw'], http: [{ route }] }, ['spec.hosts[0]']],
    [{ hosts: ['*'], gateways: ['gw'], ...tls('outbound_.80_.a.com') }, ['spec.tls[0]']],
    [{ hosts: ['*'], gateways: ['gw'], ...tls('outbound_.http_._.a.com') }, ['spec.tls[0]']],
    [{ hosts: ['*'], gateways: ['gw'], ...tls('outbound_.80_._.1.2') }, ['spec.tls[0]']],
    [{ hosts: ['*'], gateways: ['gw'], ...tls(`outbound_.80_._.${'a'.repeat(250)}`) }, ['spec.tls[0]']],
    [{ hosts: ['a.com'], gateways: ['gw'], ...tls(generated) }, ['spec.tls[0]']],
  ])('refuses %j', (spec, places) => {
    const found = problems(spec);
    expect(found.map(problem => problem.replace(/(\.match.*)?: .*/, ''))).toEqual(places);
  });
});

describe('a VirtualService of many matches and many destinations', () => {
  const ofSize = (matches: number, destinations: number): JsonObject => ({
    match: Array.from({ length: matches }, (_, i) => ({ uri: { prefix: `/${i}` } })),
    route: Array.from({ length: destinations }, (_, i) => to(`h${i}`, 1)),
  });

  test('is accepted up to a million routed destinations', () => {
    expect(http(ofSize(1000, 1000))).toEqual([]);
    expect(http(ofSize(2000, 1), ofSize(1, 2000))).toEqual([]);
  });

  test('is refused beyond, because every match becomes a route with all destinations of its rule', () => {
    expect(http(ofSize(1000, 500), ofSize(1000, 501))).toEqual([
      'spec.http: hosts times matches times destinations come to 1001000; at most 1000000 are allowed',
    ]);
  });

  test('is refused beyond with its hosts, because each has a virtual host with all routes', () => {
    const hosts = (count: number) => Array.from({ length: count }, (_, i) => `h${i}.example.com`);
    const many = (count: number) => problems({ hosts: hosts(count), http: [ofSize(1000, 10)] });
    expect(many(100)).toEqual([]);
    expect(many(101)).toEqual([
      'spec.http: hosts times matches times destinations come to 1010000; at most 1000000 are allowed',
    ]);
  });

  test('counts a rule without destinations, such as a redirect, as one', () => {
    const hosts = Array.from({ length: 1_001 }, (_, i) => `h${i}.example.com`);
    const rules = Array.from({ length: 1_000 }, (_, i) => ({ match: [{ port: i + 1 }], redirect: { uri: '/' } }));
    expect(problems({ hosts, http: rules })).toEqual([
      'spec.http: hosts times matches times destinations come to 1001000; at most 1000000 are allowed',
    ]);
  });

  test('is refused if its rules times its hosts have too many characters', () => {
    const hosts = (count: number) => Array.from({ length: count }, (_, i) => `h${i}.example.com`);
    const add = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, 'v'.repeat(180)]));
    const rule = { headers: { request: { add } }, route: [to('a')] };
    expect(problems({ hosts: hosts(1_000), http: [rule] })).toEqual([]);
    expect(problems({ hosts: hosts(1_100), http: [rule] })).toEqual([
      expect.stringMatching(
        /^spec\.http: hosts times characters of the rules come to 1\d{8}; at most 100000000 are allowed$/,
      ),
    ]);
  });
});
