// Kinds of which nobody reads more than the metadata: the workloads and policies that come with a gateway's deployment, accounts, leases,
// definitions of kinds. They are known, so that a folder or a cluster may hold them; what else they say is nobody's business here.
//
// Only their projection is journalled (`trim`): a Lease is renewed every few seconds, a CustomResourceDefinition has hundreds of kilobytes.

import { kubernetesKind } from './kubernetes-kind.ts';

export type MetadataOnly = Readonly<Record<string, never>>;

type MetadataKind =
  | 'CertificateSigningRequest'
  | 'CustomResourceDefinition'
  | 'DaemonSet'
  | 'Deployment'
  | 'HorizontalPodAutoscaler'
  | 'Lease'
  | 'PodDisruptionBudget'
  | 'ServiceAccount'
  | 'StatefulSet';

function metadataOnly<K extends MetadataKind>(
  kind: K,
  group: string,
  versions: readonly string[],
  clusterScoped = false,
) {
  return kubernetesKind<K, object>({
    kind,
    group,
    versions,
    clusterScoped,
    trim: true,
    messages: { Object: [] },
    flatten: () => ({}),
  });
}

export const certificateSigningRequest = metadataOnly('CertificateSigningRequest', 'certificates.k8s.io', ['v1'], true);
export const customResourceDefinition = metadataOnly('CustomResourceDefinition', 'apiextensions.k8s.io', ['v1'], true);
export const daemonSet = metadataOnly('DaemonSet', 'apps', ['v1']);
export const deployment = metadataOnly('Deployment', 'apps', ['v1']);
export const horizontalPodAutoscaler = metadataOnly('HorizontalPodAutoscaler', 'autoscaling', ['v2', 'v1']);
export const lease = metadataOnly('Lease', 'coordination.k8s.io', ['v1']);
export const podDisruptionBudget = metadataOnly('PodDisruptionBudget', 'policy', ['v1']);
export const serviceAccount = metadataOnly('ServiceAccount', '', ['v1']);
export const statefulSet = metadataOnly('StatefulSet', 'apps', ['v1']);
