// AuthorizationPolicy, RequestAuthentication, Telemetry, WasmPlugin, TrafficExtension: what is accepted, and why the
// rest is refused.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { JWKS_CHARS_MAX } from '../../../../../src/core/kinds/istio/validate/jwks.ts';
import type { KindName } from '../../../../../src/core/model/kind.ts';
import { problemsOf, withSpec } from '../verdict.ts';

/** Each case: a spec, and everything that is wrong with it. */
function cases(kind: KindName, table: readonly (readonly [JsonObject, ...string[]])[]): void {
  test.each(table.map(([spec, ...problems]) => ({ spec, problems })))('reports for $spec: $problems', given => {
    expect(problemsOf(withSpec(kind, given.spec))).toEqual(given.problems);
  });
}

const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };

describe('validation of an AuthorizationPolicy', () => {
  const from = (source: JsonObject): JsonObject => ({ rules: [{ from: [{ source }] }] });
  const to = (operation: JsonObject): JsonObject => ({ rules: [{ to: [{ operation }] }] });
  const when = (condition: JsonObject): JsonObject => ({ rules: [{ when: [condition] }] });
  const source = 'spec.rules[0].from[0].source';
  const operation = 'spec.rules[0].to[0].operation';
  cases('AuthorizationPolicy', [
    [{}],
    [{ action: 'DENY', rules: [{}] }],
    [
      {
        action: 'CUSTOM',
        provider: { name: 'p' },
        rules: [{ to: [{ operation: { paths: ['/a*', '/b/{*}/{**}'] } }] }],
      },
    ],
    [from({ principals: ['*'], ipBlocks: ['10.0.0.0/8', '::1'], trustDomains: ['*.org'] })],
    [from({ serviceAccounts: ['ns/sa', 'sa'] })],
    [when({ key: 'request.headers[x]', values: ['a'] })],
    [when({ key: 'destination.port', notValues: ['0', '65535'] })],
    [{ targetRefs: [gateway] }],
    [
      { action: 'DENY' },
      'spec.rules: action DENY: without rules it would never apply; for every request, give one empty rule {}',
    ],
    [{ action: 'CUSTOM', rules: [{}] }, 'spec.provider.name: is missing, and action CUSTOM needs it'],
    [{ provider: { name: 'p' } }, 'spec.provider: has no meaning with action ALLOW'],
    [
      {
        action: 'CUSTOM',
        provider: { name: 'p' },
        rules: [
          { from: [{ source: { principals: ['a'] } }], when: [{ key: 'request.auth.claims[a]', values: ['b'] }] },
        ],
      },
      'spec.rules[0].from[0].source.principals: is not supported with action CUSTOM',
      'spec.rules[0].when[0].key: "request.auth.claims[a]" is not supported with action CUSTOM',
    ],
    [{ rules: [{ from: [{}] }] }, `${source}: is missing`],
    [from({}), `${source}: is empty; expected at least one property of the source`],
    [from({ ipBlocks: ['x'] }), `${source}.ipBlocks[0]: "x" is neither an IP address nor a prefix such as 10.0.0.0/8`],
    [from({ namespaces: [''] }), `${source}.namespaces[0]: is empty`],
    [
      from({ serviceAccounts: ['a/b/c'] }),
      `${source}.serviceAccounts[0]: "a/b/c" is not a service account: expected account or namespace/account, without wildcards`,
    ],
    [
      from({ serviceAccounts: ['a'], principals: ['b'] }),
      `${source}: service accounts cannot be combined with principals or namespaces`,
    ],
    [
      from({ notTrustDomains: ['a*b'] }),
      `${source}.notTrustDomains[0]: "a*b": one wildcard is allowed, at the start or at the end`,
    ],
    [{ rules: [{ to: [{}] }] }, `${operation}: is missing`],
    [to({ methods: [] }), `${operation}: is empty; expected at least one property of the operation`],
    [to({ ports: ['80', 'http'] }), `${operation}.ports[1]: "http" is not a port: expected 0 to 65535`],
    [to({ paths: ['/{*}*'] }), `${operation}.paths[0]: "/{*}*": braces are for whole segments {*} and {**} only`],
    [to({ paths: ['/{**}/{*}'] }), `${operation}.paths[0]: "/{**}/{*}": nothing that matches may follow {**}`],
    [to({ notPaths: ['/{*}/a b'] }), `${operation}.notPaths[0]: "/{*}/a b": "a b" cannot be a segment of a template`],
    [when({ values: ['a'] }), 'spec.rules[0].when[0].key: is missing'],
    [when({ key: 'source.ip' }), 'spec.rules[0].when[0]: has neither values nor notValues'],
    [when({ key: 'no', values: ['a'] }), 'spec.rules[0].when[0].key: "no" is not an attribute that conditions know'],
    [
      when({ key: 'request.headers', values: ['a'] }),
      'spec.rules[0].when[0].key: "request.headers": expected a key in brackets, such as request.headers[x-name]',
    ],
    [
      { selector: { matchLabels: { a: 'b' } }, targetRefs: [gateway] },
      'spec: only one of selector, targetRef, targetRefs can be set',
    ],
    [
      { targetRefs: [{ kind: 'Pod', name: 'a' }] },
      'spec.targetRefs[0]: "/Pod" cannot be a target: expected one of core/Service, networking.istio.io/ServiceEntry, gateway.networking.k8s.io/Gateway, gateway.networking.k8s.io/GatewayClass',
    ],
    [
      { targetRef: { ...gateway, name: '', namespace: 'x' } },
      'spec.targetRef.name: is missing',
      'spec.targetRef.namespace: must not be set: a policy refers to its own namespace',
    ],
    [{ action: 'deny' }, 'spec.action: expected one of ALLOW, DENY, AUDIT, CUSTOM, found the string "deny"'],
  ]);
  const annotated = (kind: KindName, spec: JsonObject, annotations: JsonObject): JsonObject => ({
    ...withSpec(kind, spec),
    metadata: { name: 'a', namespace: 'prod', annotations },
  });
  test.each<[KindName, JsonObject, JsonObject, readonly string[]]>([
    ['AuthorizationPolicy', {}, { 'istio.io/dry-run': 'true' }, []],
    [
      'AuthorizationPolicy',
      {},
      { 'istio.io/dry-run': 'yes' },
      ['metadata.annotations[istio.io/dry-run]: "yes" is neither true nor false'],
    ],
    [
      'AuthorizationPolicy',
      { action: 'AUDIT' },
      { 'istio.io/dry-run': 'true' },
      ['metadata.annotations[istio.io/dry-run]: does not go with action AUDIT'],
    ],
    [
      'PeerAuthentication',
      {},
      { 'istio.io/dry-run': 'true' },
      ['metadata.annotations[istio.io/dry-run]: is possible on an AuthorizationPolicy only'],
    ],
    [
      'Telemetry',
      {},
      { 'internal.istio.io/parents': 'x' },
      ['metadata.annotations[internal.istio.io/parents]: is not for users'],
    ],
  ])('reports for %s %j with annotations %j: %j', (kind, spec, annotations, problems) => {
    expect(problemsOf(annotated(kind, spec, annotations))).toEqual(problems);
  });
});

