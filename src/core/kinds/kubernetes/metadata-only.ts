// Kinds of which only the metadata is read: the workloads and policies that come with a gateway's deployment, accounts,
// leases, definitions of kinds. They are known, so that a folder or a cluster may hold them.
//
// Only their projection is journalled (`trim`): a Lease is renewed every few seconds, a CustomResourceDefinition has
// hundreds of kilobytes.

import { kubernetesKind } from './kubernetes-kind.ts';

export type MetadataOnly = Readonly<Record<string, never>>;

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly CertificateSigningRequest: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly CustomResourceDefinition: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly DaemonSet: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly Deployment: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly HorizontalPodAutoscaler: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly Lease: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly PodDisruptionBudget: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly ServiceAccount: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly StatefulSet: { readonly spec: MetadataOnly; readonly push: 'none' };
  }
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly CertificateSigningRequest: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly CustomResourceDefinition: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly DaemonSet: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly Deployment: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly HorizontalPodAutoscaler: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly Lease: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly PodDisruptionBudget: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly ServiceAccount: { readonly spec: MetadataOnly; readonly push: 'none' };
    readonly StatefulSet: { readonly spec: MetadataOnly; readonly push: 'none' };
  }
}

const metadataOnly = { push: 'none', trim: true, messages: { Object: [] }, flatten: () => ({}) } as const;

export const certificateSigningRequest = kubernetesKind<'CertificateSigningRequest', object>({
  ...metadataOnly,
  kind: 'CertificateSigningRequest',
  group: 'certificates.k8s.io',
  versions: ['v1'],
  clusterScoped: true,
});
export const customResourceDefinition = kubernetesKind<'CustomResourceDefinition', object>({
  ...metadataOnly,
  kind: 'CustomResourceDefinition',
  group: 'apiextensions.k8s.io',
  versions: ['v1'],
  clusterScoped: true,
});
export const daemonSet = kubernetesKind<'DaemonSet', object>({
  ...metadataOnly,
  kind: 'DaemonSet',
  group: 'apps',
  versions: ['v1'],
});
export const deployment = kubernetesKind<'Deployment', object>({
  ...metadataOnly,
  kind: 'Deployment',
  group: 'apps',
  versions: ['v1'],
});
export const horizontalPodAutoscaler = kubernetesKind<'HorizontalPodAutoscaler', object>({
  ...metadataOnly,
  kind: 'HorizontalPodAutoscaler',
  group: 'autoscaling',
  versions: ['v2', 'v1'],
});
export const lease = kubernetesKind<'Lease', object>({
  ...metadataOnly,
  kind: 'Lease',
  group: 'coordination.k8s.io',
  versions: ['v1'],
});
export const podDisruptionBudget = kubernetesKind<'PodDisruptionBudget', object>({
  ...metadataOnly,
  kind: 'PodDisruptionBudget',
  group: 'policy',
  versions: ['v1'],
});
export const serviceAccount = kubernetesKind<'ServiceAccount', object>({
  ...metadataOnly,
  kind: 'ServiceAccount',
  group: '',
  versions: ['v1'],
});
export const statefulSet = kubernetesKind<'StatefulSet', object>({
  ...metadataOnly,
  kind: 'StatefulSet',
  group: 'apps',
  versions: ['v1'],
});
