// Istio's past advisories about policies, paths, hosts and tokens, one test each: what was let pass then is refused, by
// the oracle on what is generated. Each would fail without the rule that prevents it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { policyText } from '../../../../../src/history/access/listed.ts';
import { findingsOf } from '../../../../../src/offline/findings.ts';
import { oracleOf } from '../../../../../src/oracle/oracle.ts';
import type { Connection, HttpRequest, ProxyConfig } from '../../../../../src/oracle/question.ts';
import { configured } from '../../../../property/mesh/predicted.ts';
import { world } from '../../../world.ts';

const WORKLOAD = { namespace: 'prod', labels: { app: 'alpha' }, address: '10.1.200.1' };
const PORT = 8_080;
const KEYS = '{"keys":[{"kty":"RSA","e":"AQAB","n":"xAE7eB6qugXyCAG3yhh7pkDkT65pHymX"}]}';

function policy(kind: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'security.istio.io/v1', kind, metadata: { name: 'p', namespace: 'prod' }, spec };
}
const deny = (rule: JsonObject): JsonObject => policy('AuthorizationPolicy', { action: 'DENY', rules: [rule] });
const allow = (rule: JsonObject): JsonObject => policy('AuthorizationPolicy', { rules: [rule] });
const onPath = (path: string): JsonObject => ({ to: [{ operation: { paths: [path] } }] });

function configOf(object: JsonObject, mesh: JsonObject = {}, node: JsonObject = {}): ProxyConfig {
  return configured({ objects: [object], mesh }, WORKLOAD, node).config;
}

/** The gateway of pods with `app: gateway`, whose Service has port 80 on 8080. */
function gatewayConfig(...objects: readonly JsonObject[]): ProxyConfig {
  const gateway = { namespace: 'prod', labels: { app: 'gateway' }, address: '10.1.200.1' };
  const ports = [
    { name: 'http', port: 80, targetPort: PORT },
    { name: 'tls', port: 15_443 },
  ];
  const own = service('gateway', { ports, selector: gateway.labels });
  const { config } = configured({ objects: [own, SLICE, ...objects], mesh: {} }, gateway, {}, 'router');
  return config;
}
const service = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'prod' },
  spec: { clusterIP: '10.96.1.1', ...spec },
});
const SLICE: JsonObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'gateway', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'gateway' } },
  addressType: 'IPv4',
  ports: [
    { name: 'http', port: PORT },
    { name: 'tls', port: 15_443 },
  ],
  endpoints: [{ addresses: [WORKLOAD.address], conditions: { ready: true } }],
};
const networking = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind,
  metadata: { name: 'g', namespace: 'prod' },
  spec,
});

function outcomeOf(config: ProxyConfig, of: Partial<Connection>): string {
  const destination = { address: WORKLOAD.address, port: PORT };
  const { branches } = oracleOf(config).predict({ arrives: 'inbound', destination, ...of });
  const { outcome } = branches[0]!;
  return outcome.kind === 'answered' ? String(outcome.status) : outcome.kind;
}
const request = (of: Partial<HttpRequest>): Partial<Connection> => ({ http: { authority: 'alpha', ...of } });
const peer = (certificate: string, alpn = 'istio'): Partial<Connection> => ({ tls: { certificate, alpn: [alpn] } });

