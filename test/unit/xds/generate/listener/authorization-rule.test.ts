// Rules of AuthorizationPolicies as policies of Envoy's RBAC: values, negations, trust domains, and what a TCP chain
// makes of them.

import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../../../src/core/schema/istio-types.gen.ts';
import { quoteRegex } from '../../../../../src/xds/generate/common/quote-regex.ts';
import type { RuleContext } from '../../../../../src/xds/generate/listener/authorization/attributes.ts';
import { pathPermission, textMatcher } from '../../../../../src/xds/generate/listener/authorization/matchers.ts';
import { rulePolicy } from '../../../../../src/xds/generate/listener/authorization/rule.ts';
import {
  expandPrincipals,
  expandTrustDomains,
} from '../../../../../src/xds/generate/listener/authorization/trust-domains.ts';
import { addressRange } from '../../../../../src/xds/generate/listener/cidr.ts';

const http: RuleContext = { namespace: 'foo', tcp: false, peer: 'tls', trustDomains: ['cluster.local'] };
const tcp: RuleContext = { ...http, tcp: true };
const everything = [{ andRules: { rules: [{ any: true }] } }];
const everybody = [{ andIds: { ids: [{ any: true }] } }];

const identity = (matcher: object) => ({ authenticated: { principalName: matcher } });
const fromSource = (source: object): Rule => ({ from: [{ source }] });
const principalsOf = (rule: Rule, context = http) => rulePolicy(rule, context, true)?.principals;
const toOperation = (operation: object): Rule => ({ to: [{ operation }] });
const permissionsOf = (rule: Rule, context = http) => rulePolicy(rule, context, true)?.permissions;
const ids = (...of: object[]) => [{ andIds: { ids: of } }];
const rules = (...of: object[]) => [{ andRules: { rules: of } }];

describe('a value of an AuthorizationPolicy', () => {
  it.each([
    ['a', { exact: 'a' }],
    ['a*', { prefix: 'a' }],
    ['*a', { suffix: 'a' }],
    ['*', { safeRegex: { regex: '.+' } }],
    ['**', { suffix: '*' }],
  ])('such as %s becomes a string matcher', (value, matcher) => {
    expect(textMatcher(value)).toEqual(matcher);
  });
  it.each([
    ['td/ns/a/sa/b', { exact: 'spiffe://td/ns/a/sa/b' }],
    ['td/*', { prefix: 'spiffe://td/' }],
    ['*/sa/b.c', { safeRegex: { regex: 'spiffe://.*/sa/b\\.c' } }],
    ['*', { safeRegex: { regex: '.+' } }],
  ])('such as %s becomes a matcher behind spiffe://', (value, matcher) => {
    expect(textMatcher(value, 'spiffe://')).toEqual(matcher);
  });
  it('is escaped as Go’s QuoteMeta does', () => {
    expect(quoteRegex('a.b+c-d/e(f)[g]{h}^$|?*\\')).toBe('a\\.b\\+c-d/e\\(f\\)\\[g\\]\\{h\\}\\^\\$\\|\\?\\*\\\\');
  });
});

describe('an address range', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3', 32],
    ['10.1.2.3/8', '10.1.2.3', 8],
    ['0.0.0.0/0', '0.0.0.0', 0],
    ['2001:DB8:0::1', '2001:db8::1', 128],
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4', 128],
    ['fe80::1%eth0', 'fe80::1', 128],
  ])('%s is %s with prefix length %i', (text, addressPrefix, value) => {
    expect(addressRange(text)).toEqual({ addressPrefix, prefixLen: { value } });
  });
  it.each(['', 'a', '10.0.0', '010.0.0.1', '10.0.0.0/33', '10.0.0.0/08', 'fe80::1%eth0/64', '::/129', '1.2.3.4/'])(
    'refuses %j',
    text => {
      expect(addressRange(text)).toBeUndefined();
    },
  );
});

describe('a path', () => {
  it('with braces is a template', () => {
    expect(pathPermission('/a/{*}/b/{**}')).toMatchObject({
      uriTemplate: { name: 'uri-template', typedConfig: { pathTemplate: '/a/*/b/**' } },
    });
  });
  it.each(['{*}/a', `/${'a'.repeat(256)}/{*}`])('that would make Envoy refuse the listener is not rendered', path => {
    expect(pathPermission(path)).toBeUndefined();
  });
});

