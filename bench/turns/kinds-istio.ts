// Istio's kinds as cases (kinds.ts). The proxies of the mesh are those of mesh.ts: sidecars `app: p` and `app: q`, a
// router `istio: ingressgateway`, a waypoint `w`, the Service `s`, all in namespace `a`.

import type { JsonObject } from '../../src/core/base/json.ts';
import { istioConstraints } from '../../src/core/schema/istio-constraints.gen.ts';
import type { Elements } from './grow.ts';
import type { KindCase } from './kinds.ts';

const P: JsonObject = { matchLabels: { app: 'p' } };
const JWKS = '{"keys":[{"kty":"oct","k":"AAAA"}]}';
const FILES: JsonObject = { serverCertificate: '/c%.pem', privateKey: '/k%.pem' };
const CERTIFICATE: JsonObject = { mode: 'SIMPLE', serverCertificate: '/c.pem', privateKey: '/k.pem' };
const route = [{ destination: { host: 's' }, weight: 1 }];
const common: Elements = {
  matchLabels: 'v%',
  targetRefs: { group: '', kind: 'Service', name: 's%' },
  targetRef: { group: '', kind: 'Service', name: 's' },
  tls: { mode: 'SIMPLE' },
};

function istio(kind: string, group: string, spec: JsonObject, more: Partial<KindCase> = {}, version = 'v1'): KindCase {
  return {
    kind,
    object: { apiVersion: `${group}.istio.io/${version}`, kind, spec },
    constraint: { type: 'object', properties: { spec: istioConstraints[kind]!.spec } },
    ...more,
    elements: { ...common, ...more.elements },
  };
}

const trafficElements: Elements = {
  portLevelSettings: { port: { number: '%port' }, tls: { mode: 'SIMPLE' } },
  trafficPolicy: {},
  connectionPool: {},
  loadBalancer: { simple: 'ROUND_ROBIN' },
  localityLbSetting: {},
  distribute: { from: 'r%/*', to: { 'r1/*': 100 } },
  'to{}': 'r%/z',
  to: 1,
  failover: { from: 'r%', to: 'q%' },
  consistentHash: {},
  httpCookie: { name: 'x', ttl: '1s' },
  attributes: { name: 'a%', value: 'v' },
  tunnel: { targetHost: 's', targetPort: 80 },
};

