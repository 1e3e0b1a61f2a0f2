// Every kind of Istio's schema (pkg/config/schema/metadata.yaml of 1.30.3) is known, in every version that its CRD or
// the API server serves; of kinds of which only the metadata is read, only that is a change, and only that is
// journalled.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Fact } from '../../../../src/core/event.ts';
import { newsOf } from '../../../../src/core/fold/novelty.ts';
import { definitionOf, definitions, kindNames } from '../../../../src/core/kinds/registry.ts';
import { emptyState } from '../../../../src/core/state.ts';
import { put, world } from '../../world.ts';
import { decodedOf, problemsOf } from './verdict.ts';

const VERSIONS: readonly (readonly [string, string])[] = [
  ...[
    'VirtualService',
    'DestinationRule',
    'Gateway',
    'ServiceEntry',
    'Sidecar',
    'WorkloadEntry',
    'WorkloadGroup',
  ].flatMap(kind => ['v1', 'v1beta1', 'v1alpha3'].map(version => [`networking.istio.io/${version}`, kind] as const)),
  ['networking.istio.io/v1alpha3', 'EnvoyFilter'],
  ['networking.istio.io/v1beta1', 'ProxyConfig'],
  ...['AuthorizationPolicy', 'PeerAuthentication', 'RequestAuthentication'].flatMap(kind =>
    ['v1', 'v1beta1'].map(version => [`security.istio.io/${version}`, kind] as const),
  ),
  ['telemetry.istio.io/v1', 'Telemetry'],
  ['telemetry.istio.io/v1alpha1', 'Telemetry'],
  ['extensions.istio.io/v1alpha1', 'WasmPlugin'],
  ['extensions.istio.io/v1alpha1', 'TrafficExtension'],
  ...['GatewayClass', 'Gateway', 'HTTPRoute'].flatMap(kind =>
    ['v1', 'v1beta1'].map(version => [`gateway.networking.k8s.io/${version}`, kind] as const),
  ),
  ...['v1', 'v1alpha3', 'v1alpha2'].map(version => [`gateway.networking.k8s.io/${version}`, 'TLSRoute'] as const),
  ...['v1', 'v1alpha2'].map(version => [`gateway.networking.k8s.io/${version}`, 'TCPRoute'] as const),
  ...['v1', 'v1beta1'].map(version => [`gateway.networking.k8s.io/${version}`, 'ReferenceGrant'] as const),
  ['gateway.networking.k8s.io/v1', 'GRPCRoute'],
  ['gateway.networking.k8s.io/v1', 'ListenerSet'],
  ['gateway.networking.k8s.io/v1', 'BackendTLSPolicy'],
  ['gateway.networking.k8s.io/v1alpha3', 'BackendTLSPolicy'],
  ['gateway.networking.k8s.io/v1alpha2', 'UDPRoute'],
  ['gateway.networking.x-k8s.io/v1alpha1', 'XBackendTrafficPolicy'],
  ['inference.networking.k8s.io/v1', 'InferencePool'],
  ...['Service', 'Pod', 'Namespace', 'Node', 'Secret', 'ConfigMap', 'ServiceAccount', 'Endpoints'].map(
    kind => ['v1', kind] as const,
  ),
  ['discovery.k8s.io/v1', 'EndpointSlice'],
  ['networking.k8s.io/v1', 'Ingress'],
  ['networking.k8s.io/v1', 'IngressClass'],
  ...['Deployment', 'DaemonSet', 'StatefulSet'].map(kind => ['apps/v1', kind] as const),
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['coordination.k8s.io/v1', 'Lease'],
  ['certificates.k8s.io/v1', 'CertificateSigningRequest'],
  ['certificates.k8s.io/v1beta1', 'ClusterTrustBundle'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
  ['multicluster.x-k8s.io/v1alpha1', 'ServiceExport'],
  ['multicluster.x-k8s.io/v1alpha1', 'ServiceImport'],
  ['periplus.internal/v1', 'ResolvedName'],
  ['periplus.internal/v1', 'JwksDocument'],
  ['periplus.internal/v1', 'AnalysisReport'],
  ['periplus.internal/v1', 'ConfigDistribution'],
  ['periplus.internal/v1', 'Leadership'],
  ['periplus.internal/v1', 'WebhookProof'],
  ['periplus.internal/v1', 'RemoteGateway'],
  ['periplus.internal/v1', 'RemoteWorkloadEntry'],
  ['periplus.internal/v1', 'WorkloadRegistration'],
  ['periplus.internal/v1', 'WriteRefusal'],
  ...['SecretAccess', 'SpiffeBundle', 'TokenIssuer', 'TrustAnchors', 'WorkloadCertificate'].map(
    kind => ['periplus.internal/v1', kind] as const,
  ),
];

test.each(VERSIONS)('the kind %s %s is known', (apiVersion, kind) => {
  expect(definitionOf(apiVersion, kind)).toBeDefined();
});

test('every known kind is in the list', () => {
  const listed = new Set(VERSIONS.map(([apiVersion, kind]) => definitionOf(apiVersion, kind)?.kind));
  expect(kindNames.filter(kind => !listed.has(kind))).toEqual([]);
});

/** As the API server gives it, with much that no code reads. */
const busy = (apiVersion: string, kind: string, rest: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: {
    name: 'a',
    namespace: 'prod',
    labels: { app: 'a' },
    resourceVersion: '7',
    managedFields: [{ manager: 'kubectl' }],
    annotations: { 'deployment.kubernetes.io/revision': '3' },
  },
  ...rest,
});

