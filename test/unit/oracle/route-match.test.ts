// What a route match says, row by row: paths, headers, query parameters, gRPC, CONNECT, fractions.

import { describe, expect, it } from 'vitest';
import { headersOf } from '../../../src/oracle/header-matcher.ts';
import type { HttpRequest, TlsHello } from '../../../src/oracle/question.ts';
import { matchRoute } from '../../../src/oracle/route-match.ts';
import type { HeaderMatcher, RouteMatch } from '../../../src/xds/proto/types.gen.ts';

function matches(match: RouteMatch, request: Partial<HttpRequest>, tls?: TlsHello): boolean {
  return 'share' in matchRoute(match, headersOf({ authority: 'a.com', ...request }, 'http'), tls);
}

const insensitive = { caseSensitive: { value: false } };
const regex = (text: string) => ({ regex: text });

describe('path matching', () => {
  const rows: readonly (readonly [match: RouteMatch, path: string, expected: boolean])[] = [
    [{ prefix: '/' }, '/', true],
    [{ prefix: '/api' }, '/api/x', true],
    [{ prefix: '/api' }, '/apiary', true],
    [{ prefix: '/api' }, '/API/x', false],
    [{ prefix: '/api', ...insensitive }, '/API/x', true],
    [{ prefix: '/api/' }, '/api', false],
    [{ path: '/api' }, '/api', true],
    [{ path: '/api' }, '/api/', false],
    [{ path: '/api' }, '/api?x=1', true],
    [{ path: '/Api', ...insensitive }, '/aPI', true],
    [{ pathSeparatedPrefix: '/api' }, '/api', true],
    [{ pathSeparatedPrefix: '/api' }, '/api/x', true],
    [{ pathSeparatedPrefix: '/api' }, '/api?x', true],
    [{ pathSeparatedPrefix: '/api' }, '/apiary', false],
    [{ safeRegex: regex('/v[0-9]+') }, '/v12', true],
    [{ safeRegex: regex('/v[0-9]+') }, '/v12?q=1', true],
    [{ safeRegex: regex('/v[0-9]+') }, '/v12/x', false],
    [{ safeRegex: regex('(unclosed') }, '(unclosed', false],
    [{}, '/', false],
  ];
  it.each(rows)('of %j with %s gives %s', (match, path, expected) => expect(matches(match, { path })).toBe(expected));
});

describe('header matching', () => {
  const h = (matcher: HeaderMatcher): RouteMatch => ({ prefix: '/', headers: [{ name: 'X-A', ...matcher }] });
  const invertMatch = true;
  const treatMissingHeaderAsEmpty = true;
  const rows: readonly (readonly [HeaderMatcher, value: string | undefined, expected: boolean])[] = [
    [{ stringMatch: { exact: 'a' } }, 'a', true],
    [{ stringMatch: { exact: 'a' } }, 'A', false],
    [{ stringMatch: { exact: 'a', ignoreCase: true } }, 'A', true],
    [{ stringMatch: { prefix: 'a' } }, 'ab', true],
    [{ stringMatch: { suffix: 'b' } }, 'ab', true],
    [{ stringMatch: { contains: 'b' } }, 'abc', true],
    [{ stringMatch: { safeRegex: regex('a.c') } }, 'abc', true],
    [{ stringMatch: { safeRegex: regex('a.c') } }, 'xabc', false],
    [{ stringMatch: {} }, 'abc', false],
    [{ exactMatch: 'a' }, 'a', true],
    [{ prefixMatch: 'a' }, 'ab', true],
    [{ suffixMatch: 'b' }, 'ab', true],
    [{ containsMatch: 'b' }, 'abc', true],
    [{ safeRegexMatch: regex('.*') }, '', true],
    [{ rangeMatch: { start: 1, end: 10 } }, '9', true],
    [{ rangeMatch: { start: 1, end: 10 } }, '10', false],
    [{ rangeMatch: { start: -5, end: 0 } }, '-5', true],
    [{ rangeMatch: { start: 1, end: 10 } }, 'five', false],
    [{ presentMatch: true }, '', true],
    [{ presentMatch: true }, undefined, false],
    [{ presentMatch: false }, undefined, true],
    [{ presentMatch: false }, 'a', false],
    [{ presentMatch: true, invertMatch }, undefined, true],
    [{ presentMatch: true, invertMatch }, 'a', false],
    [{}, 'a', true],
    [{}, undefined, false],
    [{ stringMatch: { exact: 'a' }, invertMatch }, 'b', true],
    [{ stringMatch: { exact: 'a' }, invertMatch }, 'a', false],
    // Missing is not the same as unlike, unless it counts as empty.
    [{ stringMatch: { exact: 'a' }, invertMatch }, undefined, false],
    [{ stringMatch: { exact: 'a' }, invertMatch, treatMissingHeaderAsEmpty }, undefined, true],
    [{ stringMatch: { exact: '' }, treatMissingHeaderAsEmpty }, undefined, true],
  ];
  it.each(rows)('of %j with %s gives %s', (matcher, value, expected) => {
    expect(matches(h(matcher), { headers: value === undefined ? {} : { 'x-a': value } })).toBe(expected);
  });

  it('reads method, authority and scheme from pseudo headers', () => {
    const of = (name: string, exact: string): RouteMatch => ({
      prefix: '/',
      headers: [{ name, stringMatch: { exact } }],
    });
    expect(matches(of(':method', 'GET'), {})).toBe(true);
    expect(matches(of(':method', 'POST'), { method: 'POST' })).toBe(true);
    expect(matches(of(':authority', 'a.com'), {})).toBe(true);
    expect(matches(of(':scheme', 'https'), {})).toBe(false);
  });

  it('requires all matchers', () => {
    const headers: readonly HeaderMatcher[] = [
      { name: 'a', stringMatch: { exact: '1' } },
      { name: 'b', stringMatch: { exact: '2' } },
    ];
    expect(matches({ prefix: '/', headers }, { headers: { a: '1', b: '2' } })).toBe(true);
    expect(matches({ prefix: '/', headers }, { headers: { a: '1', b: '3' } })).toBe(false);
  });
});

