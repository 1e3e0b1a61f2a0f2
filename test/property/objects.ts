// Arbitrary worlds: small pools of names, so that objects collide, refer to each other, and to things that do not exist.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/core/json.ts';

const NAMESPACES = ['istio-system', 'prod', 'test'];
const NAMES = ['alpha', 'beta', 'gamma'];
const PORTS = [
  { name: 'http', port: 80 },
  { name: 'tcp-db', port: 5432 },
  { name: 'grpc', port: 7070 },
  { name: 'plain', port: 9000 },
];

const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom(...NAMES);
const host = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(name, namespace).map(([n, ns]) => `${n}.${ns}.svc.cluster.local`) },
  { weight: 2, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom('api.example.com', '*.example.com', 'nowhere.example.org') },
);
const subset = fc.constantFrom('v1', 'v2', 'none');
const ip = fc.nat({ max: 11 }).map(n => `10.1.0.${n + 1}`);
const exportTo = fc.constantFrom<Json | undefined>(undefined, undefined, ['.'], ['*'], ['test']);

/** Sorted out of the few instants that make ties common; sometimes none at all. */
const creationTimestamp = fc.constantFrom<string | undefined>(
  undefined,
  '2026-01-01T00:00:00Z',
  '2026-01-02T00:00:00Z',
);

function object(
  apiVersion: string,
  kind: string,
  rest: fc.Arbitrary<JsonObject>,
  labels?: fc.Arbitrary<JsonObject>,
): fc.Arbitrary<JsonObject> {
  const metadata = fc.record({ name, namespace, creationTimestamp, labels: labels ?? fc.constant({}) });
  return fc.tuple(metadata, rest).map(([meta, body]) => ({ apiVersion, kind, metadata: meta as JsonObject, ...body }));
}

function istio(group: string, kind: string, spec: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return object(
    `${group}.istio.io/v1`,
    kind,
    spec.map(value => ({ spec: value })),
  );
}

const workloadLabels = fc.record({ app: name, version: fc.constantFrom('v1', 'v2') });

const service = object(
  'v1',
  'Service',
  fc
    .record({
      clusterIP: fc.oneof(
        fc.nat({ max: 5 }).map(n => `10.96.0.${n + 1}`),
        fc.constant('None'),
      ),
      ports: fc.subarray(PORTS, { minLength: 1 }),
      selector: fc.record({ app: name }),
    })
    .map(spec => ({ spec: spec as JsonObject })),
);