export const istioKinds: readonly KindCase[] = [
  istio(
    'VirtualService',
    'networking',
    {
      hosts: ['s', '*.w.example.com', 'h%.example.com'],
      gateways: ['mesh', 'a/gw'],
      http: [{ match: [{ uri: { prefix: '/p%' } }], route }],
    },
    {
      exclusive: [['route', 'redirect', 'directResponse', 'delegate']],
      elements: {
        tcp: { match: [{ port: '%port' }], route },
        tls: { match: [{ port: 443, sniHosts: ['h%.w.example.com'] }], route },
        sniHosts: 'h%.w.example.com',
        'tls.match': { port: '%port', sniHosts: ['h%.w.example.com'] },
        'tcp.match': { port: '%port' },
        match: { uri: { prefix: '/p%' } },
        route: { destination: { host: 'd%.example.com' }, weight: 1 },
        mirrors: { destination: { host: 's', subset: 'v%' }, percentage: { value: 1 } },
        mirror: { host: 's' },
        'match.headers': { exact: 'v%' },
        headers: {},
        request: {},
        response: {},
        withoutHeaders: { exact: 'v%' },
        queryParams: { exact: 'v%' },
        allowOrigins: { exact: 'https://o%.example.com' },
        delegate: { name: 'd%', namespace: 'a' },
        directResponse: { status: 200, body: { string: 'x' } },
        redirect: { uri: '/x' },
        fault: { abort: { httpStatus: 500, percentage: { value: 1 } } },
        gateways: 'a/g%',
        destinationSubnets: '%ip/32',
      },
    },
  ),
  istio(
    'DestinationRule',
    'networking',
    {
      host: 's',
      trafficPolicy: { connectionPool: { tcp: { maxConnections: 9 } } },
      subsets: [{ name: 'v%', labels: { v: 'v%' } }],
    },
    { elements: trafficElements },
  ),
  istio(
    'ServiceEntry',
    'networking',
    {
      hosts: ['h%.example.com'],
      ports: [{ number: '%port', name: 'http-%', protocol: 'HTTP' }],
      resolution: 'STATIC',
      location: 'MESH_INTERNAL',
      endpoints: [{ address: '%ip', labels: { app: 'p' } }],
    },
    { elements: { 'endpoints.ports': '%port', 'endpoints.ports{}': 'http-%' } },
  ),
  istio(
    'Gateway',
    'networking',
    {
      selector: { istio: 'ingressgateway' },
      servers: [
        { port: { number: '%port', name: 'https-%', protocol: 'HTTPS' }, hosts: ['h%.example.com'], tls: CERTIFICATE },
      ],
    },
    { elements: { tlsCertificates: FILES } },
  ),
  istio(
    'Sidecar',
    'networking',
    {
      workloadSelector: { labels: { app: 'p' } },
      egress: [{ hosts: ['./*', 'a/h%.example.com'] }],
      ingress: [{ port: { number: '%port', name: 'http-%', protocol: 'HTTP' }, defaultEndpoint: '127.0.0.1:8080' }],
    },
    {
      elements: {
        'ingress.tls': CERTIFICATE,
        tlsCertificates: FILES,
        egress: { port: { number: '%port', name: 'http-%', protocol: 'HTTP' }, hosts: ['./s'] },
      },
    },
  ),
  istio(
    'EnvoyFilter',
    'networking',
    {
      configPatches: [
        {
          applyTo: 'CLUSTER',
          match: { context: 'ANY' },
          patch: { operation: 'MERGE', value: { metadata: { filter_metadata: { x: { 'k%': 'v' } } } } },
        },
      ],
    },
    { elements: { workloadSelector: { labels: { app: 'p' } } } },
    'v1alpha3',
  ),
  istio(
    'WorkloadEntry',
    'networking',
    { address: '%ip', labels: { app: 'p' }, serviceAccount: 'p' },
    {
      elements: { ports: '%port', 'ports{}': 'http-%' },
    },
  ),
  istio(
    'WorkloadGroup',
    'networking',
    { metadata: { labels: { app: 'p' } }, template: { ports: { http: 80 } } },
    {
      elements: { 'ports{}': 'http-%', ports: '%port' },
    },
  ),
  istio('ProxyConfig', 'networking', { selector: P, environmentVariables: { 'K%': 'v' } }, {}, 'v1beta1'),
  istio(
    'AuthorizationPolicy',
    'security',
    { selector: P, action: 'ALLOW', rules: [{ to: [{ operation: { paths: ['/p%'] } }] }] },
    {
      elements: {
        rules: { to: [{ operation: { paths: ['/p%'] } }] },
        from: { source: { namespaces: ['n%'] } },
        to: { operation: { paths: ['/p%'] } },
        when: { key: 'request.headers[h%]', values: ['v'] },
        values: 'v%',
        source: {},
        operation: {},
      },
    },
  ),
  istio(
    'PeerAuthentication',
    'security',
    { selector: P, mtls: { mode: 'STRICT' } },
    {
      elements: { portLevelMtls: { mode: 'PERMISSIVE' }, 'portLevelMtls{}': '%port' },
    },
  ),
  istio(
    'RequestAuthentication',
    'security',
    { selector: P, jwtRules: [{ issuer: 'i%.example.com', jwks: JWKS }] },
    {
      elements: {
        fromHeaders: { name: 'x-h%' },
        outputClaimToHeaders: { header: 'x-h%', claim: 'c%' },
      },
    },
  ),
  istio(
    'Telemetry',
    'telemetry',
    {
      selector: P,
      accessLogging: [{ providers: [{ name: 'envoy' }], filter: { expression: 'response.code >= %' } }],
      metrics: [{ providers: [{ name: 'prometheus' }], overrides: [{ tagOverrides: { 't%': { value: "'v%'" } } }] }],
    },
    {
      elements: {
        providers: { name: 'p%' },
        tracing: { randomSamplingPercentage: 1, customTags: { 't%': { literal: { value: 'v' } } } },
        customTags: { literal: { value: 'v%' } },
        overrides: { match: { metric: 'REQUEST_COUNT' }, tagOverrides: { 't%': { value: "'v%'" } } },
        tagOverrides: { value: "'v%'" },
      },
    },
  ),
  istio(
    'WasmPlugin',
    'extensions',
    { selector: P, url: 'oci://example.com/x:1', pluginConfig: { 'k%': 'v' } },
    {
      elements: {
        match: { mode: 'SERVER', ports: [{ number: '%port' }] },
        ports: { number: '%port' },
        env: { name: 'E%', value: 'v' },
      },
    },
    'v1alpha1',
  ),
  istio(
    'TrafficExtension',
    'extensions',
    { selector: P, wasm: { url: 'oci://example.com/x:1', pluginConfig: { 'k%': 'v' } } },
    {
      elements: {
        lua: { inlineCode: 'function envoy_on_request(handle) end' },
        match: { mode: 'SERVER', ports: [{ number: '%port' }] },
        ports: { number: '%port' },
        env: { name: 'E%', value: 'v' },
      },
    },
    'v1alpha1',
  ),
];
