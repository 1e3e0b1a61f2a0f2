// What cannot be rendered in a rule, keys that come close to one, and the filters of policies.
// Source of the rules: Istio pilot/pkg/security/authz/model/generator.go, pilot/pkg/security/authz/builder.

import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { AppliedPolicy } from '../../../../../src/core/select/policy/authorization.ts';
import type { ExternalAuthorizer } from '../../../../../src/core/select/policy/external-authorizer.ts';
import type { RuleContext } from '../../../../../src/xds/generate/listener/authorization/attributes.ts';
import { externalFilters } from '../../../../../src/xds/generate/listener/authorization/external.ts';
import {
  authorizationFilters,
  tunnelAuthorizationFilters,
} from '../../../../../src/xds/generate/listener/authorization/filters.ts';
import { hostMatcher, pathPermission } from '../../../../../src/xds/generate/listener/authorization/matchers.ts';
import { rbacFilters, ruleSet } from '../../../../../src/xds/generate/listener/authorization/rbac.ts';
import { rulePolicy } from '../../../../../src/xds/generate/listener/authorization/rule.ts';
import {
  expandPrincipals,
  expandTrustDomains,
} from '../../../../../src/xds/generate/listener/authorization/trust-domains.ts';
import { jwtFilters } from '../../../../../src/xds/generate/listener/request-authentication.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';

const http: RuleContext = { namespace: 'foo', tcp: false, peer: 'tls', trustDomains: [] };
const when = (key: string, ...values: readonly string[]): Rule => ({ when: [{ key, values }] });
const ofPrincipals = (rule: Rule, context = http) => {
  const [first] = rulePolicy(rule, context, true)?.principals ?? [];
  return first?.andIds?.ids?.[0]?.orIds?.ids ?? first?.andIds?.ids;
};
const ofPermissions = (rule: Rule, context = http) => {
  const [first] = rulePolicy(rule, context, true)?.permissions ?? [];
  return first?.andRules?.rules?.[0]?.orRules?.rules ?? first?.andRules?.rules;
};

describe('a value that cannot be rendered', () => {
  it.each<[string, Rule]>([
    ['a destination that is no address', when('destination.ip', 'x')],
    ['a source that is no address', when('source.ip', 'x')],
    ['a client that is no address', when('remote.ip', 'x')],
    ['a port beyond the last', when('destination.port', '65536')],
    ['a port that is no number', when('destination.port', '80x')],
    ['a negative port', when('destination.port', '-1')],
    ['a header without a name', when('request.headers[]', 'x')],
    ['a header without brackets', when('request.headers', 'x')],
    ['a header whose bracket does not end', when('request.headers[a', 'x')],
    ['a header whose bracket does not begin', when('request.headersa]', 'x')],
    ['a claim without a name', when('request.auth.claims[]', 'x')],
    ['metadata without a key', when('experimental.envoy.filters.a', 'x')],
    ['an unknown key', when('experimental.other[a]', 'x')],
    ['no key', { when: [{ values: ['x'] }] }],
  ])('such as %s takes an ALLOW rule with it', (_, rule) => {
    expect(rulePolicy(rule, http, true)).toBeUndefined();
  });

  it('of a path template is one for gRPC alone', () => {
    const rule: Rule = { to: [{ operation: { paths: ['/{*}'] } }] };
    expect(rulePolicy(rule, http, true)).toBeDefined();
    expect(rulePolicy(rule, { ...http, grpc: true }, true)).toBeUndefined();
    const long = { to: [{ operation: { paths: [`/${'a'.repeat(300)}{*}`] } }] };
    expect(rulePolicy(long, { ...http, grpc: true }, true)).toBeUndefined();
  });
});

it.each(['request.headers[a]', 'request.auth.claims[a]', 'request.auth.audiences', 'request.auth.principal'])(
  'a condition on %s is left out of the rules of TCP, so that they refuse more',
  key => {
    const rule = when(key, 'x');
    const tcp = { ...http, tcp: true };
    expect(rulePolicy(rule, tcp, true)).toBeUndefined();
    expect(rulePolicy(rule, tcp, false)?.principals).toEqual([{ andIds: { ids: [{ any: true }] } }]);
  },
);

