// Filters of policies by hand-made configuration: RBAC for requests and connections, tokens, external authorizers, and
// what the answer names.

import { describe, expect, it } from 'vitest';
import type { Branch } from '../../../src/oracle/prediction.ts';
import type { Connection, HttpRequest } from '../../../src/oracle/question.ts';
import { any } from '../../../src/xds/proto/any.ts';
import type {
  Filter,
  HttpFilter,
  HttpRBAC,
  JwtAuthentication,
  JwtProvider,
  Permission,
  Policy,
  Principal,
} from '../../../src/xds/proto/types.gen.ts';
import { at, cluster, http, oracle, tcp, tls } from './scene.ts';

const VALIDATES = tls({ commonTlsContext: { validationContext: {} } });
const everyone: readonly Principal[] = [{ any: true }];
const anything: readonly Permission[] = [{ any: true }];
const allow = (permission: Permission, principals = everyone): Policy => ({ permissions: [permission], principals });
const from = (principal: Principal): Policy => ({ permissions: anything, principals: [principal] });

function rbac(config: HttpRBAC): HttpFilter {
  return { name: 'envoy.filters.http.rbac', typedConfig: any('envoy.extensions.filters.http.rbac.v3.RBAC', config) };
}

function askedThrough(filters: readonly HttpFilter[], connection: Partial<Connection>): Branch {
  const routeConfig = {
    virtualHosts: [{ domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'a' } }] }],
  };
  const hcm = http({ httpFilters: filters, routeConfig });
  const chains = [
    { transportSocket: VALIDATES, filterChainMatch: { transportProtocol: 'tls' }, filters: [hcm] },
    { filters: [hcm] },
  ];
  const inspector = { name: 'envoy.filters.listener.tls_inspector' };
  const made = oracle({
    listeners: [{ address: at('0.0.0.0', 80), listenerFilters: [inspector], filterChains: chains }],
    clusters: [cluster('a')],
  });
  const whole: Connection = {
    arrives: 'direct',
    source: { address: '10.1.0.9', port: 4_000 },
    destination: { address: '10.0.0.1', port: 80 },
    http: { authority: 'a.com' },
    ...connection,
  };
  return made.predict(whole).branches[0]!;
}

const verdictOf = ({ outcome }: Branch): string =>
  outcome.kind === 'answered' ? String(outcome.status) : outcome.kind;
const request = (of: Partial<HttpRequest>): Partial<Connection> => ({ http: { authority: 'a.com', ...of } });

