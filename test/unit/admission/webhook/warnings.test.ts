// Warnings of the validating webhook in istiod's words, a row a rule, and the shape of a refusal with several reasons.

import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { WebhookWrites } from '../../../../src/admin/webhook-writes.ts';
import type { AdmissionRequest } from '../../../../src/admission/webhook/review.ts';
import { verdictOn } from '../../../../src/admission/webhook/validate.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';

const groups: Readonly<Record<string, string>> = {
  AuthorizationPolicy: 'security.istio.io/v1',
  PeerAuthentication: 'security.istio.io/v1',
  RequestAuthentication: 'security.istio.io/v1',
  Telemetry: 'telemetry.istio.io/v1',
};

function judged(kind: string, spec: JsonObject, labels: JsonObject = {}) {
  const apiVersion = groups[kind] ?? 'networking.istio.io/v1';
  const [group = '', version = ''] = apiVersion.split('/');
  const object = { apiVersion, kind, metadata: { name: 'x', namespace: 'shop', labels }, spec };
  const about = { apiVersion: 'admission.k8s.io/v1', uid: 'u', operation: 'CREATE', namespace: 'shop', dryRun: false };
  return verdictOn({ ...about, object, group, version, resource: 'any' } satisfies AdmissionRequest);
}

const NO_LABELS = 'workload selector specified without labels';
const TCP = /^configured AuthorizationPolicy will deny all traffic to TCP ports/;
const host = 'a.shop.svc.cluster.local';
const to = [{ destination: { host } }];
const port = { number: 443, name: 'tls', protocol: 'TLS' };
const server = (tls: JsonObject, protocol = 'HTTPS'): JsonObject => ({
  selector: { app: 'gw' },
  servers: [{ port: { number: 443, name: 'a', protocol }, hosts: ['a.example'], tls }],
});
const simple = { mode: 'SIMPLE', credentialName: 'c' };
const entry = { hosts: ['a.example'], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }], resolution: 'STATIC' };
const tcp = [{ number: 90, name: 'tcp', protocol: 'TCP' }];
const aes = 'ECDHE-RSA-AES128-GCM-SHA256';

const rows: readonly (readonly [kind: string, spec: JsonObject, expected: readonly (string | RegExp)[]])[] = [
  ['AuthorizationPolicy', { selector: {} }, [NO_LABELS]],
  ['AuthorizationPolicy', { action: 'DENY', rules: [{ to: [{ operation: { methods: ['PUT'] } }] }] }, [TCP]],
  ['AuthorizationPolicy', { action: 'DENY', rules: [{ from: [{ source: { requestPrincipals: ['*'] } }] }] }, [TCP]],
  ['AuthorizationPolicy', { action: 'DENY', rules: [{ from: [{ source: { namespaces: ['a'] } }] }] }, []],
  ['AuthorizationPolicy', { rules: [{ to: [{ operation: { methods: ['PUT'] } }] }] }, []],
  ['PeerAuthentication', { selector: {}, mtls: { mode: 'STRICT' } }, [NO_LABELS]],
  [
    'RequestAuthentication',
    { jwtRules: [{ issuer: 'a', jwks: '{"keys":[{"kty":"oct","k":"aaaa"}]}' }] },
    ['jwks key at index 0 contains private key material; only public keys are used for verification'],
  ],
  [
    'DestinationRule',
    { host, trafficPolicy: { outlierDetection: { consecutiveErrors: 3 } } },
    [
      'outlier detection consecutive errors is deprecated, use consecutiveGatewayErrors or consecutive5xxErrors instead',
    ],
  ],
  [
    'DestinationRule',
    { host, trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true, minimumRingSize: 8 } } } },
    ["consistent hash MinimumRingSize is deprecated, use ConsistentHashLB's RingHash configuration instead"],
  ],
  [
    'Gateway',
    server({ ...simple, httpsRedirect: true }),
    [/^tls.httpsRedirect should only be used with http servers$/],
  ],
  ['Gateway', server({ ...simple, minProtocolVersion: 'TLSV1_0' }), [/^TLS version below TLSV1_2 require setting/]],
  // What only the proxy can judge is no reason to warn.
  [
    'Gateway',
    server({ ...simple, cipherSuites: ['ALL', '[a|b]', '!c', '', 'b', aes, 'a'] }),
    ['ignoring invalid cipher suites: [a b]'],
  ],
  ['Gateway', server({ ...simple, cipherSuites: [aes, aes] }), [`ignoring duplicate cipher suites: [${aes}]`]],
  [
    'Gateway',
    server({ mode: 'PASSTHROUGH', credentialName: 'c' }, 'TLS'),
    ['PASSTHROUGH mode does not use certificates, they will be ignored'],
  ],
  ['ServiceEntry', { ...entry, hosts: ['*a.example'] }, ['partial wildcard "*a.example" not allowed']],
  [
    'ServiceEntry',
    { ...entry, resolution: 'NONE', ports: tcp, workloadSelector: { labels: { a: 'b' } } },
    [
      'addresses are required for ports serving TCP (or unset) protocol when IP Autoallocation is not enabled',
      'workloadSelector should not be set when resolution mode is NONE',
    ],
  ],
  [
    'ServiceEntry',
    { hosts: ['a.example', 'b.example'], addresses: ['10.0.0.1'], ports: [port], resolution: 'DNS' },
    ['service entry can not have more than one host specified simultaneously with address and tcp port'],
  ],
  [
    'ServiceEntry',
    { ...entry, workloadSelector: {} },
    [`service entry: ${NO_LABELS}, will be applied to all services in namespace`],
  ],
  ['WorkloadEntry', { network: 'n' }, ['address is unset with network "n"']],
  [
    'Sidecar',
    { workloadSelector: {}, outboundTrafficPolicy: {} },
    [`sidecar: ${NO_LABELS}, will be applied to all services in namespace`],
  ],
  ['Sidecar', { egress: [{ hosts: ['./a.com', 'shop/a.com'] }] }, ['duplicated egress host: shop/a.com']],
  [
    'Sidecar',
    { egress: [{ hosts: ['*/*', 'b/*'] }] },
    ['`*/*` host select all resources, no other hosts can be added'],
  ],
  [
    'Sidecar',
    {
      ingress: [
        { port: { number: 9, name: 'x', protocol: 'TCP' }, connectionPool: { http: { http1MaxPendingRequests: 1 } } },
      ],
    },
    [/^sidecar: HTTP connection pool settings are configured for port 9 \("x"\) but its protocol is not HTTP \(TCP\)/],
  ],
  ['Telemetry', { selector: {}, tracing: [{}, {}] }, [NO_LABELS, 'multiple tracing is not currently supported']],
  [
    'VirtualService',
    { hosts: [host], gateways: ['gw.ns.svc'], http: [{ route: to, mirrorPercent: 3, mirror: { host } }] },
    [
      'using legacy gatewayName format "gw.ns.svc"; prefer the <namespace>/<name> format: "ns/gw"',
      'using deprecated setting "mirrorPercent", use "mirrorPercentage" instead',
    ],
  ],
  [
    'VirtualService',
    { hosts: [host], http: [{ directResponse: { status: 200, body: { string: 'x'.repeat(110_000) } } }] },
    ['large direct_responses may impact control plane performance'],
  ],
  [
    'VirtualService',
    { hosts: [host], http: [{ route: to }, { name: 'late', match: [{ uri: { prefix: '/' } }], route: to }] },
    ['virtualService rule "late" not used (route without matches defined before)'],
  ],
  [
    'VirtualService',
    { hosts: ['10.0.0.1'], tls: [{ match: [{ port: port.number, sniHosts: ['10.0.0.1'] }], route: to }] },
    ['using an IP address ("10.0.0.1") goes against SNI spec and most clients do not support this'],
  ],
  ['VirtualService', { hosts: [host], http: [{ route: to }] }, []],
];