describe('a value at the edge', () => {
  it('is rendered', () => {
    expect(ofPermissions(when('destination.port', '65535', '0'))).toEqual([
      { destinationPort: 65_535 },
      { destinationPort: 0 },
    ]);
    const longest = `/${'a'.repeat(254)}{*}`;
    expect(pathPermission(longest)?.uriTemplate?.typedConfig).toMatchObject({ pathTemplate: `/${'a'.repeat(254)}*` });
    expect(pathPermission(`/a${'a'.repeat(254)}{*}`)).toBeUndefined();
    expect(hostMatcher('*')).toEqual({ name: ':authority', presentMatch: true });
  });

  it('of metadata keeps brackets that do not enclose it', () => {
    const values = (value: string, key = 'experimental.envoy.filters.a[k]') =>
      ofPermissions(when(key, value))?.[0]?.metadata;
    expect(values('[x')?.value).toEqual({ stringMatch: { exact: '[x' } });
    expect(values('x]')?.value).toEqual({ stringMatch: { exact: 'x]' } });
    expect(values('[[x]y]')?.value).toEqual({ listMatch: { oneOf: { stringMatch: { exact: 'x]y' } } } });
    expect(values('v', 'experimental.envoy.filters.a[k')).toMatchObject({
      filter: 'envoy.filters.a',
      path: [{ key: 'k' }],
    });
  });

  it('of an identity is that of the TLS connection, or of the tunnel', () => {
    const rule: Rule = { from: [{ source: { principals: ['td/ns/a/sa/b'] } }] };
    const matcher = { exact: 'spiffe://td/ns/a/sa/b' };
    expect(ofPrincipals(rule)).toEqual([{ authenticated: { principalName: matcher } }]);
    expect(ofPrincipals(rule, { ...http, peer: 'filterState' })).toEqual([
      { filterState: { key: 'io.istio.peer_principal', stringMatch: matcher } },
    ]);
  });

  it('of a request principal that begins with its slash has no issuer', () => {
    const made = JSON.stringify(ofPrincipals({ from: [{ source: { requestPrincipals: ['/sub'] } }] }));
    expect(made).toContain('{"exact":""}');
    expect(made).toContain('{"exact":"sub"}');
  });

  it('of a trust domain is expanded only by a principal in full', () => {
    expect(expandPrincipals(['*/ns/a/sa/b'], ['*'])).toEqual(['*/ns/a/sa/b']);
    expect(expandPrincipals(['x/ns/a/sa/b'], ['*'])).toEqual(['*/ns/a/sa/b']);
    expect(expandPrincipals(['td/ns/a/sa/b'], [])).toEqual(['td/ns/a/sa/b']);
    expect(expandTrustDomains(['td', 'td'], ['td'])).toEqual(['td']);
    const rest = '/ns/a/sa/b';
    const expanded = (domain: string, ...domains: readonly string[]) => expandPrincipals([domain + rest], domains);
    expect(expanded('old-x', 'td', 'old-*')).toEqual([`td${rest}`, `old-*${rest}`]);
    expect(expanded('other', 'td', 'old-*')).toEqual([`other${rest}`]);
    expect(expanded('td', 'tde', 'tdx')).toEqual([`td${rest}`]);
    expect(expanded('tdxyz', 'tdx')).toEqual([`tdxyz${rest}`]);
    expect(expanded('x-old', '*-old', 'td')).toEqual([`*-old${rest}`, `td${rest}`]);
  });
});

const applied = (name: string, spec: AppliedPolicy['spec'], dryRun = false): AppliedPolicy => ({
  namespace: 'ns',
  name,
  spec,
  dryRun,
});
const context = { tcp: false, peer: 'tls', trustDomains: [] } as const;

