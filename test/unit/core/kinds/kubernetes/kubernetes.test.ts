// The kinds of Kubernetes: the flat form with its defaults, what is refused, what counts as a change, and how they are
// found.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { definitions } from '../../../../../src/core/kinds/registry.ts';
import type { IndexEntries, KindName, KindSpecs } from '../../../../../src/core/model/kind.ts';
import type { Obj } from '../../../../../src/core/model/object.ts';
import { decodedOf, problemsOf } from '../verdict.ts';

const metadata = { name: 'a', namespace: 'prod' };
const of = (kind: KindName, rest: JsonObject): JsonObject => ({
  apiVersion: kind === 'EndpointSlice' ? 'discovery.k8s.io/v1' : 'v1',
  kind,
  metadata,
  ...rest,
});

function indexed<K extends KindName>(
  kind: K,
  spec: KindSpecs[K],
  labels: Readonly<Record<string, string>>,
): IndexEntries {
  const obj: Obj<K> = {
    kind,
    cluster: 'east',
    namespace: 'prod',
    name: 'a',
    labels,
    annotations: {},
    creationTime: 0,
    resourceVersion: '',
    uid: '',
    spec,
  };
  return definitions[kind].indexes(obj);
}

describe('a Service', () => {
  const service = (spec: JsonObject): JsonObject => of('Service', { spec });

  test('has the defaults of the API server', () => {
    expect(decodedOf('Service', service({ ports: [{ port: 80 }] }))).toEqual({
      type: 'ClusterIP',
      clusterIP: '',
      clusterIPs: [],
      ports: [{ name: '', protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: {},
      externalName: '',
      externalIPs: [],
      internalTrafficPolicy: 'Cluster',
      publishNotReadyAddresses: false,
      loadBalancerIngress: [],
    });
  });
  test('keeps every field that is read', () => {
    const port = { name: 'http', port: 80, targetPort: 'web', nodePort: 30080, appProtocol: 'kubernetes.io/h2c' };
    const decoded = decodedOf('Service', {
      ...service({
        type: 'LoadBalancer',
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1', 'fd00::1'],
        ports: [port],
        trafficDistribution: 'PreferClose',
      }),
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] }, conditions: [] },
    });
    expect(decoded).toMatchObject({
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1', 'fd00::1'],
      ports: [{ ...port, protocol: 'TCP' }],
      trafficDistribution: 'PreferClose',
      loadBalancerIngress: [{ ip: '1.2.3.4' }],
    });
  });
  test.each<[JsonObject, readonly string[]]>([
    [{ ports: [{ port: 99999 }] }, ['spec.ports[0].port: 99999 is not a port: expected a number from 1 to 65535']],
    [{ ports: [{}] }, ['spec.ports[0].port: is missing; expected a port from 1 to 65535']],
    [{ ports: [{ port: 'http' }] }, ['spec.ports[0].port: expected an integer, found the string "http"']],
    [{ ports: [{ port: '80' }] }, ['spec.ports[0].port: expected an integer, found the string "80"']],
    [{ ports: [{ port: 80, nodePort: '1' }] }, ['spec.ports[0].nodePort: expected an integer, found the string "1"']],
    [{ ports: [{ port: 80.5 }] }, ['spec.ports[0].port: expected an integer, found 80.5']],
    [
      { ports: [{ port: 80 }, { port: 80, name: 'b' }] },
      [
        'spec.ports[0].name: is missing; a Service with several ports must name each',
        'spec.ports[1].port: TCP/80 is an earlier port too',
      ],
    ],
    [
      { ports: [{ port: 80, targetPort: 'not a port' }] },
      [
        'spec.ports[0].targetPort: "not a port" is not a target port: expected a number from 1 to 65535 or the name of a port',
      ],
    ],
    [{ clusterIP: '10.0.0' }, ['spec.clusterIP: "10.0.0" is not an IP address']],
    [
      { type: 'External' },
      [
        'spec.type: "External" is not a type of Service: expected one of ClusterIP, NodePort, LoadBalancer, ExternalName',
      ],
    ],
    [{ type: 'ExternalName' }, ['spec.externalName: "" is not a host name; type ExternalName needs one']],
  ])('with %j is refused', (spec, problems) => {
    expect(problemsOf(service(spec))).toEqual(problems);
  });
  test('with dots in its name is refused', () => {
    expect(problemsOf({ ...service({}), metadata: { name: 'a.b' } })).toEqual([
      'metadata.name: "a.b" is not the name of a Service: it becomes a host name and has no dots',
    ]);
  });
  test('is unchanged if only an unread field differs', () => {
    const project = definitions.Service.project;
    const before = service({ ports: [{ port: 80 }] });
    expect(project({ ...before, spec: { ports: [{ port: 80 }], sessionAffinity: 'None' } })).toEqual(project(before));
    const ingress = { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } };
    expect(project({ ...before, ...ingress })).not.toEqual(project(before));
  });
});

