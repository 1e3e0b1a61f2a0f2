// What authors are told about policies that protect less than they seem to.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { policyFindings } from '../../../../../src/core/select/policy/policy-findings.ts';
import { ask, world } from '../../../world.ts';

const policy = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind,
  metadata: { name: 'p', namespace: 'shop' },
  spec,
});

/** Paths, and the findings of each. */
function found(...objects: readonly JsonObject[]): readonly string[] {
  return ask(world(objects), policyFindings, '').map(({ key, effect, path }) => `${key} ${effect} ${path}`);
}

describe('an AuthorizationPolicy', () => {
  const authorization = (action: string | undefined, rule: JsonObject): JsonObject =>
    policy('AuthorizationPolicy', { ...(action && { action }), rules: [rule] });
  const strict = policy('PeerAuthentication', { mtls: { mode: 'STRICT' } });
  const from = (source: JsonObject): JsonObject => ({ from: [{ source }] });
  const onHosts = (field: string, ...hosts: readonly string[]): JsonObject => ({
    to: [{ operation: { [field]: hosts } }],
  });

  it.each([
    ['principals', ['a']],
    ['namespaces', ['a']],
  ])('that denies %s tells where callers without mTLS pass', (field, values) => {
    const rule = from({ [field]: values });
    expect(found(authorization('DENY', rule))).toEqual([`shop/p weak spec.rules[0].from[0].source.${field}`]);
    expect(found(authorization('DENY', rule), strict)).toEqual([]);
    expect(found(authorization('ALLOW', rule))).toEqual([]);
  });

  it('that denies addresses tells nothing', () => {
    expect(found(authorization('DENY', from({ ipBlocks: ['10.0.0.0/8'] })))).toEqual([]);
  });

  it.each<[string | undefined, string, readonly string[], boolean]>([
    ['DENY', 'hosts', ['a.com'], true],
    ['DENY', 'hosts', ['a.com', 'a.com:*'], false],
    ['DENY', 'hosts', ['a.com:*'], false],
    ['DENY', 'hosts', ['a.*'], false],
    ['DENY', 'hosts', ['*.com'], true],
    ['DENY', 'notHosts', ['a.com'], false],
    ['ALLOW', 'notHosts', ['a.com'], true],
    [undefined, 'notHosts', ['a.com'], true],
    ['ALLOW', 'hosts', ['a.com'], false],
    ['AUDIT', 'hosts', ['a.com'], false],
    ['AUDIT', 'notHosts', ['a.com'], false],
  ])('of action %s with %s %j tells of the port in a host: %s', (action, field, hosts, expected) => {
    const told = found(authorization(action, onHosts(field, ...hosts)));
    expect(told).toEqual(expected ? [`shop/p weak spec.rules[0].to[0].operation.${field}`] : []);
  });
});

