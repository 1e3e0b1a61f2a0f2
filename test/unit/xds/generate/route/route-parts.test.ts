// The parts of a route, each from the field of a rule that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/route/route.go, pilot/pkg/networking/util/util.go.

import { describe, expect, it } from 'vitest';
import type { CorsPolicy, HTTPRoute, StringMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import { hashPolicy } from '../../../../../src/xds/generate/route/consistent-hash.ts';
import { corsConfig } from '../../../../../src/xds/generate/route/cors.ts';
import { directResponseAction } from '../../../../../src/xds/generate/route/direct-response.ts';
import { withoutDuplicates } from '../../../../../src/xds/generate/route/duplicates.ts';
import { faultConfig } from '../../../../../src/xds/generate/route/fault.ts';
import {
  headerFields,
  headerOperations,
  joinOperations,
  withAltService,
} from '../../../../../src/xds/generate/route/header-operations.ts';
import { routeMatch } from '../../../../../src/xds/generate/route/match.ts';
import { mirrorPolicies } from '../../../../../src/xds/generate/route/mirrors.ts';
import { perHundred, perMillion } from '../../../../../src/xds/generate/route/percent.ts';
import { sessionConfig, sessionFilter } from '../../../../../src/xds/generate/route/persistent-session.ts';
import { redirectAction } from '../../../../../src/xds/generate/route/redirect.ts';
import { retryPolicy } from '../../../../../src/xds/generate/route/retry.ts';
import { placesOf } from '../../../../../src/xds/generate/route/sidecar.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';

describe('a hash policy', () => {
  it.each([
    [{ httpHeaderName: 'h' }, { header: { headerName: 'h' } }],
    [{ httpCookie: { name: '', path: '' } }, { cookie: {} }],
    [{ httpCookie: { name: 'c', path: '/p' } }, { cookie: { name: 'c', path: '/p' } }],
    [
      { httpCookie: { name: 'c', attributes: [{ name: 'SameSite', value: 'Strict' }] } },
      { cookie: { name: 'c', attributes: [{ name: 'SameSite', value: 'Strict' }] } },
    ],
    [{ useSourceIp: false }, { connectionProperties: {} }],
    [{ httpQueryParameterName: 'q' }, { queryParameter: { name: 'q' } }],
    [{ minimumRingSize: 5 }, undefined],
  ])('by %j is %j', (hash, expected) => {
    expect(hashPolicy(hash)).toEqual(expected);
  });
});

describe('a session', () => {
  const cookie = (value: object) => ({
    name: 'envoy.http.stateful_session.cookie',
    typedConfig: {
      '@type': typeUrl('envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState'),
      cookie: value,
    },
  });
  const header = (name: string) => ({
    name: 'envoy.http.stateful_session.header',
    typedConfig: {
      '@type': typeUrl('envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState'),
      name,
    },
  });

  it.each([
    ['cookie:c', cookie({ name: 'c', path: '/' })],
    ['cookie:c:/path', cookie({ name: 'c', path: '/path' })],
    ['cookie:c:', cookie({ name: 'c' })],
    ['cookie::/path', cookie({ name: '', path: '/path' })],
    ['header:x', header('x')],
    ['header:x:y', header('x:y')],
  ])('%s is in the settings of a route, and in the filter of a client without them', (session, sessionState) => {
    expect(sessionConfig(session)).toEqual({
      'envoy.filters.http.stateful_session': {
        '@type': typeUrl('envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute'),
        statefulSession: { sessionState },
      },
    });
    expect(sessionFilter(session)).toEqual([
      {
        name: 'envoy.filters.http.stateful_session',
        typedConfig: {
          '@type': typeUrl('envoy.extensions.filters.http.stateful_session.v3.StatefulSession'),
          sessionState,
        },
      },
    ]);
  });

  it('is absent where no service has one', () => {
    expect([sessionConfig(''), sessionFilter('')]).toEqual([{}, []]);
  });
});

describe('mirrors', () => {
  const shares = (rule: HTTPRoute): unknown =>
    mirrorPolicies(rule, true, destination => destination?.host ?? '').map(policy => [
      policy.cluster,
      policy.runtimeFraction?.defaultValue,
    ]);
  const mirror = { host: 'a' };

  it('are omitted where their share is zero, in whichever field, and only they', () => {
    expect(shares({ mirror, mirrorPercent: 0 })).toEqual([]);
    expect(shares({ mirror, mirrorPercentage: { value: 0 } })).toEqual([]);
    expect(shares({ mirror, mirrorPercentage: {}, mirrorPercent: 50 })).toEqual([]);
    expect(shares({ mirror, mirrorPercent: 1 })).toEqual([['a', { numerator: 1 }]]);
    const mirrors = [{ destination: mirror, percentage: { value: 0 } }, { destination: { host: 'b' } }, {}];
    expect(shares({ mirrors })).toEqual([['b', { numerator: 100 }]]);
    expect(shares({})).toEqual([]);
  });

  it('have hosts that end in -shadow if told to', () => {
    const [policy] = mirrorPolicies({ mirror }, true, () => 'c');
    expect(policy).toEqual({
      cluster: 'c',
      runtimeFraction: { defaultValue: { numerator: 100 } },
      traceSampled: { value: false },
    });
  });
});

it('a share is a part of a hundred or of a million, and zero has no numerator', () => {
  expect([perHundred(7), perHundred(0)]).toEqual([{ numerator: 7 }, {}]);
  expect([perMillion(0.00019), perMillion(0)]).toEqual([{ numerator: 1, denominator: 2 }, { denominator: 2 }]);
});

describe('redirects', () => {
  const place = { port: 80, https: false, prefixToken: false };

  it('leave the host and the scheme where the rule leaves them empty', () => {
    expect(redirectAction({ authority: '', scheme: '' }, place)).toEqual({ pathRedirect: '' });
    expect(redirectAction({ authority: 'a', scheme: 'https' }, place)).toEqual({
      hostRedirect: 'a',
      pathRedirect: '',
      schemeRedirect: 'https',
    });
  });

  it('omit the default port of the scheme alone', () => {
    const port = (scheme: string, number: number) => redirectAction({ scheme, port: number }, place)?.portRedirect;
    expect([port('http', 80), port('https', 443)]).toEqual([undefined, undefined]);
    expect([port('https', 80), port('http', 443)]).toEqual([80, 443]);
  });
});

describe('retries on a status code', () => {
  it.each([
    ['5031', '5031'],
    ['x503', 'x503'],
    ['50', '50'],
  ])('name one that HTTP has: %j stays in the text', (retryOn, text) => {
    const policy = retryPolicy({ attempts: 1, retryOn }, false);
    expect([policy?.retryOn, policy?.retriableStatusCodes]).toEqual([text, undefined]);
  });

  it('leave out every setting that the rule leaves out', () => {
    const { retryHostPredicate: _, ...rest } = retryPolicy({ attempts: 1 }, false) ?? {};
    expect(rest).toEqual({
      retryOn: 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes',
      numRetries: { value: 1 },
      hostSelectionRetryMaxAttempts: 5,
    });
  });
});

describe('CORS', () => {
  const fixed = {
    '@type': typeUrl('envoy.extensions.filters.http.cors.v3.CorsPolicy'),
    filterEnabled: { defaultValue: { numerator: 100 } },
    forwardNotMatchingPreflights: { value: true },
  };

  it.each<[CorsPolicy, object]>([
    [{}, {}],
    [{ allowOrigin: ['a', '*'] }, { allowOriginStringMatch: [{ exact: 'a' }, { exact: '*' }] }],
    [{ allowOrigins: [], allowOrigin: ['a'] }, { allowOriginStringMatch: [{ exact: 'a' }] }],
    [{ allowOrigins: [{ exact: 'b' }], allowOrigin: ['a'] }, { allowOriginStringMatch: [{ exact: 'b' }] }],
    [{ allowOrigins: [{}, { regex: 'c.*' }] }, { allowOriginStringMatch: [{ safeRegex: { regex: 'c.*' } }] }],
    [{ allowMethods: [], allowHeaders: ['x', 'y'] }, { allowHeaders: 'x,y' }],
    [
      { exposeHeaders: ['x'], allowMethods: ['GET'] },
      { exposeHeaders: 'x', allowMethods: 'GET' },
    ],
    [{ maxAge: { seconds: 90, nanos: 5 } }, { maxAge: '90' }],
    [{ allowCredentials: true }, { allowCredentials: { value: true } }],
    [{ unmatchedPreflights: 'IGNORE' }, { forwardNotMatchingPreflights: { value: false } }],
  ])('by %j has %j', (policy, expected) => {
    expect(corsConfig(policy)).toEqual({ ...fixed, ...expected });
  });
});

describe('direct responses', () => {
  it('without a status or body have none', () => {
    expect([directResponseAction({}), directResponseAction({ status: 0 })]).toEqual([{}, {}]);
    expect(directResponseAction({ status: 204 })).toEqual({ status: 204 });
  });

  it('take bytes in both alphabets of base64, with or without padding', () => {
    const bytes = (text: string) => directResponseAction({ body: { bytes: text } }).body?.inlineBytes;
    const expected = Uint8Array.of(0xfb, 0xff, 0xbf, 0x61);
    for (const text of ['+/+/YQ==', '-_-_YQ', '+/+/YQ']) expect(bytes(text)).toEqual(expected);
  });
});

describe('faults', () => {
  const fault = { '@type': typeUrl('envoy.extensions.filters.http.fault.v3.HTTPFault') };
  const fixedDelay = { seconds: 1, nanos: 0 };

  it('without a fixed delay delay nothing, and without a status abort nothing', () => {
    expect(faultConfig({ delay: { exponentialDelay: fixedDelay }, abort: { percentage: { value: 1 } } })).toEqual(
      fault,
    );
    expect(faultConfig({})).toEqual(fault);
  });

  it('delay all requests of no share, and abort those of the share, or all', () => {
    expect(faultConfig({ delay: { fixedDelay } })).toEqual({ ...fault, delay: { fixedDelay, percentage: {} } });
    expect(faultConfig({ abort: { httpStatus: 500 } })).toEqual({ ...fault, abort: { httpStatus: 500 } });
    expect(faultConfig({ abort: { grpcStatus: 'NOT_A_STATUS', percentage: {} } })).toEqual({
      ...fault,
      abort: { grpcStatus: 0, percentage: { denominator: 2 } },
    });
  });
});

describe('operations on headers', () => {
  const none = headerOperations(undefined);
  const of = (name: string, more: object = {}) =>
    headerOperations({
      request: { add: { [`q-${name}`]: '1' }, remove: [`dq-${name}`], ...more },
      response: { set: { [`s-${name}`]: '2' }, remove: [`ds-${name}`] },
    });

  it('are joined in every list, and the authority of the route goes before that of the destination', () => {
    const joined = joinOperations(of('a'), of('b', { set: { host: 'b' } }));
    expect(joined.requestHeadersToAdd.map(({ header }) => header?.key)).toEqual(['q-a', 'q-b']);
    expect(joined.requestHeadersToRemove).toEqual(['dq-a', 'dq-b']);
    expect(joined.responseHeadersToAdd.map(({ header }) => header?.key)).toEqual(['s-a', 's-b']);
    expect(joined.responseHeadersToRemove).toEqual(['ds-a', 'ds-b']);
    expect(joined.authority).toBe('b');
    expect(joinOperations(of('a', { set: { host: 'a' } }), of('b', { set: { host: 'b' } })).authority).toBe('a');
    expect(joinOperations(of('a'), none)).toEqual(of('a'));
    expect(joinOperations(none, of('b'))).toEqual(of('b'));
  });

  it('are in the order of their names, sets before additions', () => {
    const { requestHeadersToAdd } = headerOperations({ request: { set: { b: '1', a: '2' }, add: { d: '3', c: '4' } } });
    expect(requestHeadersToAdd.map(({ header }) => header?.key)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('announce HTTP/3 on the port for a day, after what the rule adds', () => {
    const announced = withAltService(of('a'), 443).responseHeadersToAdd;
    expect(announced.at(-1)).toEqual({ header: { key: 'alt-svc', value: 'h3=":443"; ma=86400' } });
    expect(announced).toHaveLength(2);
  });

  it('leave no field for an empty list', () => {
    expect([headerFields(none), headerFields(headerOperations({}))]).toEqual([{}, {}]);
  });
});

describe('the match of a route by other things than its path', () => {
  const GET: StringMatch = { exact: 'GET' };
  const plain = { prefix: '/', caseSensitive: { value: true } };
  const header = (name: string) => [{ name, stringMatch: { exact: 'GET' } }];
  const claim = (invert: boolean, ...path: readonly string[]) => ({
    filter: 'envoy.filters.http.jwt_authn',
    path: ['payload', ...path].map(key => ({ key })),
    value: {
      orMatch: {
        valueMatchers: [{ listMatch: { oneOf: { stringMatch: { exact: 'GET' } } } }, { stringMatch: { exact: 'GET' } }],
      },
    },
    ...(invert ? { invert: true } : {}),
  });

  it.each([
    [{ method: GET }, { headers: header(':method') }],
    [{ authority: GET }, { headers: header(':authority') }],
    [{ scheme: GET }, { headers: header(':scheme') }],
    [{ headers: { a: GET } }, { headers: header('a') }],
    [
      { withoutHeaders: { a: GET } },
      { headers: [{ ...header('a')[0], invertMatch: true, treatMissingHeaderAsEmpty: true }] },
    ],
    [{ headers: {}, queryParams: {} }, {}],
    [{ queryParams: { q: GET } }, { queryParameters: header('q') }],
    [
      { queryParams: { b: {}, a: { regex: '*' } } },
      {
        queryParameters: [
          { name: 'a', presentMatch: true },
          { name: 'b', presentMatch: true },
        ],
      },
    ],
    [{ headers: { '@request.auth.claims.a.b': GET } }, { dynamicMetadata: [claim(false, 'a', 'b')] }],
    [{ headers: { '@request.auth.claims[a][b.c]': GET } }, { dynamicMetadata: [claim(false, 'a', 'b.c')] }],
    [{ withoutHeaders: { '@Request.Auth.Claims.a': GET } }, { dynamicMetadata: [claim(true, 'a')] }],
    [{ headers: { '@request.auth.claims[a]x': GET } }, { headers: header('@request.auth.claims[a]x') }],
    [{ headers: { '@request.auth.claimsx[a]': GET } }, { headers: header('@request.auth.claimsx[a]') }],
    [{ headers: { '@request.auth.claims.': GET } }, { headers: header('@request.auth.claims.') }],
    [{ headers: { '.request.auth.claims.a': GET } }, { headers: header('.request.auth.claims.a') }],
  ])('%j is %j', (match, expected) => {
    expect(routeMatch(match, false)).toEqual({ ...plain, ...expected });
  });

  it('by the presence of a claim is any value, in a list or alone', () => {
    const [found] = routeMatch({ headers: { '@request.auth.claims.a': {} } }, false).dynamicMetadata ?? [];
    const present = { presentMatch: true };
    expect(found?.value).toEqual({ orMatch: { valueMatchers: [{ listMatch: { oneOf: present } }, present] } });
  });
});

describe('virtual hosts with equal names or domains', () => {
  const claim = (name: string, domains: readonly string[]) => ({
    name,
    domains,
    port: 80,
    derived: [],
    hostname: undefined,
  });

  it('are reported, and the first keeps what it has, whatever the case', () => {
    const claims = [claim('b:80', ['B', 'b']), claim('a:80', ['b']), claim('b:80', ['c'])];
    const { kept, problems } = withoutDuplicates.run({ claims });
    expect(kept.map(({ claim: { name }, domains }) => [name, domains])).toEqual([['b:80', ['B']]]);
    expect(problems).toEqual([
      { path: 'a:80', message: 'all domains of this host belong to other hosts already' },
      { path: 'b:80', message: 'several VirtualServices have this host; only the first one applies' },
    ]);
  });
});

it('the places of domains are ascending, each once', () => {
  const places = new Map([
    ['a', 10],
    ['b', 9],
    ['c', 10],
  ]);
  expect(placesOf(places, ['a', 'b', 'c', 'd'])).toEqual([9, 10]);
});
