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
  ])('of action %s with %s %j tells of the port in a host: %s', (action, field, hosts, expected) => {
    const told = found(authorization(action, onHosts(field, ...hosts)));
    expect(told).toEqual(expected ? [`shop/p weak spec.rules[0].to[0].operation.${field}`] : []);
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

  it('tells of other audiences of one issuer, whatever their order', () => {
    const rule = (issuer: string, ...audiences: readonly string[]) => ({ issuer, jwks: key({}), audiences });
    expect(found(rules(rule('i', 'a', 'b'), rule('i', 'b', 'a'), rule('j', 'c')))).toEqual([]);
    expect(found(rules(rule('i', 'a'), rule('i', 'b'), rule('i', 'a')))).toEqual([
      'shop/p weak spec.jwtRules[1].audiences',
    ]);
  });
});
