// Node: labels (topology) from the metadata, its addresses, and the version of its kubelet.

import type { JsonObject } from '../../base/json.ts';
import { kubernetesKind } from './kubernetes-kind.ts';

export interface NodeData {
  /** status.addresses, in the order given. Types: InternalIP, ExternalIP, Hostname, InternalDNS, ExternalDNS. */
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  /** status.nodeInfo.kubeletVersion, e.g. v1.33.1; '' if unknown. */
  readonly kubeletVersion: string;
}

interface Decoded {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Node: { readonly spec: NodeData; readonly push: 'own' };
  }
}

export const node = kubernetesKind<'Node', Decoded>({
  kind: 'Node',
  group: '',
  versions: ['v1'],
  push: 'own',
  clusterScoped: true,
  messages: {
    Object: [{ name: 'status', type: { message: 'Status' } }],
    Status: [
      { name: 'addresses', type: { message: 'Address' }, repeated: true },
      { name: 'nodeInfo', type: { message: 'NodeInfo' } },
    ],
    NodeInfo: [{ name: 'kubeletVersion', type: 'string' }],
    Address: [
      { name: 'type', type: 'string' },
      { name: 'address', type: 'string' },
    ],
  },
  flatten: decoded => ({
    addresses: (decoded.status?.addresses ?? []).map(({ type = '', address = '' }) => ({ type, address })),
    kubeletVersion: decoded.status?.nodeInfo?.kubeletVersion ?? '',
  }),
  narrow: withoutEmptyStatus,
});

/** A node without addresses equals one with a status that no query reads. */
function withoutEmptyStatus(projection: JsonObject): JsonObject {
  const { status, ...rest } = projection;
  return typeof status === 'object' && status !== null && Object.keys(status).length === 0 ? rest : projection;
}
