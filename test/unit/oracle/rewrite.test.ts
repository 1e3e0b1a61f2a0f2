// Paths before routing, rewrites and redirects, row by row.

import { describe, expect, it } from 'vitest';
import { cleanAuthority } from '../../../src/oracle/authority.ts';
import { cleanPath } from '../../../src/oracle/path.ts';
import { redirectTo, rewritten } from '../../../src/oracle/rewrite.ts';
import type {
  HttpConnectionManager,
  RedirectAction,
  RouteAction,
  RouteMatch,
} from '../../../src/xds/proto/types.gen.ts';

describe('the request path before routing', () => {
  const normal: HttpConnectionManager = { normalizePath: { value: true } };
  const rows: readonly (readonly [HttpConnectionManager, string, unknown])[] = [
    [{}, '/a/../b//c', '/a/../b//c'],
    [normal, '/a/../b', '/b'],
    [normal, '/a/./b/', '/a/b/'],
    [normal, '/a/..', '/'],
    [normal, '/../..', '/'],
    [normal, '/a%41%2fb?x=%41', '/aA%2fb?x=%41'],
    [normal, '\\a', { status: 400 }],
    [normal, '/a\\b', '/a/b'],
    [{ mergeSlashes: true }, '//a///b', '/a/b'],
    [{ pathWithEscapedSlashesAction: 2 }, '/a%2Fb', { status: 400 }],
    [{ pathWithEscapedSlashesAction: 3 }, '/a%2Fb', { status: 307 }],
    [{ pathWithEscapedSlashesAction: 4 }, '/a%2Fb', '/a/b'],
    [{ pathWithEscapedSlashesAction: 1 }, '/a%2Fb', '/a%2Fb'],
  ];
  it.each(rows)('is normalized: %j %s', (hcm, path, expected) => expect(cleanPath(hcm, path)).toEqual(expected));

  const authorities: readonly (readonly [HttpConnectionManager, string, string])[] = [
    [{}, 'a.com:80', 'a.com:80'],
    [{ stripMatchingHostPort: true }, 'a.com:80', 'a.com'],
    [{ stripMatchingHostPort: true }, 'a.com:81', 'a.com:81'],
    [{ stripAnyHostPort: true }, 'a.com:81', 'a.com'],
    [{ stripAnyHostPort: true }, 'a.com:x', 'a.com:x'],
    [{ stripAnyHostPort: true }, '[fd00::1]', '[fd00::1]'],
    [{ stripAnyHostPort: true }, '[fd00::1]:81', '[fd00::1]'],
    [{ stripTrailingHostDot: true }, 'a.com.', 'a.com'],
    [{ stripTrailingHostDot: true }, 'a.com.:81', 'a.com:81'],
  ];
  it.each(authorities)('is normalized: %j %s: %s', (hcm, authority, expected) => {
    expect(cleanAuthority(hcm, authority, 80)).toBe(expected);
  });
});

describe('rewrites', () => {
  const rows: readonly (readonly [RouteMatch, RouteAction, path: string, expected: string])[] = [
    [{ prefix: '/api' }, {}, '/api/x?y', '/api/x?y'],
    [{ prefix: '/api' }, { prefixRewrite: '/v2' }, '/api/x?y', '/v2/x?y'],
    [{ prefix: '/' }, { prefixRewrite: '/v2/' }, '/x', '/v2/x'],
    [{ pathSeparatedPrefix: '/api' }, { prefixRewrite: '/v2' }, '/api', '/v2'],
    [{ path: '/api' }, { prefixRewrite: '/v2' }, '/api?y', '/v2?y'],
    [{ safeRegex: { regex: '/.*' } }, { prefixRewrite: '/v2' }, '/a/b?y', '/v2?y'],
    [
      { prefix: '/' },
      { regexRewrite: { pattern: { regex: '/v([0-9]+)/(.*)' }, substitution: '/\\2/\\1$' } },
      '/v7/x?y',
      '/x/7$?y',
    ],
    [{ prefix: '/' }, { regexRewrite: { pattern: { regex: 'a' }, substitution: '\\\\1\\0' } }, '/a', '/\\1a'],
  ];
  it.each(rows)('of a path: %j %j %s: %s', (match, action, path, expected) => {
    expect(rewritten({ authority: 'a', path }, match, action, {}, '').path).toBe(expected);
  });

  const authorities: readonly (readonly [RouteAction, string | undefined, string])[] = [
    [{}, undefined, 'a'],
    [{ hostRewriteLiteral: 'b' }, undefined, 'b'],
    [{ hostRewriteLiteral: 'b' }, 'of-weighted', 'of-weighted'],
    [{ hostRewriteHeader: 'X-To' }, undefined, 'c'],
    [{ autoHostRewrite: { value: true } }, undefined, 'host.example'],
    [{ hostRewritePathRegex: { pattern: { regex: '/(.*)' }, substitution: '\\1.com' } }, undefined, 'path.com'],
  ];
  it.each(authorities)('of a host: %j %s: %s', (action, hostRewriteLiteral, expected) => {
    const request = { authority: 'a', path: '/path', headers: { 'x-to': 'c' } };
    expect(rewritten(request, {}, action, { hostRewriteLiteral }, 'host.example').authority).toBe(expected);
  });
});

describe('redirects of a route', () => {
  const rows: readonly (readonly [RedirectAction, authority: string, expected: string])[] = [
    [{}, 'a.com', 'http://a.com/api/x?y=1'],
    [{ httpsRedirect: true }, 'a.com', 'https://a.com/api/x?y=1'],
    [{ httpsRedirect: true }, 'a.com:80', 'https://a.com/api/x?y=1'],
    [{ httpsRedirect: true }, 'a.com:8080', 'https://a.com:8080/api/x?y=1'],
    [{}, 'a.com:80', 'http://a.com:80/api/x?y=1'],
    [{ portRedirect: 8443 }, 'a.com:80', 'http://a.com:8443/api/x?y=1'],
    [{ hostRedirect: 'b.com' }, 'a.com:80', 'http://b.com/api/x?y=1'],
    [{ schemeRedirect: 'https', stripQuery: true }, 'a.com', 'https://a.com/api/x'],
    [{ pathRedirect: '/new' }, 'a.com', 'http://a.com/new?y=1'],
    [{ pathRedirect: '/new', stripQuery: true }, 'a.com', 'http://a.com/new'],
    [{ pathRedirect: '/new?z' }, 'a.com', 'http://a.com/new?z'],
    [{ prefixRewrite: '/v2' }, 'a.com', 'http://a.com/v2/x?y=1'],
    [{ regexRewrite: { pattern: { regex: '/(.*)/x' }, substitution: '/x/\\1' } }, 'a.com', 'http://a.com/x/api?y=1'],
  ];
  it.each(rows)('lead to a location: %j %s: %s', (redirect, authority, expected) => {
    expect(redirectTo(redirect, { authority, path: '/api/x?y=1' }, { prefix: '/api' }, 'http')).toBe(expected);
  });
});