describe('past advisories', () => {
  it('CVE-2020-8595: a query does not take a path out of the reach of tokens and rules', () => {
    const tokens = configOf(policy('RequestAuthentication', { jwtRules: [{ issuer: 'i', jwks: KEYS }] }));
    const headers = { authorization: 'Bearer garbage' };
    for (const path of ['/x?y', '/any/path?y']) expect(outcomeOf(tokens, request({ path, headers })), path).toBe('401');
    expect(outcomeOf(configOf(deny(onPath('/admin'))), request({ path: '/admin?x' }))).toBe('403');
  });

  it('CVE-2020-16844: DENY of a principal by its end refuses connections without HTTP', () => {
    const config = configOf(deny({ from: [{ source: { principals: ['*/sa/job'] } }] }));
    expect(outcomeOf(config, peer('spiffe://cluster.local/ns/prod/sa/job'))).toBe('closed');
    expect(outcomeOf(config, peer('spiffe://cluster.local/ns/prod/sa/web'))).toBe('forwarded');
  });

  it('CVE-2021-31920: slashes that are repeated or escaped do not evade a rule, where the mesh normalises them', () => {
    const mesh = { pathNormalization: { normalization: 'DECODE_AND_MERGE_SLASHES' } };
    const config = configOf(deny(onPath('/admin/x')), mesh);
    for (const path of ['//admin/x', '/admin//x', '/admin%2fx', '/a/../admin/x']) {
      expect(outcomeOf(config, request({ path })), path).toBe('403');
    }
    expect(outcomeOf(config, request({ path: '/admin/y' }))).toBe('forwarded');
  });

  it('CVE-2021-31921: AUTO_PASSTHROUGH lets through to the services that its hosts name, and to no other', () => {
    const port = { number: 15_443, name: 'tls', protocol: 'TLS' };
    const servers = [{ port, hosts: ['pay.prod.svc.cluster.local'], tls: { mode: 'AUTO_PASSTHROUGH' } }];
    const web = { ports: [{ name: 'http', port: 80 }] };
    const config = gatewayConfig(
      networking('Gateway', { selector: { app: 'gateway' }, servers }),
      service('pay', { ...web, clusterIP: '10.96.1.2' }),
      service('safe', { ...web, clusterIP: '10.96.1.3' }),
    );
    const names = config.listeners.flatMap(({ filterChains = [] }) =>
      filterChains.flatMap(({ filterChainMatch }) => filterChainMatch?.serverNames ?? []),
    );
    expect(names).toEqual(['outbound_.80_._.pay.prod.svc.cluster.local']);
    const destination = { address: WORKLOAD.address, port: 15_443 };
    for (const sni of ['outbound_.80_._.safe.prod.svc.cluster.local', 'safe.prod.svc.cluster.local', undefined]) {
      expect(outcomeOf(config, { arrives: 'direct', destination, tls: { sni, alpn: ['istio'] } }), sni).toBe('closed');
    }
  });

  it('ISTIO-SECURITY-2021-002: the port of a policy is the one that the gateway listens on, behind its Service', () => {
    const servers = [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }];
    const gateway = networking('Gateway', { selector: { app: 'gateway' }, servers });
    const onPort = (port: number): JsonObject => deny({ to: [{ operation: { ports: [String(port)] } }] });
    const asked = { arrives: 'direct', destination: { address: WORKLOAD.address, port: PORT } } as const;
    const outcome = (port: number): string =>
      outcomeOf(gatewayConfig(gateway, onPort(port)), { ...asked, ...request({ path: '/' }) });
    expect([outcome(PORT), outcome(80)]).toEqual(['403', '404']);
  });

  it('ISTIO-SECURITY-2021-004: identity is asked of mTLS alone, and a policy that forgets that is pointed out', () => {
    const namespaces = { from: [{ source: { namespaces: ['prod'] } }] };
    expect(outcomeOf(configOf(allow(namespaces)), request({}))).toBe('403');
    const found = findingsOf(world([JSON.stringify(deny(namespaces))]));
    expect(found.map(({ code, object }) => [code, object])).toEqual([['weak-policy', 'AuthorizationPolicy/prod/p']]);
  });

  it('CVE-2021-39155: the case of a host does not evade a rule', () => {
    const config = configOf(deny({ to: [{ operation: { hosts: ['secret.example.com'] } }] }));
    expect(outcomeOf(config, request({ authority: 'SECRET.Example.com' }))).toBe('403');
    expect(outcomeOf(config, request({ authority: 'open.example.com' }))).toBe('forwarded');
  });

  it('CVE-2021-39156: a fragment does not evade a rule', () => {
    const config = configOf(deny(onPath('/admin')));
    expect(outcomeOf(config, request({ path: '/admin#x' }))).toBe('400');
    // Where Envoy lets fragments pass, the rule still reads the path without one.
    expect(policyText(config)).toContain('urlPath');
    expect(policyText(config)).not.toContain(':path');
  });

  it('CVE-2022-21679: older proxies have the same policies', () => {
    const object = allow({ from: [{ source: { namespaces: ['prod'] } }], ...onPath('/x') });
    const text = (version: string): string => policyText(configOf(object, {}, { ISTIO_VERSION: version }));
    expect(text('1.11.0')).toBe(text('1.30.3'));
    expect(text('1.30.3')).toContain('policy[p]');
  });

  it('CVE-2026-31837: before keys are fetched, what stands for them holds no private key', () => {
    const uri = 'https://issuer.example.com/keys';
    const text = policyText(configOf(policy('RequestAuthentication', { jwtRules: [{ issuer: 'i', jwksUri: uri }] })));
    expect(text).toContain('jwt_authn');
    expect(text).not.toMatch(/\\"(d|p|q|dp|dq|qi|k)\\":/);
  });

  it('CVE-2026-39350: a dot in the name of an account, namespace or trust domain stands for itself', () => {
    const rows: readonly (readonly [JsonObject, string, string])[] = [
      [{ serviceAccounts: ['prod/web.a'] }, 'cluster.local/ns/prod/sa/web.a', 'cluster.local/ns/prod/sa/webXa'],
      [{ namespaces: ['te.t'] }, 'cluster.local/ns/te.t/sa/web', 'cluster.local/ns/test/sa/web'],
      [{ trustDomains: ['*.example.com'] }, 'a.example.com/ns/a/sa/b', 'a.exampleXcom/ns/a/sa/b'],
      [{ principals: ['*/sa/web.a'] }, 'cluster.local/ns/prod/sa/web.a', 'cluster.local/ns/prod/sa/webXa'],
    ];
    for (const [source, own, other] of rows) {
      const domains = { trustDomainAliases: ['a.example.com', 'a.exampleXcom'] };
      const config = configOf(allow({ from: [{ source }] }), domains);
      expect(outcomeOf(config, peer(`spiffe://${own}`)), own).toBe('forwarded');
      expect(outcomeOf(config, peer(`spiffe://${other}`)), other).toBe('closed');
    }
  });
});