describe('the RBAC filter for requests', () => {
  const only = (policy: Policy): HttpFilter => rbac({ rules: { policies: { p: policy } } });
  const cases: readonly (readonly [string, Policy, Partial<Connection>, boolean])[] = [
    ['a method', allow({ header: { name: ':method', stringMatch: { exact: 'GET' } } }), {}, true],
    ['a path without its query', allow({ urlPath: { path: { exact: '/x' } } }), request({ path: '/x?a=/y' }), true],
    ['a path by another', allow({ urlPath: { path: { exact: '/x' } } }), request({ path: '/x/y' }), false],
    ['a port', allow({ destinationPort: 80 }), {}, true],
    ['another port', allow({ destinationPort: 81 }), {}, false],
    ['a destination', allow({ destinationIp: { addressPrefix: '10.0.0.0', prefixLen: { value: 8 } } }), {}, true],
    ['a server name', allow({ requestedServerName: { exact: 'b' } }), { tls: { sni: 'b' } }, true],
    [
      'an identity',
      from({ authenticated: { principalName: { exact: 'spiffe://a' } } }),
      { tls: { certificate: 'spiffe://a' } },
      true,
    ],
    [
      'an identity that is missing',
      from({ authenticated: { principalName: { safeRegex: { regex: '.*' } } } }),
      {},
      false,
    ],
    [
      'the negation of an identity',
      from({ notId: { authenticated: { principalName: { prefix: 'spiffe://' } } } }),
      {},
      true,
    ],
    [
      'the peer of the socket',
      from({ directRemoteIp: { addressPrefix: '10.1.0.9', prefixLen: { value: 32 } } }),
      request({ headers: { 'X-Forwarded-For': '1.2.3.4' } }),
      true,
    ],
    [
      'the client behind proxies',
      from({ remoteIp: { addressPrefix: '1.2.3.4', prefixLen: { value: 32 } } }),
      request({ headers: { 'X-Forwarded-For': '9.9.9.9, 1.2.3.4' } }),
      true,
    ],
    ['and-rules', allow({ andRules: { rules: [{ any: true }, { notRule: { any: true } }] } }), {}, false],
    ['or-rules', allow({ orRules: { rules: [{ any: true }, { notRule: { any: true } }] } }), {}, true],
  ];
  it.each(cases)('matches %s', (_, policy, connection, passes) => {
    expect(verdictOf(askedThrough([only(policy)], connection))).toBe(passes ? 'forwarded' : '403');
  });

  it.each([
    ['/a/{*}/c', '/a/b/c', true],
    ['/a/*/c', '/a/b/d/c', false],
    ['/a/**', '/a/b/d', true],
    ['/a/**/z', '/a/b/y', false],
    ['/a.b', '/aXb', false],
  ])('the template %s on %s: %s', (pathTemplate, path, passes) => {
    const typedConfig = any('envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig', { pathTemplate });
    const policy = allow({ uriTemplate: { name: 't', typedConfig } });
    expect(verdictOf(askedThrough([only(policy)], request({ path })))).toBe(passes ? 'forwarded' : '403');
  });

  it('names the first policy that matches, in byte order', () => {
    const deny = rbac({ rules: { action: 1, policies: { b: allow({ any: true }), a: allow({ any: true }) } } });
    const { outcome, verdicts } = askedThrough([deny], {});
    expect(outcome).toMatchObject({ kind: 'answered', status: 403, why: 'deny policy a matches: is refused' });
    expect(verdicts).toMatchObject([{ filter: 'envoy.filters.http.rbac', kind: 'deny', policy: 'a', passes: false }]);
  });

  it('refuses all with an empty set of ALLOW, none with an empty one of DENY or LOG', () => {
    expect(verdictOf(askedThrough([rbac({ rules: {} })], {}))).toBe('403');
    expect(verdictOf(askedThrough([rbac({ rules: { action: 1 } })], {}))).toBe('forwarded');
    expect(verdictOf(askedThrough([rbac({ rules: { action: 2, policies: { p: allow({ any: true }) } } })], {}))).toBe(
      'forwarded',
    );
  });

  it('enforces no shadow rules, and records them', () => {
    const shadow = rbac({ shadowRules: { action: 1, policies: { p: allow({ any: true }) } } });
    const { outcome, verdicts } = askedThrough([shadow], {});
    expect(outcome.kind).toBe('forwarded');
    expect(verdicts).toMatchObject([{ policy: 'p', passes: false, shadow: true }]);
  });

  it('names what it does not model', () => {
    const { unmodelled } = askedThrough([only(allow({ matcher: { name: 'x' } }))], {});
    expect(unmodelled).toEqual(['a permission of RBAC that is not known here']);
  });
});

describe('the RBAC filter for connections', () => {
  const filter = (config: HttpRBAC): Filter => ({
    name: 'envoy.filters.network.rbac',
    typedConfig: any('envoy.extensions.filters.network.rbac.v3.RBAC', config),
  });
  const asked = (config: HttpRBAC): Branch => {
    const chains = [{ filters: [filter(config), tcp({ cluster: 'a' })] }];
    const made = oracle({
      listeners: [{ address: at('0.0.0.0', 80), filterChains: chains }],
      clusters: [cluster('a')],
    });
    return made.predict({ arrives: 'direct', destination: { address: '10.0.0.1', port: 80 } }).branches[0]!;
  };

  it('closes what no ALLOW policy matches', () => {
    expect(asked({ rules: { policies: { p: allow({ destinationPort: 81 }) } } }).outcome.kind).toBe('closed');
    expect(asked({ rules: { policies: { p: allow({ destinationPort: 80 }) } } }).outcome.kind).toBe('forwarded');
  });

  it('matches nothing of HTTP', () => {
    const policies = { p: allow({ header: { name: ':method', presentMatch: false } }) };
    expect(asked({ rules: { action: 1, policies } }).outcome.kind).toBe('forwarded');
  });
});

