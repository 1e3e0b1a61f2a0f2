// Objects whose one list, map or text grows: what a cost may grow with, for each kind and field that has such a part.

import type { JsonObject } from '../src/core/base/json.ts';

export interface GrowthCase {
  readonly name: string;
  /** The first size; the others are twice and four times it. */
  readonly size: number;
  readonly objects: (size: number) => readonly JsonObject[];
}

const NETWORKING = 'networking.istio.io/v1';
const meta = (name: string, more: JsonObject = {}): JsonObject => ({ name, namespace: 'a', ...more });
const list = <T>(size: number, of: (i: number) => T): readonly T[] => Array.from({ length: size }, (_, i) => of(i));
const map = (size: number, value: JsonObject | string): JsonObject =>
  Object.fromEntries(list(size, i => [`k${i}`, value]));
const route = (host: string): readonly JsonObject[] => [{ destination: { host } }];
const service = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta('s', more),
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }], ...spec },
});
const istio = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: kind === 'AuthorizationPolicy' ? 'security.istio.io/v1' : NETWORKING,
  kind,
  metadata: meta(name),
  spec,
});
const withRoutes = (spec: JsonObject): readonly JsonObject[] => [
  service({}),
  istio('VirtualService', 'v', { hosts: ['s'], http: [{ route: route('s') }], ...spec }),
];
const slice = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: meta(name, { labels: { 'kubernetes.io/service-name': 's' } }),
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080 }],
  ...spec,
});
const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

function virtualServices(): readonly GrowthCase[] {
  const cases: readonly GrowthCase[] = [
    { name: 'hosts', size: 4_000, objects: n => withRoutes({ hosts: list(n, i => `h${i}.example.com`) }) },
    { name: 'wildcard hosts', size: 4_000, objects: n => withRoutes({ hosts: list(n, i => `*.h${i}.example.com`) }) },
    {
      name: 'routes',
      size: 2_000,
      objects: n => withRoutes({ http: list(n, i => ({ match: [{ uri: { prefix: `/p${i}` } }], route: route('s') })) }),
    },
    {
      name: 'matches',
      size: 4_000,
      objects: n => withRoutes({ http: [{ match: list(n, i => ({ uri: { prefix: `/p${i}` } })), route: route('s') }] }),
    },
    {
      name: 'destinations',
      size: 2_000,
      objects: n =>
        withRoutes({ http: [{ route: list(n, i => ({ destination: { host: `d${i}.x.com` }, weight: 1 })) }] }),
    },
    {
      name: 'header matches',
      size: 4_000,
      objects: n => withRoutes({ http: [{ match: [{ headers: map(n, { exact: 'x' }) }], route: route('s') }] }),
    },
    {
      name: 'TLS routes',
      size: 2_000,
      objects: n =>
        withRoutes({
          hosts: list(n, i => `h${i}.example.com`),
          tls: list(n, i => ({ match: [{ port: 443, sniHosts: [`h${i}.example.com`] }], route: route('s') })),
        }),
    },
    {
      name: 'delegates',
      size: 500,
      objects: n => [
        ...withRoutes({
          http: list(n, i => ({ match: [{ uri: { prefix: `/p${i}` } }], delegate: { name: `d${i}` } })),
        }),
        ...list(n, i => istio('VirtualService', `d${i}`, { http: [{ route: route('s') }] })),
      ],
    },
  ];
  return cases.map(found => ({ ...found, name: `VirtualService, ${found.name}` }));
}

