import { describe, expect, it } from 'vitest';
import { isCatchAll, routeMatch } from '../../../../../src/xds/generate/route/match.ts';

describe('the path match', () => {
  it('matches every path, without a case option, if there is no match', () => {
    expect(routeMatch(undefined, false)).toEqual({ prefix: '/' });
  });

  it.each([
    [{ exact: '/a' }, { path: '/a' }],
    [{ prefix: '/a' }, { prefix: '/a' }],
    [{ regex: '/a.*' }, { safeRegex: { regex: '/a.*' } }],
    [{}, { prefix: '/' }],
  ])('for %j is %j', (uri, path) => {
    expect(routeMatch({ uri }, false)).toEqual({ ...path, caseSensitive: { value: true } });
  });

  it('may ignore case', () => {
    expect(routeMatch({ uri: { exact: '/a' }, ignoreUriCase: true }, false).caseSensitive).toEqual({ value: false });
  });

  it('ends at a separator for Ingress and Gateway API', () => {
    expect(routeMatch({ uri: { prefix: '/a/' } }, true).pathSeparatedPrefix).toBe('/a');
    expect(routeMatch({ uri: { prefix: '/' } }, true).prefix).toBe('/');
  });
});

describe('header matches', () => {
  it('are sorted by name, with pseudo headers last', () => {
    const match = routeMatch(
      {
        scheme: { exact: 'https' },
        authority: { prefix: 'shop' },
        method: { exact: 'GET' },
        headers: { 'x-b': { exact: '1' }, 'x-a': { regex: 'v.*' } },
        withoutHeaders: { 'x-aa': { exact: 'no' }, 'x-c': {} },
      },
      false,
    );
    expect(match.headers).toEqual([
      { name: 'x-a', stringMatch: { safeRegex: { regex: 'v.*' } } },
      { name: 'x-aa', stringMatch: { exact: 'no' }, invertMatch: true, treatMissingHeaderAsEmpty: true },
      { name: 'x-b', stringMatch: { exact: '1' } },
      { name: 'x-c', presentMatch: true, invertMatch: true },
      { name: ':method', stringMatch: { exact: 'GET' } },
      { name: ':authority', stringMatch: { prefix: 'shop' } },
      { name: ':scheme', stringMatch: { exact: 'https' } },
    ]);
  });

  it('require presence for an empty match or a lone star, but not for an empty text', () => {
    const headers = { a: {}, b: { regex: '*' }, c: { exact: '' }, d: { regex: '.*' } };
    expect(routeMatch({ headers }, false).headers).toEqual([
      { name: 'a', presentMatch: true },
      { name: 'b', presentMatch: true },
      { name: 'c', stringMatch: { exact: '' } },
      { name: 'd', stringMatch: { safeRegex: { regex: '.*' } } },
    ]);
  });
});

describe('query parameter matches', () => {
  it('are sorted by name', () => {
    const queryParams = { z: { exact: '1' }, a: {} };
    expect(routeMatch({ queryParams }, false).queryParameters).toEqual([
      { name: 'a', presentMatch: true },
      { name: 'z', stringMatch: { exact: '1' } },
    ]);
  });
});

describe('matches of JWT claims', () => {
  const path = (key: string): unknown =>
    routeMatch({ headers: { [key]: { exact: 'x' } } }, false).dynamicMetadata?.[0]?.path?.map(segment => segment.key);

  it('are written with dots or brackets, with the prefix in any case', () => {
    expect(path('@request.auth.claims.a.b')).toEqual(['payload', 'a', 'b']);
    expect(path('@Request.Auth.Claims[a][b.c]')).toEqual(['payload', 'a', 'b.c']);
    expect(path('@request.auth.claims[a][]')).toEqual(['payload', 'a', '']);
    expect(path('@request.auth.claims[a]b[c]')).toEqual(['payload', 'a]b[c']);
  });

  it.each(['@request.auth.claims', '@request.auth.claims.', '@request.auth.claims[a', '@request.auth.claims[]'])(
    'do not include %s, which is an ordinary header',
    key => {
      expect(path(key)).toBeUndefined();
      expect(routeMatch({ headers: { [key]: { exact: 'x' } } }, false).headers).toHaveLength(1);
    },
  );

  it('match a value or one of a list, and may be inverted', () => {
    const matcher = routeMatch({ withoutHeaders: { '@request.auth.claims.a': { exact: 'x' } } }, false)
      .dynamicMetadata?.[0];
    const value = { stringMatch: { exact: 'x' } };
    expect(matcher).toEqual({
      filter: 'envoy.filters.http.jwt_authn',
      path: [{ key: 'payload' }, { key: 'a' }],
      value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] } },
      invert: true,
    });
  });
});

describe('a catch-all match', () => {
  it.each([{ prefix: '/' }, { pathSeparatedPrefix: '/' }, { safeRegex: { regex: '.*' } }])('includes %j', match => {
    expect(isCatchAll(match)).toBe(true);
    expect(isCatchAll({ ...match, headers: [{ name: 'x', presentMatch: true }] })).toBe(false);
    expect(isCatchAll({ ...match, queryParameters: [{ name: 'x', presentMatch: true }] })).toBe(false);
    expect(isCatchAll({ ...match, dynamicMetadata: [{ filter: 'f' }] })).toBe(false);
  });

  it.each([{ prefix: '/a' }, { path: '/' }, { safeRegex: { regex: '/.*' } }])('excludes %j', match => {
    expect(isCatchAll(match)).toBe(false);
  });
});