describe('a Pod', () => {
  const pod = of('Pod', {
    metadata: {
      ...metadata,
      generateName: 'a-',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true }],
      annotations: { 'ambient.istio.io/redirection': 'enabled', 'prometheus.io/scrape': 'true' },
    },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'x', ports: [{ name: 'http', containerPort: 8080 }] }],
      initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
      tolerations: [],
    },
    status: {
      phase: 'Running',
      podIP: '10.1.0.1',
      podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }],
      conditions: [
        { type: 'Initialized', status: 'True' },
        { type: 'Ready', status: 'True', lastProbeTime: null },
      ],
      containerStatuses: [{ ready: true }],
    },
  });

  test('keeps the fields that Istio reads', () => {
    expect(decodedOf('Pod', pod)).toEqual({
      generateName: 'a-',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', controller: true }],
      serviceAccountName: 'default',
      nodeName: 'n1',
      hostname: '',
      subdomain: '',
      hostNetwork: false,
      containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      initContainers: [{ name: 'proxy', ports: [], restartPolicy: 'Always' }],
      phase: 'Running',
      podIP: '10.1.0.1',
      podIPs: ['10.1.0.1', 'fd00::1'],
      conditions: [{ type: 'Ready', status: 'True' }],
    });
  });
  test('is projected to these fields, without those that change by themselves', () => {
    expect(definitions.Pod.project(pod)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...metadata,
        generateName: 'a-',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true }],
        annotations: { 'ambient.istio.io/redirection': 'enabled' },
      },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080 }] }],
        initContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
      },
      status: {
        phase: 'Running',
        podIP: '10.1.0.1',
        podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }],
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    });
  });
  test('is indexed by each of its addresses and by its node', () => {
    expect(indexed('Pod', decodedOf('Pod', pod), {})).toEqual({
      podsByAddress: ['prod/10.1.0.1', 'prod/fd00::1'],
      podsByIp: ['east/10.1.0.1', 'east/fd00::1'],
      podsByNode: ['east/n1'],
      podsByNamespace: ['prod'],
    });
    expect(indexed('Pod', decodedOf('Pod', of('Pod', {})), {})).toMatchObject({ podsByIp: [], podsByNode: [] });
  });
  test('with an invalid address is refused', () => {
    expect(problemsOf(of('Pod', { status: { podIP: '10.1.0.256' } }))).toEqual([
      'status.podIP: "10.1.0.256" is not an IP address',
    ]);
  });
});

