// Secret: type and data. `stringData` is merged into `data`, as the API server does on writing.

import { base64OfText } from '../../base/base64.ts';
import { makingObject, sortedKeysOf } from '../../base/keys.ts';
import type { Steps } from '../../base/steps.ts';
import { kubernetesKind } from './kubernetes-kind.ts';

export interface SecretData {
  /** e.g. `kubernetes.io/tls`; `Opaque` when none is given. */
  readonly type: string;
  /** Values in padded standard base64. Sorted by key. */
  readonly data: Readonly<Record<string, string>>;
}

interface Decoded {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Secret: { readonly spec: SecretData; readonly push: 'own' };
  }
}

export const secret = kubernetesKind<'Secret', Decoded>({
  kind: 'Secret',
  group: '',
  versions: ['v1'],
  push: 'own',
  messages: {
    Object: [
      { name: 'type', type: 'string' },
      { name: 'data', type: 'bytes', map: 'string' },
      { name: 'stringData', type: 'string', map: 'string' },
    ],
  },
  flatten,
});

function* flatten(decoded: Decoded): Steps<SecretData> {
  return { type: decoded.type ?? 'Opaque', data: yield* mergedData(decoded) };
}

/** As in every cluster: the API server keeps no stringData, which wins. The keys are sorted. */
function* mergedData({ data = {}, stringData }: Decoded): Steps<SecretData['data']> {
  if (stringData === undefined) return data;
  const more = sortedKeysOf(stringData).filter(key => !Object.hasOwn(data, key));
  const keys = more.length === 0 ? sortedKeysOf(data) : sortedKeysOf(data).concat(more).sort();
  return yield* makingObject(keys, key =>
    Object.hasOwn(stringData, key) ? base64OfText(stringData[key]!) : data[key]!,
  );
}