describe('The validating webhook', () => {
  it.each(rows)('warns of %s %j', (kind, spec, expected) => {
    const { allowed, message, warnings = [] } = judged(kind, spec);
    expect({ allowed, message }).toEqual({ allowed: true, message: undefined });
    const texts = expected.map(text => (typeof text === 'string' ? text : expect.stringMatching(text)));
    expect(warnings).toEqual(texts);
  });

  it('asks for addresses where an entry opts out of allocation', () => {
    const out = { 'networking.istio.io/enable-autoallocate-ip': 'False' };
    expect(judged('ServiceEntry', { ...entry, ports: tcp }).warnings).toBeUndefined();
    expect(judged('ServiceEntry', { ...entry, ports: tcp }, out).warnings).toHaveLength(1);
  });

  it('lists a hundred warnings and counts the others', () => {
    const http = Array.from({ length: 152 }, () => ({ route: [{ destination: { host } }] }));
    const { warnings = [] } = judged('VirtualService', { hosts: [host], http });
    expect([warnings.length, warnings.at(-1)]).toEqual([101, 'and 51 more']);
  });

  it('refuses with every reason on a line of its own', () => {
    const { message = '' } = judged('VirtualService', { hosts: [], http: [{ route: [{ destination: {} }] }, {}] });
    expect(message).toMatch(/^configuration is invalid: \d+ errors occurred:\n(\t\* [^\n]+\n){2,}\n$/);
  });
});

describe('Writes to webhook configurations', () => {
  it('are counted under the names of istiod', async () => {
    const registry = new Registry();
    const writes = new WebhookWrites(registry);
    writes.count('MutatingWebhookConfiguration', 'injector', undefined);
    writes.count('MutatingWebhookConfiguration', 'injector', 'Forbidden');
    writes.count('ValidatingWebhookConfiguration', 'validator', undefined);
    writes.count('ValidatingWebhookConfiguration', 'validator', 'Conflict');
    writes.count('ConfigMap', 'roots', undefined);
    const text = await registry.metrics();
    for (const line of [
      'webhook_patch_attempts_total{name="injector"} 2',
      'webhook_patch_retries_total{name="injector"} 1',
      'webhook_patch_failures_total{name="injector",reason="webhook_update_failure"} 1',
      'galley_validation_config_updates 1',
      'galley_validation_config_update_error{reason="Conflict"} 1',
    ]) {
      expect(text).toContain(line);
    }
  });
});