describe('the RBAC filters', () => {
  const configs = (...policies: readonly AppliedPolicy[]) =>
    rbacFilters(policies, context).map(
      ({ typedConfig }) =>
        typedConfig as unknown as {
          readonly rules?: object;
          readonly shadowRules?: object;
          readonly shadowRulesStatPrefix: string;
        },
    );
  const keys = (rules: object | undefined) => rules && Object.keys((rules as { policies: object }).policies);

  it('are one for each action, in order, with what is enforced and what is tried apart', () => {
    const [audit, deny, allow, ...rest] = configs(
      applied('a', { rules: [{}] }),
      applied('d', { action: 'DENY', rules: [{}, {}] }),
      applied('t', { action: 'DENY', rules: [{}] }, true),
      applied('u', { action: 'AUDIT', rules: [{}] }),
    );
    expect(rest).toEqual([]);
    expect([audit, deny, allow].map(config => (config!.rules as { action?: number }).action)).toEqual([
      2,
      1,
      undefined,
    ]);
    expect(keys(deny?.rules)).toEqual(['ns[ns]-policy[d]-rule[0]', 'ns[ns]-policy[d]-rule[1]']);
    expect(keys(deny?.shadowRules)).toEqual(['ns[ns]-policy[t]-rule[0]']);
    expect([audit, deny, allow].map(config => config?.shadowRulesStatPrefix)).toEqual([
      'istio_dry_run_allow_',
      'istio_dry_run_deny_',
      'istio_dry_run_allow_',
    ]);
    expect([audit?.shadowRules, allow?.shadowRules]).toEqual([undefined, undefined]);
    expect(configs(applied('t', { rules: [{}] }, true))[0]?.rules).toBeUndefined();
  });

  it('allow nothing by a policy without rules, or with rules that cannot be rendered', () => {
    const never = { permissions: [{ notRule: { any: true } }], principals: [{ notId: { any: true } }] };
    expect(ruleSet(undefined, [applied('a', {})], context)).toEqual({
      policies: { 'ns[ns]-policy[a]-rule[0]': never },
    });
    expect(ruleSet(undefined, [applied('a', { rules: [when('destination.port', 'x')] })], context)).toEqual({});
  });

  it('of a tunnel go by its TLS, and stand in an HTTP chain', () => {
    const rule: Rule = {
      from: [{ source: { principals: ['td/ns/a/sa/b'] } }],
      to: [{ operation: { methods: ['GET'] } }],
    };
    const inputs = { policies: [applied('d', { action: 'DENY', rules: [rule] })], external: [], trustDomains: [] };
    const [filter, ...rest] = tunnelAuthorizationFilters.run({ inputs });
    expect([filter?.name, rest]).toEqual(['envoy.filters.http.rbac', []]);
    const text = JSON.stringify(filter?.typedConfig);
    expect(text).toContain('"authenticated"');
    expect(text).not.toContain(':method');
  });

  it.each([
    ['tls', '"authenticated"', '"authenticated"'],
    ['tunnel', '"authenticated"', '"filterState"'],
    ['waypoint', '"filterState"', '"filterState"'],
  ] as const)(
    'of a chain whose peer is known by %s ask for it by %s in CUSTOM, and by %s in other rules',
    (peer, custom, own) => {
      const spec = { rules: [{ from: [{ source: { principals: ['td/ns/a/sa/b'] } }] }] };
      const authorizer: ExternalAuthorizer = { kind: 'grpc', cluster: 'c', hostname: 'h', settings: {} };
      const external = [{ provider: 'p', authorizer, policies: [applied('c', { ...spec, action: 'CUSTOM' })] }];
      const inputs = { policies: [applied('a', spec)], external, trustDomains: [] };
      const made = authorizationFilters.run({ inputs, tcp: false, peer });
      expect(JSON.stringify(made.custom)).toContain(custom);
      expect(JSON.stringify(made.rules)).toContain(own);
    },
  );
});

describe('the filters of an external authorizer', () => {
  const policies = [applied('c', { action: 'CUSTOM', rules: [{}] })];
  const filters = (authorizer: ExternalAuthorizer, provider = 'p', tcp = false) =>
    externalFilters([{ provider, authorizer, policies }], { ...context, tcp });
  const KEY = 'ns[ns]-policy[c]-rule[0]';

  it('that cannot be used deny what its rules match', () => {
    const [filter, ...rest] = filters({ kind: 'unusable', reason: 'r' });
    expect(rest).toEqual([]);
    const config = filter!.typedConfig as unknown as {
      rules: { action: number; policies: object };
      shadowRules?: object;
    };
    expect(config.rules.action).toBe(1);
    expect(Object.keys(config.rules.policies)).toEqual([`istio-ext-authz-p-${KEY}-deny-due-to-bad-CUSTOM-action`]);
    expect(config.shadowRules).toBeUndefined();
  });

  it('find a match in shadow first, under the provider’s name if there is one', () => {
    const keyOf = (provider: string) => {
      const [shadow] = filters({ kind: 'grpc', cluster: 'c', hostname: 'h', settings: {} }, provider);
      const config = shadow!.typedConfig as unknown as { shadowRules: { policies: object } };
      return Object.keys(config.shadowRules.policies);
    };
    expect([keyOf('p'), keyOf('')]).toEqual([[`istio-ext-authz-p-${KEY}`], [`istio-ext-authz-${KEY}`]]);
  });

  it('of TCP exist for gRPC alone', () => {
    const names = (kind: 'grpc' | 'http') =>
      filters({ kind, cluster: 'c', hostname: 'h', settings: {} } as ExternalAuthorizer, 'p', true).map(
        ({ name }) => name,
      );
    expect(names('grpc')).toEqual(['envoy.filters.network.rbac', 'envoy.filters.network.ext_authz']);
    expect(names('http')).toEqual([]);
  });

  it('over HTTP send added headers by name, below a prefix if there is one', () => {
    const settings = { includeAdditionalHeadersInCheck: { b: '2', a: '1' }, pathPrefix: '' };
    const service = (more: object) => {
      const [, filter] = filters({
        kind: 'http',
        cluster: 'c',
        hostname: 'h',
        settings: { ...settings, ...more },
      } as never);
      return (filter!.typedConfig as unknown as { httpService: { pathPrefix?: string; authorizationRequest?: object } })
        .httpService;
    };
    expect(service({}).pathPrefix).toBeUndefined();
    expect(service({ pathPrefix: '/p' }).pathPrefix).toBe('/p');
    expect(service({}).authorizationRequest).toEqual({
      headersToAdd: [
        { key: 'a', value: '1' },
        { key: 'b', value: '2' },
      ],
    });
  });
});