const endpointSlice = fc
  .tuple(
    name,
    namespace,
    fc.subarray(PORTS, { minLength: 1 }),
    fc.array(fc.tuple(ip, fc.boolean(), fc.option(name)), { maxLength: 4 }),
  )
  .map(
    ([n, ns, ports, endpoints]): JsonObject => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${n}-slice`, namespace: ns, labels: { 'kubernetes.io/service-name': n } },
      addressType: 'IPv4',
      ports: ports.map(port => ({ ...port, protocol: 'TCP' })),
      endpoints: endpoints.map(([address, ready, pod]) => ({
        addresses: [address],
        conditions: { ready },
        ...(pod === null ? {} : { targetRef: { kind: 'Pod', name: pod, namespace: ns } }),
      })),
    }),
  );

const pod = object(
  'v1',
  'Pod',
  fc.tuple(ip, fc.constantFrom('node-a', 'node-b')).map(([podIP, nodeName]) => ({
    spec: { nodeName, serviceAccountName: 'default', containers: [{ name: 'app', ports: [{ containerPort: 8080 }] }] },
    status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions: [{ type: 'Ready', status: 'True' }] },
  })),
  workloadLabels as fc.Arbitrary<JsonObject>,
);

const node = fc.constantFrom('node-a', 'node-b').chain(n =>
  fc.constantFrom('r1', 'r2').map(
    (region): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: n,
        labels: { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': `${region}-a` },
      },
    }),
  ),
);

const destination = fc.record(
  { host, subset, port: fc.constantFrom(...PORTS).map(({ port }) => ({ number: port })) },
  { requiredKeys: ['host'] },
);
const weighted = fc.tuple(destination, destination, fc.integer({ min: 1, max: 99 })).map(
  ([a, b, weight]): Json => [
    { destination: a as JsonObject, weight },
    { destination: b as JsonObject, weight: 100 - weight },
  ],
);
const match = fc.constantFrom<Json>(
  [{ uri: { prefix: '/api' } }],
  [{ uri: { exact: '/one' } }, { headers: { 'x-user': { exact: 'jason' } } }],
  [{ port: 80 }],
);
const virtualService = istio(
  'networking',
  'VirtualService',
  fc
    .record({
      hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
      gateways: fc.constantFrom<Json | undefined>(undefined, ['mesh'], ['istio-system/alpha', 'mesh']),
      exportTo,
      http: fc.array(
        fc.record({
          match: fc.option(match, { nil: undefined }),
          route: fc.oneof(
            weighted,
            destination.map((d): Json => [{ destination: d as JsonObject }]),
          ),
          timeout: fc.constantFrom(undefined, '5s'),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    })
    .map(spec => spec as unknown as JsonObject),
);

const destinationRule = istio(
  'networking',
  'DestinationRule',
  fc
    .record({
      host,
      exportTo,
      trafficPolicy: fc.constantFrom<Json | undefined>(
        undefined,
        { loadBalancer: { simple: 'RANDOM' } },
        { tls: { mode: 'DISABLE' } },
        { outlierDetection: { consecutive5xxErrors: 3 } },
        { connectionPool: { tcp: { maxConnections: 7 } } },
      ),
      subsets: fc.constantFrom<Json | undefined>(undefined, [
        { name: 'v1', labels: { version: 'v1' } },
        { name: 'v2', labels: { version: 'v2' } },
      ]),
    })
    .map(spec => spec as unknown as JsonObject),
);

const serviceEntry = istio(
  'networking',
  'ServiceEntry',
  fc
    .record({
      hosts: fc.constantFrom<Json>(['api.example.com'], ['*.example.com'], ['alpha.prod.svc.cluster.local']),
      ports: fc.constantFrom<Json>(
        [{ number: 80, name: 'http', protocol: 'HTTP' }],
        [{ number: 443, name: 'tls', protocol: 'TLS' }],
      ),
      resolution: fc.constantFrom('STATIC', 'NONE'),
      endpoints: fc.constantFrom<Json | undefined>(undefined, [{ address: '10.9.0.1' }]),
      exportTo,
    })
    .map(spec => (spec.resolution === 'NONE' ? { ...spec, endpoints: undefined } : spec) as unknown as JsonObject),
);

const sidecar = istio(
  'networking',
  'Sidecar',
  fc
    .record({
      egress: fc.constantFrom<Json>(
        [{ hosts: ['./*'] }],
        [{ hosts: ['*/*'] }],
        [{ hosts: ['prod/*', 'istio-system/*'] }],
      ),
      workloadSelector: fc.constantFrom<Json | undefined>(undefined, { labels: { app: 'alpha' } }),
    })
    .map(spec => spec as unknown as JsonObject),
);

const gateway = istio(
  'networking',
  'Gateway',
  fc
    .record({
      selector: fc.constant({ istio: 'ingressgateway' }),
      servers: fc.constantFrom<Json>(
        [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
        [{ port: { number: 8080, name: 'http-alt', protocol: 'HTTP' }, hosts: ['api.example.com', 'prod/*'] }],
      ),
    })
    .map(spec => spec as unknown as JsonObject),
);

const peerAuthentication = istio(
  'security',
  'PeerAuthentication',
  fc
    .record({
      mtls: fc.constantFrom('STRICT', 'PERMISSIVE', 'DISABLE').map(mode => ({ mode })),
      selector: fc.constantFrom<Json | undefined>(undefined, { matchLabels: { app: 'alpha' } }),
    })
    .map(spec => spec as unknown as JsonObject),
);

/** What no validator lets pass. */
const invalid = fc
  .tuple(
    fc.constantFrom('VirtualService', 'DestinationRule', 'ServiceEntry', 'Gateway'),
    namespace,
    name,
    fc.jsonValue(),
  )
  .map(
    ([kind, ns, n, junk]): JsonObject => ({
      apiVersion: 'networking.istio.io/v1',
      kind,
      metadata: { name: n, namespace: ns },
      spec: { hosts: [], junk: junk as Json },
    }),
  );

/** Any object that Periplus knows, mostly valid. */
export const anyObject: fc.Arbitrary<JsonObject> = fc
  .oneof(
    { weight: 5, arbitrary: service },
    { weight: 6, arbitrary: endpointSlice },
    { weight: 4, arbitrary: pod },
    { weight: 1, arbitrary: node },
    { weight: 6, arbitrary: virtualService },
    { weight: 5, arbitrary: destinationRule },
    { weight: 3, arbitrary: serviceEntry },
    { weight: 2, arbitrary: sidecar },
    { weight: 2, arbitrary: gateway },
    { weight: 2, arbitrary: peerAuthentication },
    { weight: 1, arbitrary: invalid },
  )
  .map(withoutUndefined);

function withoutUndefined(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