describe('validation of a RequestAuthentication', () => {
  const rule = (jwt: JsonObject): JsonObject => ({ jwtRules: [{ issuer: 'i', ...jwt }] });
  const at = 'spec.jwtRules[0]';
  cases('RequestAuthentication', [
    [{}],
    [rule({ jwksUri: 'https://a.com/keys', timeout: '1s', fromHeaders: [{ name: 'x' }] })],
    [rule({ jwks: '{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"}]}' })],
    [rule({ jwks: '{"keys":[]}' })],
    [rule({ jwks: '{"keys":[{"kty":"oct","k":"AQ","kid":"}"}]} and the rest' })],
    [rule({ jwks: '{"keys":[{"kty":"RSA","n":"A-B_","e":"A+B/","d":"AQ==","p":null,"kid":"1"}]}' })],
    [rule({ jwks: '{"kty":"RSA","n":"A-B/","e":"AQAB"}' }), `${at}.jwks: the key: n is not base64`],
    [rule({ jwks: '{"kty":"oct","k":"AQ="}' }), `${at}.jwks: the key: k is not base64`],
    [rule({ jwks: '{"kty":"oct","k":"AQ","kid":1}' }), `${at}.jwks: the key: kid is not a string`],
    [
      rule({ jwks: '{"kty":"oct","k":"AQ","key_ops":"sign"}' }),
      `${at}.jwks: the key: key_ops is not a list of strings`,
    ],
    [rule({ jwks: '{"kty":"oct","k":"AQ","x5c":["é"]}' }), `${at}.jwks: the key: x5c is not a list of base64`],
    [{ jwtRules: [{ audiences: ['a'] }] }, `${at}: has neither issuer nor jwksUri`],
    [rule({ jwksUri: 'ftp://a.com' }), `${at}.jwksUri: "ftp://a.com" is not a URL with the scheme http or https`],
    [rule({ jwks: 'no' }), `${at}.jwks: is not JSON`],
    [rule({ jwks: `{"a":${'"\\'.repeat(JWKS_CHARS_MAX / 2 - 10)}` }), `${at}.jwks: is not JSON`],
    [rule({ jwks: `{"kty":"oct","k":"${'='.repeat(JWKS_CHARS_MAX - 30)}A"}` }), `${at}.jwks: the key: k is not base64`],
    [rule({ jwks: '['.repeat(JWKS_CHARS_MAX + 1) }), `${at}.jwks: is longer than ${JWKS_CHARS_MAX} characters`],
    [rule({ jwks: '{"keys":[{"kty":"XYZ"}]}' }), `${at}.jwks: key 0: expected kty RSA, EC, OKP, oct, found "XYZ"`],
    [rule({ jwks: '{"kty":"EC","crv":"P-256","x":"AQ"}' }), `${at}.jwks: the key: y is missing`],
    [rule({ jwksUri: 'https://a', jwks: '{"keys":[]}' }), `${at}: only one of jwks, jwksUri, jwks_uri can be set`],
    [rule({ fromHeaders: [{}] }), `${at}.fromHeaders[0].name: is missing`],
    [rule({ fromParams: [''] }), `${at}.fromParams[0]: is empty`],
    [
      rule({ outputClaimToHeaders: [{ header: ':authority', claim: 'c' }] }),
      `${at}.outputClaimToHeaders[0].header: ":authority" is not the name of a header: expected letters, digits, "-" and "_"`,
    ],
    [rule({ timeout: '0s' }), `${at}.timeout: 0s is too short: expected at least 1ms`],
    [rule({ spaceDelimitedClaims: [''] }), `${at}.spaceDelimitedClaims[0]: is empty`],
  ]);
});

