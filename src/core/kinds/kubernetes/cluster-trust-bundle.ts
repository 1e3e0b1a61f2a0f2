// ClusterTrustBundle: the roots of a signer, for those who read them from the API server instead of a ConfigMap.
// Istio pilot/pkg/config/kube/clustertrustbundle/controller.go writes one of its own and compares.

import { kubernetesKind } from './kubernetes-kind.ts';

export interface ClusterTrustBundleData {
  /** Empty: of no signer. */
  readonly signerName: string;
  /** PEM. */
  readonly trustBundle: string;
}
interface Decoded {
  readonly spec?: Partial<ClusterTrustBundleData>;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ClusterTrustBundle: { readonly spec: ClusterTrustBundleData; readonly push: 'none' };
  }
}

export const clusterTrustBundle = kubernetesKind<'ClusterTrustBundle', Decoded>({
  kind: 'ClusterTrustBundle',
  group: 'certificates.k8s.io',
  versions: ['v1beta1', 'v1alpha1'],
  push: 'none',
  clusterScoped: true,
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [
      { name: 'signerName', type: 'string' },
      { name: 'trustBundle', type: 'string' },
    ],
  },
  flatten: ({ spec = {} }) => ({ signerName: spec.signerName ?? '', trustBundle: spec.trustBundle ?? '' }),
});