describe('matching of the other criteria', () => {
  it.each([
    ['exact', { name: 'q', stringMatch: { exact: '1' } }, '/?p=2&q=1', true],
    ['another value', { name: 'q', stringMatch: { exact: '1' } }, '/?q=2', false],
    ['the first of several', { name: 'q', stringMatch: { exact: '1' } }, '/?q=2&q=1', false],
    ['not there', { name: 'q', stringMatch: { exact: '1' } }, '/', false],
    ['present', { name: 'q', presentMatch: true }, '/?q', true],
    ['not present', { name: 'q', presentMatch: false }, '/?q', false],
    ['without a specifier: present', { name: 'q' }, '/?q=', true],
  ] as const)('query parameter: %s', (_, parameter, path, expected) => {
    expect(matches({ prefix: '/', queryParameters: [parameter] }, { path })).toBe(expected);
  });

  it.each([
    ['application/grpc', true],
    ['application/grpc+proto', true],
    ['application/grpc-web', false],
    ['text/html', false],
  ])('gRPC: %s %s', (type, expected) => {
    expect(matches({ prefix: '/', grpc: {} }, { headers: { 'Content-Type': type } })).toBe(expected);
  });

  it('treats CONNECT as without a path, so that a path route does not match', () => {
    expect(matches({ connectMatcher: {} }, { method: 'CONNECT' })).toBe(true);
    expect(matches({ connectMatcher: {} }, {})).toBe(false);
    expect(matches({ prefix: '/' }, { method: 'CONNECT' })).toBe(false);
  });

  it('checks whether a client certificate is presented', () => {
    const match = { prefix: '/', tlsContext: { presented: { value: true } } };
    expect(matches(match, {}, { certificate: 'spiffe://a' })).toBe(true);
    expect(matches(match, {}, {})).toBe(false);
  });

  it('checks cookies', () => {
    const match: RouteMatch = { prefix: '/', cookies: [{ name: 'user', stringMatch: { exact: 'a' } }] };
    expect(matches(match, { headers: { cookie: 'x=y; user=a' } })).toBe(true);
    expect(matches(match, { headers: { cookie: 'user=b' } })).toBe(false);
  });

  it.each([
    [{ numerator: 25 }, { share: 0.25 }],
    [{ numerator: 25, denominator: 1 }, { share: 0.0025 }],
    [{ numerator: 25, denominator: 2 }, { share: 0.000025 }],
    [{ numerator: 0 }, { unlike: 'fraction' }],
    [{ numerator: 200 }, { share: 1 }],
  ] as const)('compares a runtime fraction: %j', (defaultValue, expected) => {
    const match = { prefix: '/', runtimeFraction: { defaultValue } };
    expect(matchRoute(match, headersOf({ authority: 'a' }, 'http'), undefined)).toEqual(expected);
  });

  it('reports what it does not model', () => {
    const match: RouteMatch = { prefix: '/', filterState: [{ key: 'k' }] };
    expect(matchRoute(match, headersOf({ authority: 'a' }, 'http'), undefined)).toEqual({
      unmodelled: 'filter_state',
    });
  });
});