describe('the filter of tokens', () => {
  interface Config {
    readonly providers: Readonly<Record<string, object>>;
    readonly rules: readonly object[];
    readonly bypassCorsPreflight: boolean;
  }
  const keys = { kind: 'inline', text: 'keys' } as const;
  const configOf = (rules: Parameters<typeof jwtFilters.run>[0]['rules'], sidecar = true): Config =>
    jwtFilters.run({ rules, sidecar })[0]!.typedConfig as unknown as Config;
  const plain = {
    issuer: 'i',
    payloadInMetadata: 'payload',
    normalizePayloadInMetadata: { spaceDelimitedClaims: ['permission', 'scope'] },
    localJwks: { inlineString: 'keys' },
  };
  const provider = (rule: object, sidecar = true) =>
    configOf([{ rule: { issuer: 'i', ...rule }, keys }], sidecar).providers['origins-0'];

  it.each([
    [{}, {}],
    [{ audiences: ['a'] }, { audiences: ['a'] }],
    [{ forwardOriginalToken: true }, { forward: true }],
    [{ forwardOriginalToken: false }, {}],
    [{ outputPayloadToHeader: 'h' }, { forwardPayloadHeader: 'h' }],
    [
      { outputClaimToHeaders: [{ header: 'h', claim: 'c' }] },
      { claimToHeaders: [{ headerName: 'h', claimName: 'c' }] },
    ],
    [{ fromHeaders: [{ name: 'h', prefix: 'P ' }] }, { fromHeaders: [{ name: 'h', valuePrefix: 'P ' }] }],
    [
      { fromParams: ['p'], fromCookies: ['c'] },
      { fromParams: ['p'], fromCookies: ['c'] },
    ],
    [
      { spaceDelimitedClaims: ['a', 'scope'] },
      { normalizePayloadInMetadata: { spaceDelimitedClaims: ['a', 'permission', 'scope'] } },
    ],
  ])('by %j has %j', (rule, expected) => {
    expect(provider(rule)).toEqual({ ...plain, ...expected });
  });

  it('clears the choice of a route but on a sidecar', () => {
    expect(provider({}, false)).toEqual({ ...plain, clearRouteCache: true });
  });

  it('fetches remote keys for five minutes, and takes no token while keys are unknown', () => {
    const rule = { issuer: 'i' };
    const remote = (more: object) =>
      configOf([{ rule: { ...rule, ...more }, keys: { kind: 'remote', uri: 'u', cluster: 'c' } }]).providers[
        'origins-0'
      ];
    const { localJwks: _, ...rest } = plain;
    const fetched = (seconds: number) => ({
      ...rest,
      remoteJwks: {
        httpUri: { uri: 'u', cluster: 'c', timeout: { seconds, nanos: 0 } },
        cacheDuration: { seconds: 300, nanos: 0 },
      },
    });
    expect(remote({})).toEqual(fetched(5));
    expect(remote({ timeout: { seconds: 9, nanos: 0 } })).toEqual(fetched(9));
    const unknown = configOf([{ rule, keys: { kind: 'fetched', text: undefined } }]).providers['origins-0'];
    expect(unknown).toMatchObject({ localJwks: { inlineString: expect.stringContaining('"kty": "RSA"') as string } });
  });

  it('lets a request pass without a token, or with a good one of any provider', () => {
    const rule = { rule: { issuer: 'i' }, keys };
    const optional = (providerName: string) => ({
      requiresAny: { requirements: [{ providerName }, { allowMissing: {} }] },
    });
    const one = configOf([rule]);
    expect(one.bypassCorsPreflight).toBe(true);
    expect(one.rules).toEqual([{ match: { prefix: '/' }, requires: optional('origins-0') }]);
    const all = { requiresAll: { requirements: [optional('origins-0'), optional('origins-1')] } };
    expect(configOf([rule, rule]).rules).toEqual([
      {
        match: { prefix: '/' },
        requires: {
          requiresAny: { requirements: [{ providerName: 'origins-0' }, { providerName: 'origins-1' }, all] },
        },
      },
    ]);
    expect(jwtFilters.run({ rules: [rule], sidecar: true })[0]?.typedConfig).toMatchObject({
      '@type': typeUrl('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication'),
    });
  });
});
