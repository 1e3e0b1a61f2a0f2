// Where the keys of tokens come from, by the flag that says who fetches them; and which trust domains count.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import {
  hostsOfKeySets,
  tokenRulesOfProxy,
  wantedJwks,
} from '../../../../../src/core/select/policy/request-authentication.ts';
import { trustDomains } from '../../../../../src/core/select/policy/trust-domains.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { serviceEntry } from '../../registry/fixtures.ts';

const JWKS = '{"keys":[{"kty":"RSA","e":"AQAB","n":"AQAB"}]}';
const policy = (name: string, namespace: string, ...jwtRules: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'RequestAuthentication',
  metadata: { name, namespace },
  spec: { jwtRules },
});
const known = serviceEntry('idp', {
  hosts: ['idp.example.com'],
  ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
  resolution: 'DNS',
});
const proxy = proxyOf(nodeOf({ namespace: 'shop' }));
const stateOf = (value: string, ...objects: readonly JsonObject[]) =>
  world([known, ...objects], { settings: { env: { PILOT_JWT_ENABLE_REMOTE_JWKS: value } } });

describe('the keys of a token rule', () => {
  const keys = (flag: string, rule: JsonObject): unknown => {
    const [found] = ask(stateOf(flag, policy('p', 'shop', { issuer: 'i', ...rule })), tokenRulesOfProxy, '', proxy);
    const { kind, ...rest } = found!.keys;
    return kind === 'remote' ? `${kind} ${(rest as { readonly cluster: string }).cluster}` : kind;
  };
  const REMOTE = 'remote outbound|443||idp.example.com';
  const at = (host: string): string => `https://${host}/keys`;

  it.each<[string, JsonObject, string]>([
    ['false', { jwksUri: at('idp.example.com') }, 'fetched'],
    ['false', { jwks: JWKS }, 'inline'],
    ['nonsense', { jwksUri: at('idp.example.com') }, 'fetched'],
    ['true', { jwksUri: at('idp.example.com') }, REMOTE],
    ['hybrid', { jwksUri: at('idp.example.com') }, REMOTE],
    ['hybrid', { jwksUri: at('unknown.example.com') }, 'fetched'],
    ['hybrid', { jwks: JWKS }, 'inline'],
    ['hybrid', {}, 'fetched'],
    ['envoy', { jwksUri: at('idp.example.com') }, REMOTE],
    ['envoy', { jwksUri: at('unknown.example.com') }, 'remote outbound|443||unknown.example.com'],
    ['envoy', { jwksUri: 'http://unknown.example.com/keys' }, 'remote outbound|80||unknown.example.com'],
    ['envoy', { jwksUri: 'http://unknown.example.com:81/keys' }, 'remote outbound|81||unknown.example.com'],
  ])('with PILOT_JWT_ENABLE_REMOTE_JWKS=%s and %j are %s', (flag, rule, expected) => {
    expect(keys(flag, rule)).toBe(expected);
  });

  it('are found in blocks if policies are many, by issuer and then by age', () => {
    const policies = Array.from({ length: 1_024 }, (_, i) =>
      policy(`p${1_000 + i}`, 'shop', { issuer: `i${i % 2}`, jwks: JWKS, audiences: [`a${i}`] }),
    );
    const tracker = new Tracker();
    const found = tracker.get(stateOf('false', ...policies), proxy, tokenRulesOfProxy, '');
    const even = Array.from({ length: 512 }, (_, i) => 2 * i);
    expect(found.map(({ rule }) => rule.audiences![0])).toEqual([...even, ...even.map(i => i + 1)].map(i => `a${i}`));
    const few = new Tracker();
    few.get(stateOf('false', ...policies.slice(0, 512)), proxy, tokenRulesOfProxy, '');
    expect(tracker.stats.runs - few.stats.runs).toBe(1_024 / 128);
  });

  it('are looked for at hosts that the proxy may have to reach', () => {
    const rules = ['https://b.example.com/k', 'http://a.example.com/k', 'https://b.example.com/other'];
    const objects = [policy('p', 'shop', ...rules.map((jwksUri, i) => ({ issuer: `i${i}`, jwksUri })))];
    expect(ask(stateOf('envoy', ...objects), hostsOfKeySets, '', proxy)).toEqual(['a.example.com', 'b.example.com']);
    expect(ask(stateOf('false', ...objects), hostsOfKeySets, '', proxy)).toEqual([]);
    const inline = policy('inline', 'shop', { issuer: 'i', jwks: JWKS });
    expect(ask(stateOf('envoy', inline), hostsOfKeySets, '', proxy)).toEqual([]);
  });

  it('are what the control plane fetched for the issuer and the URI of the rule', () => {
    const jwksUri = at('unknown.example.com');
    const answer = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: 'periplus.internal/v1',
      kind: 'JwksDocument',
      metadata: { name },
      spec: { keys: JWKS, ...spec },
    });
    const found = (...answers: readonly JsonObject[]) =>
      ask(stateOf('false', policy('p', 'shop', { issuer: 'i', jwksUri }), ...answers), tokenRulesOfProxy, '', proxy)[0]!
        .keys;
    expect(found()).toEqual({ kind: 'fetched', text: undefined });
    expect(found(answer('other', { issuer: 'j', jwksUri }))).toEqual({ kind: 'fetched', text: undefined });
    expect(found(answer('own', { issuer: 'i', jwksUri }))).toEqual({ kind: 'fetched', text: JWKS });
  });

  it.each([
    ['0.25s', 250],
    ['1.5s', 1_500],
  ])('are waited for as long as the rule says: %s is %i ms', (timeout, timeoutMs) => {
    const rule = { issuer: 'i', jwksUri: at('unknown.example.com'), timeout };
    expect(ask(stateOf('false', policy('p', 'shop', rule)), wantedJwks, '')).toMatchObject([{ timeoutMs }]);
  });

  it('of rules without an issuer or a URI are wanted by the other alone', () => {
    const jwksUri = at('unknown.example.com');
    const wanted = ask(stateOf('false', policy('p', 'shop', { issuer: 'i' }, { jwksUri })), wantedJwks, '');
    expect(wanted).toEqual([
      { issuer: '', jwksUri, timeoutMs: 5_000 },
      { issuer: 'i', jwksUri: '', timeoutMs: 5_000 },
    ]);
  });

  it('are wanted of every issuer once, for the longest time that a rule asks for', () => {
    const jwksUri = at('unknown.example.com');
    const objects = [
      policy('p', 'shop', { issuer: 'i', jwksUri, timeout: '1s' }, { issuer: 'inline', jwks: JWKS }),
      policy('q', 'far', { issuer: 'i', jwksUri, timeout: '9s' }, { issuer: 'h', jwksUri }),
    ];
    expect(ask(stateOf('false', ...objects), wantedJwks, '')).toEqual([
      { issuer: 'h', jwksUri, timeoutMs: 5_000 },
      { issuer: 'i', jwksUri, timeoutMs: 9_000 },
    ]);
    expect(ask(stateOf('envoy', ...objects), wantedJwks, '')).toEqual([]);
  });
});