describe('validation of a Telemetry', () => {
  cases('Telemetry', [
    [{ accessLogging: [{ filter: { expression: 'response.code >= 400 || connection.mtls == false' } }] }],
    [{ tracing: [{ disableSpanReporting: null, randomSamplingPercentage: 100 }] }],
    [{ metrics: [{ overrides: [{ tagOverrides: { a: { value: 'b' }, c: { operation: 'REMOVE' } } }] }] }],
    [
      { accessLogging: [{ filter: {} }] },
      'spec.accessLogging[0].filter.expression: is not a CEL expression: expected an expression at 1, found the end',
    ],
    [{ accessLogging: [{ providers: [{}] }] }, 'spec.accessLogging[0].providers[0].name: is missing'],
    [
      { tracing: [{ randomSamplingPercentage: 101 }] },
      'spec.tracing[0].randomSamplingPercentage: 101 is not a percentage: expected 0 to 100',
    ],
    [
      { tracing: [{ customTags: { a: { literal: {} }, b: { header: {} }, c: { environment: {} } } }] },
      'spec.tracing[0].customTags[a].literal.value: is missing',
      'spec.tracing[0].customTags[b].header.name: is missing',
      'spec.tracing[0].customTags[c].environment.name: is missing',
    ],
    [
      { metrics: [{ overrides: [{ tagOverrides: { a: {}, b: { operation: 'REMOVE', value: 'c' } } }] }] },
      'spec.metrics[0].overrides[0].tagOverrides[a]: operation UPSERT needs a value',
      'spec.metrics[0].overrides[0].tagOverrides[b]: operation REMOVE has no value',
    ],
    [
      { metrics: [{ reportingInterval: '0s' }] },
      'spec.metrics[0].reportingInterval: is not a duration of at least 1ms',
    ],
  ]);
});

describe('validation of WasmPlugin and TrafficExtension', () => {
  const url = 'oci://registry.example.com/plugin:1';
  cases('WasmPlugin', [
    [{ url }],
    [{ url: 'registry.example.com/plugin', sha256: 'a'.repeat(64), match: [{ ports: [{ number: 80 }] }] }],
    [{}, 'spec.url: is missing'],
    [{ url: 'ftp://a' }, 'spec.url: "ftp://a": the scheme is none of file, http, https, oci'],
    [{ url: ':a' }, 'spec.url: ":a" is not a URL'],
    [{ url, sha256: 'A' }, 'spec.sha256: "A" is not a digest: expected 64 hexadecimal digits in lower case'],
    [
      {
        url,
        vmConfig: {
          env: [
            { name: 'a', value: 'b' },
            { name: 'a', valueFrom: 'HOST', value: 'c' },
          ],
        },
      },
      'spec.vmConfig.env[1].name: "a" is the name of an earlier variable too',
      'spec.vmConfig.env[1].value: has no meaning with valueFrom HOST',
    ],
    [{ url, match: [{ ports: [{ number: 0 }] }] }, 'spec.match[0].ports[0].number: 0 is not a port'],
    [
      { url, match: [{ ports: [{ number: 1 }, { number: 1 }] }] },
      'spec.match[0].ports[1]: has the same number as an earlier element',
    ],
  ]);
  cases('TrafficExtension', [
    [{ lua: { inlineCode: 'x' } }],
    [{ wasm: { url } }],
    [{}, 'spec: exactly one of lua, wasm must be set'],
    [{ lua: {} }, 'spec.lua.inlineCode: is missing'],
    [{ wasm: { url: 'x://y' } }, 'spec.wasm.url: "x://y": the scheme is none of file, http, https, oci'],
  ]);
});