describe('an attribute', () => {
  const account = (regex: string) => ids({ orIds: { ids: [identity({ safeRegex: { regex } })] } });
  it.each<[string, Rule, object]>([
    [
      'a service account of the policy',
      fromSource({ serviceAccounts: ['a.b'] }),
      account('spiffe://.+/ns/foo/(.+/|)sa/a\\.b(/.+)?'),
    ],
    [
      'a service account of another namespace',
      fromSource({ serviceAccounts: ['bar/b'] }),
      account('spiffe://.+/ns/bar/(.+/|)sa/b(/.+)?'),
    ],
    ['a namespace with stars', fromSource({ namespaces: ['a.*-x'] }), account('.*/ns/a\\..*-x/.*')],
    ['a trust domain with a star', fromSource({ trustDomains: ['td-*'] }), account('spiffe://td-[^/]*/.*')],
    [
      'a trust domain',
      fromSource({ trustDomains: ['td'] }),
      ids({ orIds: { ids: [identity({ prefix: 'spiffe://td/' })] } }),
    ],
    [
      'every trust domain',
      fromSource({ trustDomains: ['*'] }),
      ids({ orIds: { ids: [identity({ prefix: 'spiffe://' })] } }),
    ],
  ])('%s is matched by the identity of the peer', (_, rule, expected) => {
    expect(principalsOf(rule)).toEqual(expected);
  });

  const claim = (path: string[], value: object) => ({
    metadata: { filter: 'envoy.filters.http.jwt_authn', path: ['payload', ...path].map(key => ({ key })), value },
  });
  const issuedTo = (iss: object, sub: object) => ({
    andIds: { ids: [claim(['iss'], { stringMatch: iss }), claim(['sub'], { stringMatch: sub })] },
  });
  const present = { safeRegex: { regex: '.+' } };
  it.each<[string, object, object]>([
    ['*', present, present],
    ['*/sub', present, { exact: 'sub' }],
    ['*/*', present, { exact: '*' }],
    ['*.com/sub', { suffix: '.com' }, { exact: 'sub' }],
    ['*sub', present, { suffix: 'sub' }],
    ['https://a.com/*', { exact: 'https://a.com' }, present],
    ['https://a.com/s*', { exact: 'https://a.com' }, { prefix: 's' }],
    ['https://a.com*', { exact: 'https:/' }, { prefix: 'a.com' }],
    ['iss*', { prefix: 'iss' }, present],
    ['iss', { exact: 'iss' }, { exact: '' }],
    ['a/b/c', { exact: 'a/b' }, { exact: 'c' }],
  ])('splits the request principal %s at the last slash', (value, iss, sub) => {
    expect(principalsOf(fromSource({ requestPrincipals: [value] }))).toEqual(ids(issuedTo(iss, sub)));
  });

  it('accepts a claim that is a text or a list of texts', () => {
    const either = { orMatch: { valueMatchers: [{ stringMatch: { exact: 'x' } }, { stringMatch: { prefix: 'y' } }] } };
    const rule = { when: [{ key: 'request.auth.claims[a][b]', values: ['x', 'y*'] }] };
    const value = { orMatch: { valueMatchers: [{ listMatch: { oneOf: either } }, either] } };
    expect(principalsOf(rule)).toEqual(ids(claim(['a', 'b'], value)));
  });
  it.each([
    ['request.auth.claims[a[b]]', ['a[b]']],
    ['request.auth.claims[a]', ['a']],
  ])('reads the name in %s', (key, path) => {
    const [first] = principalsOf({ when: [{ key, values: ['x'] }] }) ?? [];
    expect(first).toMatchObject(ids({ metadata: { path: ['payload', ...path].map(name => ({ key: name })) } })[0]!);
  });
  it('keeps the spelling of a header, and takes a star for presence', () => {
    const rule = { when: [{ key: 'request.headers[X-A]', values: ['*', 'b*'], notValues: ['bad'] }] };
    expect(principalsOf(rule)).toEqual(
      ids(
        {
          orIds: {
            ids: [
              { header: { name: 'X-A', presentMatch: true } },
              { header: { name: 'X-A', stringMatch: { prefix: 'b' } } },
            ],
          },
        },
        { notId: { orIds: { ids: [{ header: { name: 'X-A', stringMatch: { exact: 'bad' } } }] } } },
      ),
    );
  });
  it('matches a host in any case', () => {
    expect(permissionsOf(toOperation({ hosts: ['A.com'] }))).toEqual(
      rules({
        orRules: { rules: [{ header: { name: ':authority', stringMatch: { exact: 'A.com', ignoreCase: true } } }] },
      }),
    );
  });
  it('may match a list in metadata of another filter', () => {
    const rule = { when: [{ key: 'experimental.envoy.filters.a.b[c]', values: ['[x]', 'y'] }] };
    const value = {
      orMatch: {
        valueMatchers: [{ listMatch: { oneOf: { stringMatch: { exact: 'x' } } } }, { stringMatch: { exact: 'y' } }],
      },
    };
    expect(permissionsOf(rule)).toEqual(
      rules({ metadata: { filter: 'envoy.filters.a.b', path: [{ key: 'c' }], value } }),
    );
  });
});

