// Arbitrary objects of the kinds that surround a mesh: the parts of a cluster and of a gateway's deployment, and
// objects with revisions.

import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import { all, both, clusterWide, ip, labels, list, locality, name, object, type Shape, some } from './pools.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

const configMap: Shape = object(
  'v1',
  'ConfigMap',
  fc.constantFrom<JsonObject>(
    { data: { 'ca.crt': PEM } },
    { data: { cacert: PEM, other: '' } },
    { data: { a: 'b' } },
    {},
  ),
  { name: fc.constantFrom('credential', 'credential-cacert', 'settings') },
);

/** Only their metadata matters; what else they say changes all the time. */
const [deployment, daemonSet, statefulSet] = ['Deployment', 'DaemonSet', 'StatefulSet'].map(kind =>
  object('apps/v1', kind, all({ spec: all({ replicas: fc.constantFrom(1, 2) }) })),
) as [Shape, Shape, Shape];
const serviceAccount: Shape = object('v1', 'ServiceAccount', some({ automountServiceAccountToken: fc.boolean() }), {
  name: fc.constantFrom('default', 'robot'),
});
const autoscaler: Shape = object(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  all({ spec: all({ maxReplicas: fc.constantFrom(2, 9) }) }),
);
const disruptionBudget: Shape = object('policy/v1', 'PodDisruptionBudget', all({ spec: fc.constant<Json>({}) }));
const lease: Shape = object(
  'coordination.k8s.io/v1',
  'Lease',
  all({ spec: all({ holderIdentity: name, leaseTransitions: fc.nat({ max: 3 }) }) }),
);
const signingRequest: Shape = clusterWide(
  object('certificates.k8s.io/v1', 'CertificateSigningRequest', all({ spec: all({ signerName: name }) })),
);
const trustBundle: Shape = clusterWide(
  object(
    'certificates.k8s.io/v1beta1',
    'ClusterTrustBundle',
    all({ spec: all({ signerName: fc.constantFrom('', 'istio.io/istiod-ca'), trustBundle: fc.constant(PEM) }) }),
  ),
);
const resourceDefinition: Shape = clusterWide(
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', all({ spec: all({ group: name }) }), {
    name: fc.constantFrom('virtualservices.networking.istio.io', 'gateways.gateway.networking.k8s.io'),
    annotations: some({ 'gateway.networking.k8s.io/bundle-version': fc.constantFrom('v1.4.0', 'v1.5.1') }),
  }),
);

const webhooks: Shape = all({
  webhooks: fc.constantFrom<Json>([], [{ name: 'w', failurePolicy: 'Ignore', clientConfig: { caBundle: btoa(PEM) } }]),
});
const tagLabels: Shape = some({
  'istio.io/rev': fc.constantFrom('default', 'canary'),
  'istio.io/tag': fc.constantFrom('default', 'prod'),
});
const mutatingWebhook: Shape = clusterWide(
  object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', webhooks, {
    name: fc.constantFrom('istio-revision-tag-default', 'istio-sidecar-injector'),
    labels: tagLabels,
  }),
);
const validatingWebhook: Shape = clusterWide(
  object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', webhooks, {
    name: fc.constantFrom('istiod-default-validator', 'other'),
    labels: tagLabels,
  }),
);

const serviceExport: Shape = object('multicluster.x-k8s.io/v1alpha1', 'ServiceExport', fc.constant<JsonObject>({}));
const serviceImport: Shape = object(
  'multicluster.x-k8s.io/v1alpha1',
  'ServiceImport',
  all({ spec: all({ type: fc.constant('ClusterSetIP'), ips: fc.array(ip, { maxLength: 2 }) as Arbitrary<Json> }) }),
);
const resolvedName: Shape = clusterWide(
  object(
    'periplus.internal/v1',
    'ResolvedName',
    all({ spec: all({ addresses: fc.array(ip, { maxLength: 2 }) as Arbitrary<Json> }) }),
    {
      name: fc.constantFrom('gateway.example.com', 'other.example.com'),
    },
  ),
);

const jwksDocument: Shape = clusterWide(
  object(
    'periplus.internal/v1',
    'JwksDocument',
    all({
      spec: all({
        issuer: fc.constantFrom('https://issuer.example.com', 'https://other.example.com'),
        jwksUri: fc.constantFrom('', 'https://issuer.example.com/keys'),
        keys: fc.constantFrom('{"keys":[]}', '{"keys":[{"kty":"RSA","e":"AQAB","n":"0xObjM0"}]}'),
      }),
    }),
    { name: fc.constantFrom('issuer', 'other') },
  ),
);
const pem = fc.constantFrom('', '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n') as Arbitrary<Json>;
const ofIdentity = (kind: string, spec: Readonly<Record<string, Arbitrary<Json>>>): Shape =>
  object('periplus.internal/v1', kind, all({ spec: all(spec) }));
const trustAnchors: Shape = clusterWide(ofIdentity('TrustAnchors', { roots: pem, chain: pem }));
const tokenIssuer: Shape = clusterWide(ofIdentity('TokenIssuer', { issuer: pem, jwks: pem }));
const spiffeBundle: Shape = clusterWide(ofIdentity('SpiffeBundle', { url: pem }));
const workloadCertificate: Shape = ofIdentity('WorkloadCertificate', { chain: pem, fingerprint: pem });
const secretAccess: Shape = ofIdentity('SecretAccess', { allowed: fc.boolean() as Arbitrary<Json> });

