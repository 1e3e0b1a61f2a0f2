// ConfigMap: its text. `binaryData` is not read by anything.

import { kubernetesKind } from './kubernetes-kind.ts';

export interface ConfigMapData {
  readonly data: Readonly<Record<string, string>>;
}

interface Decoded {
  readonly data?: Readonly<Record<string, string>>;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ConfigMap: { readonly spec: ConfigMapData; readonly push: 'own' };
  }
}

export const configMap = kubernetesKind<'ConfigMap', Decoded>({
  kind: 'ConfigMap',
  group: '',
  versions: ['v1'],
  push: 'own',
  messages: { Object: [{ name: 'data', type: 'string', map: 'string' }] },
  flatten: decoded => ({ data: decoded.data ?? {} }),
});
