// The kinds of Kubernetes as cases (kinds.ts). What may grow in them is what stands in the example.

import type { JsonObject } from '../../src/core/base/json.ts';
import { PORTS_MAX } from '../../src/core/kinds/validate/ports.ts';
import type { KindCase } from './kinds.ts';

const APP_P: JsonObject = { app: 'p' };

function core(kind: string, members: JsonObject, more: Partial<KindCase> = {}, apiVersion = 'v1'): KindCase {
  return { kind, object: { apiVersion, kind, ...members }, ...more };
}

const metadataOnly = (kind: string, apiVersion: string, more: Partial<KindCase> = {}): KindCase =>
  core(kind, { spec: { parts: ['x%'], map: { 'k%': 'v' } } }, more, apiVersion);

const webhooks = {
  webhooks: [
    {
      name: 'x%.istio.io',
      admissionReviewVersions: ['v%'],
      clientConfig: { caBundle: 'AAAA', service: { name: 'istiod', namespace: 'istio-system', path: '/inject' } },
      failurePolicy: 'Fail',
      sideEffects: 'None',
      namespaceSelector: {
        matchLabels: { 'l%': 'v' },
        matchExpressions: [{ key: 'k%', operator: 'In', values: ['v%'] }],
      },
      rules: [{ apiGroups: ['g%'], apiVersions: ['v%'], operations: ['O%'], resources: ['r%'] }],
    },
  ],
};

const MESH = `defaultConfig:
  proxyMetadata:
    K%: v
`;

export const kubernetesKinds: readonly KindCase[] = [
  core(
    'Service',
    {
      spec: {
        clusterIP: '%ip',
        clusterIPs: ['%ip'],
        externalIPs: ['%ip'],
        loadBalancerSourceRanges: ['%ip/32'],
        ports: [{ name: 'http-%', port: '%port', targetPort: 8080 }],
        selector: { app: 'p', 'k%': 'v' },
        sessionAffinity: 'None',
      },
      status: { loadBalancer: { ingress: [{ ip: '%ip', hostname: 'h%.example.com' }] } },
    },
    { most: { 'spec.ports': PORTS_MAX } },
  ),
  core(
    'EndpointSlice',
    {
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['%ip'],
          conditions: { ready: true },
          hostname: 'h%',
          nodeName: 'n%',
          zone: 'z%',
          hints: { forZones: [{ name: 'z%' }] },
          deprecatedTopology: { 'k%': 'v' },
          targetRef: { kind: 'Pod', name: 'pod%', namespace: 'a' },
        },
      ],
    },
    {
      labels: { 'kubernetes.io/service-name': 's' },
      elements: { ports: { name: 'p%', port: '%port' }, addresses: '%ip' },
    },
    'discovery.k8s.io/v1',
  ),
  core(
    'Endpoints',
    {
      subsets: [
        {
          addresses: [{ ip: '%ip', nodeName: 'n%' }],
          notReadyAddresses: [{ ip: '%ip' }],
          ports: [{ name: 'http', port: '%port' }],
        },
      ],
    },
    { name: 's' },
  ),
  core(
    'Pod',
    {
      spec: {
        nodeName: 'n1',
        serviceAccountName: 'p',
        containers: [
          {
            name: 'c%',
            image: 'x',
            ports: [{ name: 'http-%', containerPort: '%port' }],
            env: [{ name: 'E%', value: 'v%' }],
            args: ['a%'],
          },
        ],
        initContainers: [{ name: 'i%', image: 'x', ports: [{ containerPort: '%port' }] }],
        volumes: [{ name: 'v%', emptyDir: {} }],
      },
      status: {
        phase: 'Running',
        podIP: '%ip',
        podIPs: [{ ip: '%ip' }],
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ name: 'c%', ready: true }],
      },
    },
    { labels: APP_P, elements: { 'status.conditions': { type: 'x%', status: 'True' } } },
  ),
  core('Namespace', { spec: { finalizers: ['x%'] } }, { clusterScoped: true }),
  core(
    'Node',
    {
      spec: { podCIDRs: ['%ip/24'], taints: [{ key: 'k%', value: 'v', effect: 'NoSchedule' }] },
      status: { addresses: [{ type: 'InternalIP', address: '%ip' }], images: [{ names: ['i%'], sizeBytes: 1 }] },
    },
    { clusterScoped: true, labels: { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' } },
  ),
  core('Secret', { type: 'Opaque', data: { 'k%': 'AAAA' }, stringData: { 't%': 'v' } }),
  core('ConfigMap', { data: { 'k%': 'v' }, binaryData: { 'b%': 'AAAA' } }),
  { ...core('ConfigMap', { data: { mesh: MESH } }, { name: 'istio' }), kind: 'ConfigMap (mesh)' },
  {
    ...core('ConfigMap', { data: { 'root-cert.pem': 'x' } }, { name: 'istio-ca-root-cert' }),
    kind: 'ConfigMap (roots)',
  },
  core('ServiceAccount', { secrets: [{ name: 'x%' }], imagePullSecrets: [{ name: 'x%' }] }),
  core(
    'Ingress',
    {
      spec: {
        tls: [{ hosts: ['h%.example.com'], secretName: 'x%' }],
        rules: [
          {
            host: 'h%.example.com',
            http: {
              paths: [{ path: '/p%', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: '%ip' }] } },
    },
    {},
    'networking.k8s.io/v1',
  ),
  core(
    'IngressClass',
    { spec: { controller: 'istio.io/ingress-controller%' } },
    { clusterScoped: true },
    'networking.k8s.io/v1',
  ),
  core('MutatingWebhookConfiguration', webhooks, { clusterScoped: true }, 'admissionregistration.k8s.io/v1'),
  core('ValidatingWebhookConfiguration', webhooks, { clusterScoped: true }, 'admissionregistration.k8s.io/v1'),
  core(
    'ServiceExport',
    { status: { conditions: [{ type: 'x%', status: 'True' }] } },
    {},
    'multicluster.x-k8s.io/v1alpha1',
  ),
  core(
    'ServiceImport',
    {
      spec: { type: 'ClusterSetIP', ips: ['%ip'], ports: [{ name: 'http-%', port: '%port' }] },
      status: { clusters: [{ cluster: 'c%' }] },
    },
    {},
    'multicluster.x-k8s.io/v1alpha1',
  ),
  core(
    'ClusterTrustBundle',
    { spec: { signerName: 'x.io/%', trustBundle: 'x%' } },
    { clusterScoped: true },
    'certificates.k8s.io/v1beta1',
  ),
  metadataOnly('CertificateSigningRequest', 'certificates.k8s.io/v1', { clusterScoped: true }),
  metadataOnly('CustomResourceDefinition', 'apiextensions.k8s.io/v1', { clusterScoped: true, name: 'x%.example.com' }),
  metadataOnly('DaemonSet', 'apps/v1'),
  metadataOnly('Deployment', 'apps/v1'),
  metadataOnly('StatefulSet', 'apps/v1'),
  metadataOnly('HorizontalPodAutoscaler', 'autoscaling/v2'),
  metadataOnly('PodDisruptionBudget', 'policy/v1'),
  metadataOnly('Lease', 'coordination.k8s.io/v1'),
];