describe('the external authorizer', () => {
  const condition = {
    filter: 'envoy.filters.http.rbac',
    path: [{ key: 'x_shadow_effective_policy_id' }],
    value: { stringMatch: { prefix: 'ext' } },
  };
  const shadow = rbac({
    shadowRules: { action: 1, policies: { 'ext-p': allow({ urlPath: { path: { exact: '/x' } } }) } },
    shadowRulesStatPrefix: 'x_',
  });
  const external = (failureModeAllow = false): HttpFilter => ({
    name: 'envoy.filters.http.ext_authz',
    typedConfig: any('envoy.extensions.filters.http.ext_authz.v3.ExtAuthz', {
      filterEnabledMetadata: condition,
      failureModeAllow,
      statusOnError: { code: 503 },
    }),
  });
  const answered = (path: string, authorizer: Connection['authorizer'], open = false): string =>
    verdictOf(askedThrough([shadow, external(open)], { ...request({ path }), authorizer }));

  it('is asked of what the shadow rules match', () => {
    expect(answered('/y', 'denies')).toBe('forwarded');
    expect(answered('/x', 'denies')).toBe('403');
    expect(answered('/x', 'allows')).toBe('forwarded');
  });

  it('leaves the outcome unknown if the question does not say what it answers', () => {
    expect(answered('/x', undefined)).toBe('unknown');
  });

  it('closes or opens when it fails, as configured', () => {
    expect(answered('/x', 'fails')).toBe('503');
    expect(answered('/x', 'fails', true)).toBe('forwarded');
  });
});