describe('an EndpointSlice', () => {
  const endpoints = [
    { addresses: ['10.1.0.1'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'p', namespace: 'other' } },
    { addresses: ['10.1.0.2'], targetRef: { kind: 'Pod', name: 'q' } },
    { addresses: ['10.1.0.3'], nodeName: 'n', zone: 'z', hints: { forZones: [] } },
  ];
  const slice = of('EndpointSlice', { addressType: 'IPv4', endpoints, ports: [{ name: 'http', port: 8080 }, {}] });

  test('is flattened with every default', () => {
    const none = { hostname: '', nodeName: '', zone: '' };
    expect(decodedOf('EndpointSlice', slice)).toEqual({
      addressType: 'IPv4',
      endpoints: [
        { ...none, addresses: ['10.1.0.1'], conditions: { ready: true }, targetRef: endpoints[0]?.targetRef },
        { ...none, addresses: ['10.1.0.2'], conditions: {}, targetRef: { kind: 'Pod', name: 'q', namespace: 'prod' } },
        { addresses: ['10.1.0.3'], conditions: {}, hostname: '', nodeName: 'n', zone: 'z' },
      ],
      ports: [
        { name: 'http', protocol: 'TCP', port: 8080 },
        { name: '', protocol: 'TCP' },
      ],
    });
  });
  test('is indexed by its Service, its Pods, and addresses without a Pod', () => {
    const labels = { 'kubernetes.io/service-name': 'reviews' };
    expect(indexed('EndpointSlice', decodedOf('EndpointSlice', slice), labels)).toEqual({
      slicesByService: ['east/prod/reviews'],
      slicesByPod: ['east/other/p', 'east/prod/q'],
      slicesByIp: ['east/prod/10.1.0.3'],
    });
  });
  test.each<[JsonObject, string]>([
    [{ endpoints: [] }, 'addressType: is missing; expected IPv4, IPv6 or FQDN'],
    [{ addressType: 'IPv5' }, 'addressType: is "IPv5"; expected IPv4, IPv6 or FQDN'],
    [
      { addressType: 'IPv4', endpoints: [{ addresses: ['fd00::1'] }] },
      'endpoints[0].addresses[0]: "fd00::1" is not of type IPv4',
    ],
    [
      { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.01'] }] },
      'endpoints[0].addresses[0]: "10.0.0.01" is not of type IPv4',
    ],
    [{ addressType: 'IPv4', endpoints: [{}] }, 'endpoints[0].addresses: is empty; expected at least one address'],
    [{ addressType: 'IPv4', ports: [{ port: 0 }] }, 'ports[0].port: 0 is not a port: expected 1 to 65535'],
  ])('with %j is refused: %s', (rest, problem) => {
    expect(problemsOf(of('EndpointSlice', rest))).toEqual([problem]);
  });
});

describe('of the other kinds,', () => {
  test('a Secret merges text into data as bytes', () => {
    const secret = of('Secret', {
      type: 'kubernetes.io/tls',
      data: { b: 'YWJj', a: '' },
      stringData: { b: 'grüß 🌍', c: 'ab' },
    });
    const expected = Buffer.from('grüß 🌍').toString('base64');
    expect(decodedOf('Secret', secret)).toEqual({ type: 'kubernetes.io/tls', data: { a: '', b: expected, c: 'YWI=' } });
    expect(problemsOf(of('Secret', { data: { a: 'not base64!' } }))).toEqual([
      'data[a]: expected base64 text, found the string "not base64!"',
    ]);
  });
  test('a Secret merges text of tens of thousands of values in steps', () => {
    const stringData = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, 'ab']));
    const decoding = definitions.Secret.decoding(of('Secret', { stringData }));
    let steps = 0;
    let step = decoding.next();
    for (; step.done !== true; step = decoding.next()) steps++;
    expect(steps).toBe(2 + 3);
    const { data } = (step.value as { readonly right: KindSpecs['Secret'] }).right;
    expect(Object.keys(data)).toEqual(Object.keys(stringData).sort());
    expect(new Set(Object.values(data))).toEqual(new Set(['YWI=']));
  });
  test('ConfigMap, Namespace and Node keep the fields that are read', () => {
    expect(decodedOf('ConfigMap', of('ConfigMap', { data: { a: 'b' }, binaryData: { c: '' } }))).toEqual({
      data: { a: 'b' },
    });
    expect(decodedOf('Namespace', of('Namespace', { status: { phase: 'Active' } }))).toEqual({});
    const addresses = [{ type: 'InternalIP', address: '172.18.0.2' }];
    expect(decodedOf('Node', of('Node', { status: { addresses, capacity: { cpu: '2' } } }))).toEqual({
      addresses,
      kubeletVersion: '',
    });
    expect(definitions.Node.project(of('Node', { status: { conditions: [{ type: 'Ready' }] } }))).toEqual(
      definitions.Node.project(of('Node', {})),
    );
  });
  test('Endpoints keep addresses and ports', () => {
    const subset = { addresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'p' } }], ports: [{ port: 80 }] };
    expect(decodedOf('Endpoints', of('Endpoints', { subsets: [subset] }))).toEqual({
      subsets: [
        {
          addresses: [
            { ip: '10.0.0.1', hostname: '', nodeName: '', targetRef: { kind: 'Pod', name: 'p', namespace: '' } },
          ],
          notReadyAddresses: [],
          ports: [{ name: '', port: 80, protocol: 'TCP' }],
        },
      ],
    });
    expect(problemsOf(of('Endpoints', { subsets: [{ addresses: [{}], ports: [{ port: 0 }] }] }))).toEqual([
      'subsets[0].addresses[0].ip: "" is not an IP address',
      'subsets[0].ports[0].port: 0 is not a port: expected a number from 1 to 65535',
    ]);
  });
});