it('token rules of one issuer are those of the namespace first, the older policies before the newer', () => {
  const aged = (name: string, namespace: string, day: number): JsonObject => ({
    ...policy(
      name,
      namespace,
      { issuer: 'i', jwks: JWKS, audiences: [name] },
      { audiences: [], jwksUri: 'https://x/k' },
    ),
    metadata: { name, namespace, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  });
  const objects = [aged('mesh', 'istio-system', 1), aged('a', 'shop', 3), aged('b', 'shop', 2)];
  const found = ask(stateOf('false', ...objects), tokenRulesOfProxy, '', proxy);
  expect(found.map(({ rule: { issuer, audiences } }) => [issuer, ...(audiences ?? [])])).toEqual([
    [undefined],
    [undefined],
    [undefined],
    ['i', 'b'],
    ['i', 'a'],
    ['i', 'mesh'],
  ]);
});

it('token rules are none of a policy without rules', () => {
  expect(ask(stateOf('false', policy('p', 'shop')), tokenRulesOfProxy, '', proxy)).toEqual([]);
});

it('token rules are those of the namespace and of the root namespace, by issuer', () => {
  const rule = (issuer: string): JsonObject => ({ issuer, jwks: JWKS });
  const objects = [
    policy('m', 'istio-system', rule('b')),
    policy('p', 'shop', rule('c'), rule('a')),
    policy('q', 'far', rule('d')),
  ];
  const found = ask(stateOf('false', ...objects), tokenRulesOfProxy, '', proxy);
  expect(found.map(({ rule: { issuer } }) => issuer)).toEqual(['a', 'b', 'c']);
});

it('the trust domains are those of the mesh and of its further authorities, each once', () => {
  const mesh = {
    trustDomain: 'own',
    trustDomainAliases: ['old', 'own'],
    caCertificates: [{ pem: 'x', trustDomains: ['partner', 'old', ''] }, { pem: 'y' }],
  };
  const query: Query<'', readonly string[]> = { name: 'test/trustDomains', run: trustDomains };
  expect(ask(world([], { mesh }), query, '')).toEqual(['own', 'old', 'partner']);
});