describe('a finding', () => {
  const messages = (objects: readonly JsonObject[], mesh: JsonObject = {}): readonly string[] =>
    ask(world(objects, { mesh }), policyFindings, '').map(({ kind, message }) => `${kind}: ${message}`);
  const authorization = (spec: JsonObject): JsonObject => policy('AuthorizationPolicy', spec);

  it('says what a mistake opens', () => {
    const rules = [
      { from: [{ source: { ipBlocks: ['10.0.0.1'] } }, { source: { namespaces: ['x'] } }] },
      { to: [{ operation: { paths: ['/a'] } }, { operation: { hosts: ['a.com', 'b.com'] } }] },
    ];
    const denies = authorization({ action: 'DENY', rules });
    expect(messages([denies])).toEqual([
      'AuthorizationPolicy: a caller without mTLS has no identity and is not refused: the namespace is not STRICT (ISTIO-SECURITY-2021-004)',
      'AuthorizationPolicy: a request for a.com with a port in its host is another host: add "a.com:*"',
    ]);
    expect(found(denies)).toEqual([
      'shop/p weak spec.rules[0].from[1].source.namespaces',
      'shop/p weak spec.rules[1].to[1].operation.hosts',
    ]);
    const jwks = JSON.stringify({ keys: [{ kty: 'oct', k: 'AQAB' }] });
    const jwtRules = [
      { issuer: 'i', jwks, audiences: ['a'] },
      { issuer: 'i', jwksUri: 'https://i/k' },
    ];
    expect(messages([policy('RequestAuthentication', { jwtRules })])).toEqual([
      'RequestAuthentication: holds a private key: every reader of this object can sign tokens',
      'RequestAuthentication: another rule of i has other audiences: Envoy may check a token by either of them',
    ]);
  });

  it('says why an external authorizer cannot be asked', () => {
    const custom = authorization({ action: 'CUSTOM', provider: { name: 'ask' }, rules: [{}] });
    expect(messages([custom])).toEqual([
      'AuthorizationPolicy: cannot be enforced, so what its rules match is refused: MeshConfig has no external authorizer called "ask"',
    ]);
    expect(found(custom)).toEqual(['shop/p refuses spec.provider.name']);
    const entry: JsonObject = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'ServiceEntry',
      metadata: { name: 'ask', namespace: 'shop' },
      spec: { hosts: ['ask.com'], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }], resolution: 'DNS' },
    };
    const extensionProviders = [{ name: 'ask', envoyExtAuthzGrpc: { service: 'ask.com', port: 80 } }];
    expect(messages([custom, entry], { extensionProviders })).toEqual([]);
  });

  it('is made of no rule that is empty', () => {
    expect(found(authorization({ action: 'DENY', rules: [{}] }), authorization({ action: 'ALLOW' }))).toEqual([]);
    expect(found(policy('RequestAuthentication', {}))).toEqual([]);
  });
});

describe('a RequestAuthentication', () => {
  const rules = (...jwtRules: readonly JsonObject[]): JsonObject => policy('RequestAuthentication', { jwtRules });
  const key = (more: JsonObject): string => JSON.stringify({ keys: [{ kty: 'RSA', e: 'AQAB', n: 'AQAB', ...more }] });

  it('tells of private keys', () => {
    expect(found(rules({ issuer: 'i', jwks: key({}) }))).toEqual([]);
    expect(found(rules({ issuer: 'i', jwks: key({}) }, { issuer: 'j', jwks: key({ d: 'AQAB' }) }))).toEqual([
      'shop/p weak spec.jwtRules[1].jwks',
    ]);
  });

  it.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'])('tells of a key with the private member %s', member => {
    expect(found(rules({ issuer: 'i', jwks: key({ [member]: 'AQAB' }) }))).toHaveLength(1);
  });

  it('tells of a private key behind a public one', () => {
    const jwks = JSON.stringify({
      keys: [
        { kty: 'RSA', e: 'AQAB', n: 'AQAB' },
        { kty: 'oct', k: 'AQAB' },
      ],
    });
    expect(found(rules({ issuer: 'i', jwks }))).toEqual(['shop/p weak spec.jwtRules[0].jwks']);
  });

  it.each([
    ['a private key alone', '{"kty":"oct","k":"AQAB"}', 1],
    ['a private key before other text', '{"keys":[{"kty":"oct","k":"AQAB"}]} and more', 1],
    ['a list that is null', '{"keys":null}', 0],
  ])('tells of a private key in %s', (_what, jwks, count) => {
    expect(found(rules({ issuer: 'i', jwks }))).toHaveLength(count);
  });

  it('tells of other audiences of one issuer, whatever their order', () => {
    const rule = (issuer: string, ...audiences: readonly string[]) => ({ issuer, jwks: key({}), audiences });
    expect(found(rules(rule('i', 'a', 'b'), rule('i', 'b', 'a'), rule('j', 'c')))).toEqual([]);
    expect(found(rules(rule('i', 'a'), rule('i', 'b'), rule('i', 'a')))).toEqual([
      'shop/p weak spec.jwtRules[1].audiences',
    ]);
  });
});