// Numbers and booleans as text, which Istio's own kinds may have, are refused by the API server in its own.
test.each<[KindName, JsonObject, string]>([
  [
    'Pod',
    { spec: { containers: [{ name: 'c', ports: [{ containerPort: '80' }] }] } },
    'spec.containers[0].ports[0].containerPort: expected an integer, found the string "80"',
  ],
  [
    'EndpointSlice',
    { addressType: 'IPv4', ports: [{ port: '80' }] },
    'ports[0].port: expected an integer, found the string "80"',
  ],
  [
    'EndpointSlice',
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: 'true' } }] },
    'endpoints[0].conditions.ready: expected true or false, found the string "true"',
  ],
  [
    'Endpoints',
    { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: '80' }] }] },
    'subsets[0].ports[0].port: expected an integer, found the string "80"',
  ],
])('a %s with a number or boolean in place of text is refused with the path', (kind, rest, problem) => {
  expect(problemsOf(of(kind, rest))).toEqual([problem]);
});

describe('addresses times ports', () => {
  const lists = (addresses: number, ports: number) => ({
    ips: Array.from({ length: addresses }, (_, i) => `10.0.${i >> 8}.${i & 255}`),
    ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: i + 1 })),
  });
  const slice = (addresses: number, count: number): JsonObject => {
    const { ips, ports } = lists(addresses, count);
    return of('EndpointSlice', { addressType: 'IPv4', endpoints: ips.map(ip => ({ addresses: [ip] })), ports });
  };
  const endpoints = (addresses: number, count: number): JsonObject => {
    const { ips, ports } = lists(addresses, count);
    const all = ips.map(ip => ({ ip }));
    const half = addresses / 2;
    const subset = { addresses: all.slice(0, half), notReadyAddresses: all.slice(half), ports };
    return of('Endpoints', { subsets: [subset] });
  };

  test.each([
    ['endpoints', slice],
    ['subsets', endpoints],
  ])('of %s are limited', (path, made) => {
    expect(problemsOf(made(1_000, 100))).toEqual([]);
    expect(problemsOf(made(1_000, 101))).toEqual([
      `${path}: addresses times ports come to 101000 endpoints; at most 100000 are allowed`,
    ]);
  });
});

describe('the addresses of a Pod', () => {
  const pod = (podIPs: readonly string[]): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'prod' },
    status: { podIPs: podIPs.map(ip => ({ ip })) },
  });

  test('are one of each IP family and no more, as an API server has it', () => {
    expect(problemsOf(pod(['10.0.0.1', 'fd00::1']))).toEqual([]);
    expect(problemsOf(pod(['10.0.0.1', 'fd00::1', '10.0.0.2']))).toEqual([
      'status.podIPs: has 3 entries; a pod has one address of each IP family',
    ]);
  });
});

describe('the addresses of a Service', () => {
  const service = (clusterIPs: readonly string[]): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'prod' },
    spec: { clusterIPs, ports: [{ port: 80 }] },
  });

  test('are one of each IP family and no more, as an API server has it', () => {
    expect(problemsOf(service(['10.0.0.1', 'fd00::1']))).toEqual([]);
    expect(problemsOf(service(['10.0.0.1', 'fd00::1', 'x']))).toEqual([
      'spec.clusterIPs: has 3 entries; a service has one address of each IP family, so at most 2',
    ]);
  });
  test('lead to no more ports than a slice has', () => {
    const ports = Array.from({ length: 20_001 }, (_, i) => ({ name: `p${i}`, port: i + 1 }));
    const problems = [ports.slice(1), ports].map(some => problemsOf(of('Service', { spec: { ports: some } })));
    expect(problems).toEqual([[], [expect.stringMatching(/^spec\.ports: 20001 are too/)]]);
  });
});
