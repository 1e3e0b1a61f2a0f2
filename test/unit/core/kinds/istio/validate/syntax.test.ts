// The small languages inside fields: CEL expressions, values of headers, URLs as Go parses them.

import { describe, expect, test } from 'vitest';
import { celProblem } from '../../../../../../src/core/kinds/istio/validate/cel.ts';
import { headerValueProblem } from '../../../../../../src/core/kinds/istio/validate/header-value.ts';
import { parseRequestUri, parseUrl } from '../../../../../../src/core/schema/go-url.ts';

describe('a CEL expression', () => {
  test.each([
    'response.code >= 400',
    'a && !b || -c < 3u && has(a.b)',
    '"x" in [\'a\', "b",] ? {"k": 1.5e3}["k"] : 0x1f',
    'request.headers["a"].startsWith("b") // why',
    'l.exists(x, x.y == r"\\d") && !has(a.b.c)',
    'google.rpc.Status{code: 1}',
    '(a.b).c[0].d()',
    '"""multi\nline"""',
    '-1 - -2',
  ])('such as %s is accepted', expression => {
    expect(celProblem(expression)).toBeUndefined();
  });
  test.each([
    [''],
    ['a ='],
    ['response.code >>= 4'],
    ['a b'],
    ['(a'],
    ['f(a,)'],
    ['a ? b'],
    ['a ? b ? c : d : e'],
    ['"a'],
    ['"\\q"'],
    ['for'],
    ['a.in'],
    ['has(a)'],
    ['l.all(x.y, true)'],
    ['!-a'],
    ['a @ b'],
    ['('.repeat(1000)],
    ['a+'.repeat(10_000)],
  ])('such as %s is refused', expression => {
    expect(celProblem(expression)).toBeDefined();
  });
});

describe('a header value', () => {
  test.each(['', 'a', '100%%', '%START_TIME%', '%REQ(:path)%', '%A(["b", "c"])%', 'x%A(b)%y%%', '\t'])(
    'such as %j is accepted',
    value => {
      expect(headerValueProblem(value)).toBeUndefined();
    },
  );
  test.each(['%', 'abc%123', '%START_TIME%%', '%A(b%', '%A([b])%', '%A(["b"] x)%', 'a\nb', '\0'])(
    'such as %j is refused',
    value => {
      expect(headerValueProblem(value)).toBeDefined();
    },
  );
});

describe('a URL', () => {
  test.each([
    ['http://a.com:80/x?y#z', 'http', 'a.com', '80'],
    ['HTTPS://[::1]:1/', 'https', '::1', '1'],
    ['http://u:p@h', 'http', 'h', ''],
    ['mailto:x', 'mailto', '', ''],
    ['/path', '', '', ''],
  ])('such as %s is accepted', (text, scheme, hostname, port) => {
    expect(parseRequestUri(text)).toEqual({ scheme, hostname, port });
  });
  test.each(['', ':a', 'a', 'http://a b', 'http://a:x', 'http://[::1', '/%zz', 'a\n', 'http://a%20b/', 'http:// /'])(
    'such as %j cannot be requested',
    text => {
      expect(parseRequestUri(text)).toBeUndefined();
    },
  );
  test('may be relative, unless it resembles a scheme', () => {
    expect(parseUrl('a/b#c')).toEqual({ scheme: '', hostname: '', port: '' });
    expect(parseUrl('1a:b')).toBeUndefined();
    expect(parseUrl('a#%zz')).toBeUndefined();
  });
});
