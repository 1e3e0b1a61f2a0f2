// Namespace: its labels and annotations are all that matters, and those are in the metadata of every object.

import { kubernetesKind } from './kubernetes-kind.ts';

export type NamespaceData = Readonly<Record<string, never>>;

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Namespace: { readonly spec: NamespaceData; readonly push: 'own' };
  }
}

export const namespace = kubernetesKind<'Namespace', object>({
  kind: 'Namespace',
  group: '',
  versions: ['v1'],
  push: 'own',
  clusterScoped: true,
  messages: { Object: [] },
  flatten: () => ({}),
});