function others(): readonly GrowthCase[] {
  return [
    {
      name: 'VirtualServices',
      size: 500,
      objects: n =>
        list(n, i => istio('VirtualService', `v${i}`, { hosts: [`h${i}.example.com`], http: [{ route: route('s') }] })),
    },
    {
      name: 'Service, ports',
      size: 500,
      objects: n => [service({ ports: list(n, i => ({ name: `http-${i}`, port: 1_000 + i })) })],
    },
    {
      name: 'Service, wrong ports',
      size: 2_000,
      objects: n => [service({ ports: list(n, i => ({ name: `p${i}`, port: 99_999 })) })],
    },
    { name: 'Service, selector', size: 2_000, objects: n => [service({ selector: map(n, 'v') })] },
    { name: 'Service, annotations', size: 4_000, objects: n => [service({}, { annotations: map(n, 'v') })] },
    {
      name: 'EndpointSlice, endpoints',
      size: 250,
      objects: n => [service({}), slice('s-1', { endpoints: list(n, i => ({ addresses: [address(i)] })) })],
    },
    {
      name: 'EndpointSlices of a service',
      size: 250,
      objects: n => [service({}), ...list(n, i => slice(`s-${i}`, { endpoints: [{ addresses: [address(i)] }] }))],
    },
    {
      name: 'DestinationRule, subsets',
      size: 500,
      objects: n => [
        service({}),
        istio('DestinationRule', 'd', {
          host: 's',
          subsets: list(n, i => ({ name: `v${i}`, labels: { v: `v${i}` } })),
        }),
      ],
    },
    {
      name: 'Sidecar, hosts',
      size: 2_000,
      objects: n => [
        service({}),
        istio('Sidecar', 'default', { egress: [{ hosts: list(n, i => `a/h${i}.example.com`) }] }),
      ],
    },
    {
      name: 'AuthorizationPolicy, paths',
      size: 4_000,
      objects: n => [
        service({}),
        istio('AuthorizationPolicy', 'p', { rules: [{ to: [{ operation: { paths: list(n, i => `/p${i}`) } }] }] }),
      ],
    },
    {
      name: 'ConfigMap, keys',
      size: 4_000,
      objects: n => [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('c'), data: map(n, 'v') }],
    },
  ];
}

/** Objects of one kind beside as many of another that they have nothing to do with. */
function crossed(): readonly GrowthCase[] {
  const services = (n: number, specOf: (i: number) => JsonObject): readonly JsonObject[] =>
    list(n, i => ({ ...service({ clusterIP: address(i), ...specOf(i) }), metadata: meta(`s${i}`) }));
  const wildcards = (n: number, rules: JsonObject): readonly JsonObject[] =>
    list(n, i => istio('VirtualService', `v${i}`, { hosts: [`*.h${i}.cluster.local`], ...rules }));
  const entry = (i: number, labels: JsonObject): JsonObject =>
    istio('ServiceEntry', `e${i}`, {
      hosts: [`e${i}.example.com`],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'STATIC',
      workloadSelector: { labels },
    });
  const machine = (i: number): JsonObject =>
    istio('WorkloadEntry', `m${i}`, { address: address(i), labels: { app: 'vm' } });
  return [
    {
      name: 'services with a port of their own',
      size: 1_000,
      objects: n => services(n, i => ({ ports: [{ name: 'http', port: 1_000 + i }] })),
    },
    {
      name: 'wildcards of VirtualServices beside services',
      size: 400,
      objects: n => [...services(n, () => ({})), ...wildcards(n, { http: [{ route: route('s0') }] })],
    },
    {
      name: 'TCP rules of VirtualServices beside services',
      size: 400,
      objects: n => [
        ...services(n, () => ({ ports: [{ name: 'tcp', port: 5_000 }] })),
        ...wildcards(n, { tcp: [{ route: route('s0') }] }),
      ],
    },
    {
      name: 'WorkloadEntries beside services that select others',
      size: 400,
      objects: n => [...services(n, i => ({ selector: { app: 'vm', [`k${i}`]: 'v' } })), ...list(n, machine)],
    },
    {
      name: 'WorkloadEntries beside ServiceEntries that select others',
      size: 400,
      objects: n => [...list(n, i => entry(i, { app: 'vm', [`k${i}`]: 'v' })), ...list(n, machine)],
    },
  ];
}

export const growthCases: readonly GrowthCase[] = [...virtualServices(), ...others(), ...crossed()];