describe('a kind stored by its metadata only', () => {
  const before = busy('apps/v1', 'Deployment', { spec: { replicas: 1 }, status: { replicas: 1 } });
  const after = busy('apps/v1', 'Deployment', { spec: { replicas: 9 }, status: { replicas: 2 } });
  test('ignores all other content of the object', () => {
    expect(definitions.Deployment.project(before)).toEqual(definitions.Deployment.project(after));
    expect(problemsOf(busy('apps/v1', 'Deployment', { spec: 7 }))).toEqual([]);
  });
  test('journals only its projection', () => {
    const [fact] = newsOf(emptyState, 'kube/Kubernetes', [{ kind: 'Add', object: before }]);
    expect(fact).toEqual({
      kind: 'Add',
      object: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'a', namespace: 'prod', labels: { app: 'a' } },
      },
    });
  });
  test('leaves other kinds journalled as received', () => {
    const fact: Fact = { kind: 'Add', object: busy('v1', 'ConfigMap', { data: { a: 'b' } }) };
    expect(newsOf(emptyState, 'kube/Kubernetes', [fact])).toEqual([fact]);
  });
  test('records nothing for a renewed lease', () => {
    const lease = (renewTime: string): Fact => ({
      kind: 'Update',
      object: busy('coordination.k8s.io/v1', 'Lease', { spec: { renewTime } }),
    });
    const state = put(world([]), (lease('1') as { object: JsonObject }).object).state;
    expect(newsOf(state, 'file/Kubernetes', [lease('2')])).toEqual([]);
  });
  test.each(['Deployment', 'Lease', 'ServiceAccount', 'CustomResourceDefinition'] as const)(
    'pushes nothing for %s',
    kind => {
      const { group, versions } = definitions[kind];
      const object = busy(group === '' ? versions[0]! : `${group}/${versions[0]}`, kind, {});
      const { effects, state } = put(world([]), object);
      expect(effects).toEqual([]);
      expect(state.objects[kind].size).toBe(1);
    },
  );
});

describe('a kind stored with part of its content', () => {
  test('keeps names, CA and failure policy of webhook configurations', () => {
    const object = {
      ...busy('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {}),
      webhooks: [{ name: 'w', clientConfig: { caBundle: 'YQ==', url: 'https://a' } }, { failurePolicy: 'Ignore' }],
    };
    expect(decodedOf('ValidatingWebhookConfiguration', object)).toEqual({
      webhooks: [
        { name: 'w', failurePolicy: 'Fail', caBundle: 'YQ==' },
        { name: '', failurePolicy: 'Ignore', caBundle: '' },
      ],
    });
  });
  test('keeps signer and roots of trust bundles', () => {
    const object = busy('certificates.k8s.io/v1beta1', 'ClusterTrustBundle', { spec: { trustBundle: 'PEM' } });
    expect(decodedOf('ClusterTrustBundle', object)).toEqual({ signerName: '', trustBundle: 'PEM' });
    expect(decodedOf('ClusterTrustBundle', busy('x', 'y', {}))).toEqual({ signerName: '', trustBundle: '' });
  });
  test('keeps addresses of imports', () => {
    const object = (ips: readonly string[]): JsonObject =>
      busy('multicluster.x-k8s.io/v1alpha1', 'ServiceImport', { spec: { type: 'ClusterSetIP', ips } });
    expect(decodedOf('ServiceImport', object(['10.0.0.2', '10.0.0.1']))).toEqual({ ips: ['10.0.0.1', '10.0.0.2'] });
    expect(decodedOf('ServiceImport', busy('x', 'y', {}))).toEqual({ ips: [] });
    expect(decodedOf('ServiceImport', object(['web', '10.0.0.1']))).toEqual({ ips: ['10.0.0.1'] });
  });
  test('keeps addresses of DNS answers, each once', () => {
    const spec = { addresses: ['10.0.0.2', '::1', '10.0.0.1', 'web', '10.0.0.2'] };
    const found = decodedOf('ResolvedName', busy('periplus.internal/v1', 'ResolvedName', { spec }));
    expect(found).toEqual({ addresses: ['10.0.0.1', '10.0.0.2', '::1'] });
  });
});