describe('an authorization rule', () => {
  it('without anything matches everything', () => {
    expect(rulePolicy({}, http, true)).toEqual({ permissions: everything, principals: everybody });
  });
  it('has one permission for each operation and one principal for each source', () => {
    const policy = rulePolicy(
      {
        from: [{ source: { ipBlocks: ['1.2.3.4'] } }, {}],
        to: [{ operation: { ports: ['80'] } }, { operation: { notPorts: ['81'] } }],
      },
      http,
      true,
    );
    expect(policy?.permissions).toHaveLength(2);
    expect(policy?.principals).toEqual([
      {
        andIds: {
          ids: [{ orIds: { ids: [{ directRemoteIp: { addressPrefix: '1.2.3.4', prefixLen: { value: 32 } } }] } }],
        },
      },
      everybody[0],
    ]);
  });
  const port = { orRules: { rules: [{ destinationPort: 80 }] } };
  it.each<[string, Rule, boolean, object | undefined]>([
    ['ports alone stay in both', toOperation({ ports: ['80'] }), true, rules(port)],
    ['methods take an ALLOW rule with them', toOperation({ methods: ['GET'] }), true, undefined],
    ['methods are left out of a DENY rule', toOperation({ methods: ['GET'] }), false, everything],
    ['ports stay where methods are left out', toOperation({ methods: ['GET'], ports: ['80'] }), false, rules(port)],
    [
      'one operation with methods takes the other with it',
      { to: [{ operation: { ports: ['80'] } }, { operation: { methods: ['GET'] } }] },
      true,
      undefined,
    ],
    [
      'an unknown key takes any rule with it',
      { when: [{ key: 'destination.labels[a]', values: ['x'] }] },
      false,
      undefined,
    ],
    [
      'a DENY rule with a bad port beside a good one refuses every port',
      toOperation({ ports: ['80', 'x'] }),
      false,
      [{ andRules: { rules: [{ any: true }] } }],
    ],
  ])('on a TCP chain: %s', (_, rule, allows, expected) => {
    expect(rulePolicy(rule, tcp, allows)?.permissions).toEqual(expected);
  });
});

describe('trust domains of a principal', () => {
  const domains = ['td', 'alias'];
  it.each([
    ['cluster.local/ns/a/sa/b', ['td/ns/a/sa/b', 'alias/ns/a/sa/b']],
    ['td/ns/a/sa/b', ['td/ns/a/sa/b', 'alias/ns/a/sa/b']],
    ['alias/ns/a/sa/b', ['td/ns/a/sa/b', 'alias/ns/a/sa/b']],
    ['other/ns/a/sa/b', ['other/ns/a/sa/b']],
    ['*/ns/a/sa/b', ['*/ns/a/sa/b']],
    ['*lias/ns/a/sa/b', ['td/ns/a/sa/b', '*lias/ns/a/sa/b']],
    ['a*/ns/a/sa/b', ['td/ns/a/sa/b', 'alias/ns/a/sa/b']],
    ['cluster.local/ns/a*', ['cluster.local/ns/a*']],
    ['*', ['*']],
  ])('turn %s into %j', (principal, expanded) => {
    expect(expandPrincipals([principal], domains)).toEqual(expanded);
  });
  it('cover the whole mesh if one of them is named', () => {
    expect(expandTrustDomains(['alias', 'x'], domains)).toEqual(['td', 'alias', 'x']);
    expect(expandTrustDomains(['cluster.local'], domains)).toEqual(['cluster.local']);
  });
});
