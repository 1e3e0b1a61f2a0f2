// Arbitrary Kubernetes objects: services of every sort, and what stands behind them.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import { all, ip, labels, NAMES, name, namespace, object, PORTS, type Shape, some, type Value } from './pools.ts';

const servicePorts: Value = fc
  .subarray([...PORTS], { minLength: 1 })
  .chain(ports => fc.tuple(...ports.map(servicePort)).map(found => found as Json));

function servicePort(port: (typeof PORTS)[number]): Shape {
  const fixed: JsonObject = { ...port };
  const varied = some({
    targetPort: fc.constantFrom<Json>(8080, 'app', port.port),
    appProtocol: fc.constantFrom('http', 'kubernetes.io/h2c', 'tcp', 'grpc', 'redis', 'nonsense'),
    protocol: fc.constantFrom('TCP', 'TCP', 'UDP'),
  });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(fixed) },
    { weight: 1, arbitrary: varied.map(v => ({ ...fixed, ...v })) },
  );
}

const clusterAddresses: Shape = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 5 }).map(n => ({ clusterIP: `10.96.0.${n + 1}` })) },
  { weight: 3, arbitrary: fc.constant({ clusterIP: 'None' }) },
  { weight: 1, arbitrary: fc.constant({ clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9', 'fd00::9'] }) },
);

const service: Shape = object(
  'v1',
  'Service',
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(
          clusterAddresses,
          all({ ports: servicePorts, selector: all({ app: name }) }),
          some({
            type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
            externalIPs: fc.constant<Json>(['192.0.2.7']),
            publishNotReadyAddresses: fc.boolean(),
            trafficDistribution: fc.constantFrom('PreferClose', 'PreferSameNode'),
            sessionAffinity: fc.constantFrom('ClientIP', 'None'),
          }),
        )
        .map(([addresses, spec, more]): JsonObject => ({ spec: { ...addresses, ...spec, ...more } })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('api.example.com', 'alpha.prod.svc.cluster.local').map(
        (externalName): JsonObject => ({
          spec: { type: 'ExternalName', externalName, ports: [{ name: 'http', port: 80 }] },
        }),
      ),
    },
  ),
  {
    annotations: some({
      'networking.istio.io/exportTo': fc.constantFrom('.', '*', 'test', '~'),
      'alpha.istio.io/kubernetes-serviceaccounts': fc.constant('first,second'),
    }),
  },
);

const endpoint: Shape = fc
  .tuple(
    ip,
    some({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }),
    fc.option(name),
    some({ zone: fc.constantFrom('r1-a', 'r2-a'), nodeName: fc.constantFrom('node-a', 'node-b'), hostname: name }),
    namespace,
  )
  .map(
    ([address, conditions, pod, more, ns]): JsonObject => ({
      addresses: [address],
      conditions,
      ...more,
      ...(pod === null ? {} : { targetRef: { kind: 'Pod', name: pod, namespace: ns } }),
    }),
  );

const endpointSlice: Shape = fc
  .tuple(name, namespace, fc.subarray([...PORTS], { minLength: 1 }), fc.array(endpoint, { maxLength: 4 }), fc.boolean())
  .map(
    ([n, ns, ports, endpoints, second]): JsonObject => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${n}-${second ? 'more' : 'slice'}`,
        namespace: ns,
        labels: { 'kubernetes.io/service-name': n },
      },
      addressType: 'IPv4',
      ports: ports.map(port => ({ ...port, protocol: 'TCP' })),
      endpoints,
    }),
  );

const endpoints: Shape = object(
  'v1',
  'Endpoints',
  fc
    .tuple(fc.subarray([...PORTS], { minLength: 1 }), fc.array(ip, { minLength: 1, maxLength: 3 }))
    .map(([ports, ips]): JsonObject => ({ subsets: [{ addresses: ips.map(i => ({ ip: i })), ports: [...ports] }] })),
);

const pod: Shape = object(
  'v1',
  'Pod',
  fc.tuple(ip, fc.constantFrom('node-a', 'node-b'), fc.boolean(), fc.constantFrom('default', 'robot')).map(
    ([podIP, nodeName, ready, serviceAccountName]): JsonObject => ({
      spec: {
        nodeName,
        serviceAccountName,
        containers: [{ name: 'app', ports: [{ name: 'app', containerPort: 8080 }] }],
      },
      status: {
        phase: 'Running',
        podIP,
        podIPs: [{ ip: podIP }],
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      },
    }),
  ),
  {
    labels: fc
      .tuple(
        labels,
        some({ 'security.istio.io/tlsMode': fc.constant('istio'), 'istio-locality': fc.constant('r1.r1-b') }),
      )
      .map(([found, more]): JsonObject => ({ ...found, ...more })),
    annotations: some({
      'proxy.istio.io/config': fc.constantFrom('concurrency: 3', 'holdApplicationUntilProxyStarts: true', '{'),
    }),
  },
);

const node: Shape = fc.tuple(fc.constantFrom('node-a', 'node-b'), fc.constantFrom('r1', 'r2')).map(
  ([n, region]): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: n,
      labels: { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': `${region}-a` },
    },
  }),
);

const namespaceObject: Shape = fc
  .tuple(
    namespace,
    some({ 'topology.istio.io/network': fc.constantFrom('n1', 'n2'), 'istio-injection': fc.constant('enabled') }),
  )
  .map(([n, found]): JsonObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: n, labels: found } }));

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const secret: Shape = object(
  'v1',
  'Secret',
  fc.constantFrom<JsonObject>(
    { type: 'kubernetes.io/tls', data: { 'tls.crt': btoa(PEM), 'tls.key': btoa(PEM) } },
    { type: 'Opaque', data: { cert: btoa(PEM), key: btoa(PEM), cacert: btoa(PEM) } },
  ),
  { name: fc.constantFrom(...NAMES, 'credential', 'credential-cacert') },
);

export const kubernetesObject: Shape = fc.oneof(
  { weight: 6, arbitrary: service },
  { weight: 7, arbitrary: endpointSlice },
  { weight: 5, arbitrary: pod },
  { weight: 1, arbitrary: endpoints },
  { weight: 1, arbitrary: node },
  { weight: 1, arbitrary: namespaceObject },
  { weight: 1, arbitrary: secret },
);