describe('the token filter', () => {
  const provider = (issuer: string, more: JwtProvider = {}): JwtProvider => ({
    issuer,
    payloadInMetadata: 'payload',
    normalizePayloadInMetadata: { spaceDelimitedClaims: ['scope'] },
    ...more,
  });
  const filter = (config: JwtAuthentication): HttpFilter => ({
    name: 'envoy.filters.http.jwt_authn',
    typedConfig: any('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication', config),
  });
  const optional = (providerName: string) => ({
    requiresAny: { requirements: [{ providerName }, { allowMissing: {} }] },
  });
  const one = (of: JwtProvider): HttpFilter =>
    filter({
      providers: { p: of },
      rules: [{ match: { prefix: '/' }, requires: optional('p') }],
      bypassCorsPreflight: true,
    });
  const good = { claims: { iss: 'i', sub: 's', aud: ['x', 'y'], scope: 'a b' } };
  const bearer = (text: string, more: Partial<HttpRequest> = {}): Partial<Connection> =>
    request({
      headers: { Authorization: `Bearer ${text}` },
      tokens: {
        good,
        forged: { ...good, genuine: false },
        old: { ...good, expired: true },
        other: { claims: { iss: 'j', sub: 's' } },
      },
      ...more,
    });

  it.each([
    ['good', 'forwarded'],
    ['forged', '401'],
    ['old', '401'],
    ['other', '401'],
    ['garbage', '401'],
  ])('a token that is %s: %s', (text, outcome) => {
    expect(verdictOf(askedThrough([one(provider('i'))], bearer(text)))).toBe(outcome);
  });

  it('lets a request without a token pass', () => {
    expect(verdictOf(askedThrough([one(provider('i'))], {}))).toBe('forwarded');
    expect(verdictOf(askedThrough([one(provider('i'))], request({ headers: { authorization: 'Basic x' } })))).toBe(
      'forwarded',
    );
  });

  it('refuses another audience with 403', () => {
    expect(verdictOf(askedThrough([one(provider('i', { audiences: ['z'] }))], bearer('good')))).toBe('403');
    expect(verdictOf(askedThrough([one(provider('i', { audiences: ['https://y/'] }))], bearer('good')))).toBe(
      'forwarded',
    );
  });

  it('lets a CORS preflight pass', () => {
    const headers = { Authorization: 'Bearer forged', origin: 'o', 'access-control-request-method': 'GET' };
    expect(verdictOf(askedThrough([one(provider('i'))], bearer('', { method: 'OPTIONS', headers })))).toBe('forwarded');
  });

  it('looks where the provider says, and nowhere else then', () => {
    const places = one(provider('i', { fromHeaders: [{ name: 'X-T' }], fromParams: ['t'], fromCookies: ['c'] }));
    expect(verdictOf(askedThrough([places], bearer('forged')))).toBe('forwarded');
    expect(verdictOf(askedThrough([places], bearer('', { headers: { 'x-t': 'forged' } })))).toBe('401');
    expect(verdictOf(askedThrough([places], bearer('', { headers: {}, path: '/?t=forged' })))).toBe('401');
    expect(verdictOf(askedThrough([places], bearer('', { headers: { cookie: 'a=b; c=forged' } })))).toBe('401');
  });

  it('removes the token unless it is forwarded, and the headers that would carry claims', () => {
    const claims = { claimToHeaders: [{ headerName: 'x-sub', claimName: 'sub' }] };
    const of = (more: JwtProvider, connection: Partial<Connection>): unknown => {
      const { outcome } = askedThrough([one(provider('i', more))], connection);
      return outcome.kind === 'forwarded' ? outcome.request?.headers : outcome;
    };
    expect(of(claims, bearer('good'))).toEqual({ 'x-sub': 's' });
    expect(of({ forward: true }, bearer('good'))).toEqual({ authorization: 'Bearer good' });
    expect(of(claims, request({ headers: { 'x-sub': 'admin' } }))).toEqual({});
  });

  it('with several providers, one good token suffices and a bad one alone does not', () => {
    const two = filter({
      providers: { p: provider('i'), q: provider('j', { fromHeaders: [{ name: 'x-q' }] }) },
      rules: [
        {
          match: { prefix: '/' },
          requires: {
            requiresAny: {
              requirements: [
                { providerName: 'p' },
                { providerName: 'q' },
                { requiresAll: { requirements: [optional('p'), optional('q')] } },
              ],
            },
          },
        },
      ],
    });
    const headers = (authorization: string | undefined, q: string | undefined): Record<string, string> => ({
      ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
      ...(q === undefined ? {} : { 'x-q': q }),
    });
    const outcome = (a: string | undefined, q: string | undefined): string =>
      verdictOf(askedThrough([two], bearer('', { headers: headers(a, q) })));
    expect(outcome('good', 'forged')).toBe('forwarded');
    expect(outcome(undefined, 'other')).toBe('forwarded');
    expect(outcome(undefined, 'forged')).toBe('401');
    expect(outcome('forged', undefined)).toBe('401');
    expect(outcome(undefined, undefined)).toBe('forwarded');
  });

  it('leaves claims for the rules behind it, lists for claims of words', () => {
    const claim = (key: string, value: string): HttpFilter => {
      const list = { listMatch: { oneOf: { stringMatch: { exact: value } } } };
      const metadata = {
        filter: 'envoy.filters.http.jwt_authn',
        path: [{ key: 'payload' }, { key }],
        value: { orMatch: { valueMatchers: [list, { stringMatch: { exact: value } }] } },
      };
      return rbac({ rules: { policies: { p: from({ metadata }) } } });
    };
    const jwt = one(provider('i'));
    expect(verdictOf(askedThrough([jwt, claim('sub', 's')], bearer('good')))).toBe('forwarded');
    expect(verdictOf(askedThrough([jwt, claim('scope', 'b')], bearer('good')))).toBe('forwarded');
    expect(verdictOf(askedThrough([jwt, claim('aud', 'y')], bearer('good')))).toBe('forwarded');
    expect(verdictOf(askedThrough([jwt, claim('sub', 'x')], bearer('good')))).toBe('403');
    expect(verdictOf(askedThrough([jwt, claim('sub', 's')], {}))).toBe('403');
  });
});