const leadership: Shape = clusterWide(
  object(
    'periplus.internal/v1',
    'Leadership',
    all({
      spec: all({
        election: fc.constant('istio-namespace-controller-election') as Arbitrary<Json>,
        holder: fc.constantFrom('pod-1', 'pod-2') as Arbitrary<Json>,
      }),
    }),
    { name: fc.constant('istio-namespace-controller-election') },
  ),
);
const webhookProof: Shape = clusterWide(
  object('periplus.internal/v1', 'WebhookProof', all({}), { name: fc.constant('validation') }),
);
const writeRefusal: Shape = clusterWide(
  object(
    'periplus.internal/v1',
    'WriteRefusal',
    all({
      spec: all({
        target: fc.constant('ConfigMap default/istio-ca-root-cert') as Arbitrary<Json>,
        status: fc.constantFrom(403, 422) as Arbitrary<Json>,
      }),
    }),
  ),
);

const configDistribution: Shape = object(
  'periplus.internal/v1',
  'ConfigDistribution',
  all({
    spec: all({
      kind: fc.constant('VirtualService') as Arbitrary<Json>,
      name: name as Arbitrary<Json>,
      acked: fc.nat({ max: 2 }) as Arbitrary<Json>,
      total: fc.constant(2) as Arbitrary<Json>,
    }),
  }),
);

const analysisReport: Shape = object(
  'periplus.internal/v1',
  'AnalysisReport',
  all({
    spec: all({
      kind: fc.constant('VirtualService') as Arbitrary<Json>,
      name: name as Arbitrary<Json>,
      messages: fc.constantFrom<Json>([], [{ code: 'IST0101', level: 'ERROR', documentationUrl: '' }]),
    }),
  }),
);

const registration: Shape = object(
  'periplus.internal/v1',
  'WorkloadRegistration',
  all({
    spec: all({
      controller: fc.constantFrom('one', 'two'),
      connectedAt: fc.constantFrom('', '2026-01-01T00:00:00.000Z'),
      disconnectedAt: fc.constantFrom('', '2026-01-01T00:00:01.000Z'),
      expired: fc.boolean(),
      entry: fc.constantFrom<Json>({}, { metadata: {}, spec: { address: '10.0.0.9' } }),
      health: all({ healthy: fc.boolean(), message: fc.constantFrom('', 'refused'), at: fc.constant('') }),
    }),
  }),
);

const OURS = 'periplus.internal/v1';
/** What runs in a remote cluster, by the spec of the kind that users write. */
const remoteWorkload: Shape = object(
  OURS,
  'RemoteWorkloadEntry',
  all({ spec: both(all({ address: ip, labels }), some({ network: fc.constantFrom('n1', 'n2'), locality })) }),
);
const remoteGateway: Shape = object(
  OURS,
  'RemoteGateway',
  all({
    spec: all({
      gatewayClassName: fc.constantFrom('istio', 'istio-remote'),
      addresses: list(all({ type: fc.constant('IPAddress'), value: ip }), 0, 2),
      listeners: fc.constantFrom<Json>(
        [{ name: 'mtls', port: 15443, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
        [{ name: 'http', port: 80, protocol: 'HTTP' }],
      ),
    }),
  }),
  { labels: some({ 'topology.istio.io/network': fc.constantFrom('n1', 'n2') }) },
);

export const platformObject: Shape = fc.oneof(
  { weight: 1, arbitrary: analysisReport },
  { weight: 1, arbitrary: configDistribution },
  { weight: 1, arbitrary: leadership },
  { weight: 1, arbitrary: webhookProof },
  { weight: 1, arbitrary: writeRefusal },
  { weight: 1, arbitrary: registration },
  { weight: 1, arbitrary: trustAnchors },
  { weight: 1, arbitrary: tokenIssuer },
  { weight: 1, arbitrary: spiffeBundle },
  { weight: 1, arbitrary: workloadCertificate },
  { weight: 1, arbitrary: secretAccess },
  { weight: 3, arbitrary: configMap },
  { weight: 1, arbitrary: deployment },
  { weight: 1, arbitrary: daemonSet },
  { weight: 1, arbitrary: statefulSet },
  { weight: 1, arbitrary: serviceAccount },
  { weight: 1, arbitrary: autoscaler },
  { weight: 1, arbitrary: disruptionBudget },
  { weight: 1, arbitrary: lease },
  { weight: 1, arbitrary: signingRequest },
  { weight: 1, arbitrary: trustBundle },
  { weight: 1, arbitrary: resourceDefinition },
  { weight: 2, arbitrary: mutatingWebhook },
  { weight: 1, arbitrary: validatingWebhook },
  { weight: 1, arbitrary: serviceExport },
  { weight: 1, arbitrary: serviceImport },
  { weight: 1, arbitrary: jwksDocument },
  { weight: 1, arbitrary: resolvedName },
  { weight: 1, arbitrary: remoteWorkload },
  { weight: 1, arbitrary: remoteGateway },
);
