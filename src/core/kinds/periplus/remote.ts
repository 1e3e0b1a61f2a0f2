// Kinds of configuration that count in a remote cluster, too. A WorkloadEntry or a Gateway of a remote cluster is no
// configuration of the mesh: it says what runs in that cluster. So it has a kind of its own, kept by cluster, and can
// never take the place of an object of the config cluster. Content and rules are those of the kind that users write;
// the adapter of a remote cluster is the only source (adapters/kube/resource.ts).
// Source: Istio pilot/pkg/serviceregistry/kube/controller/multicluster.go (createWleConfigStore),
// pilot/pkg/serviceregistry/kube/controller/network.go (handleGatewayResource).

import type { RawObject } from '../../event.ts';
import { labelKeys } from '../../model/selection.ts';
import type { KubernetesGatewaySpec } from '../../schema/gateway-api-types.gen.ts';
import { declared, decodedBy, type KindDefinition } from '../definition.ts';
import { isNetworkGateway, kubernetesGateway } from '../gateway-api/kubernetes-gateway.ts';
import { workloadEntry } from '../istio/workload-entry.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly RemoteGateway: {
      readonly spec: KubernetesGatewaySpec;
      readonly indexes: 'remoteNetworkGateways';
      readonly push: 'own';
    };
    readonly RemoteWorkloadEntry: {
      readonly spec: KindTypes['WorkloadEntry']['spec'];
      readonly indexes: 'remoteEntriesByAddress' | 'remoteEntriesByLabel';
      readonly push: 'own';
    };
  }
}

const GROUP = 'periplus.internal';

export const remoteGateway: KindDefinition<'RemoteGateway'> = {
  ...declared<'RemoteGateway'>({
    kind: 'RemoteGateway',
    group: GROUP,
    versions: ['v1'],
    push: 'own',
    indexes: {
      /** `gateway`: those of a network. */
      remoteNetworkGateways: ({ labels }) => (isNetworkGateway(labels) ? ['gateway'] : []),
    },
  }),
  clusterScoped: false,
  store: 'kubernetes',
  ...decodedBy(raw => kubernetesGateway.decoding(withoutStatus(raw))),
  project: raw => kubernetesGateway.project(withoutStatus(raw)),
  ...(kubernetesGateway.keepMeta === undefined ? {} : { keepMeta: kubernetesGateway.keepMeta }),
};

/** Waypoints are of the config cluster, so the addresses of another Gateway's status mean nothing. */
function withoutStatus({ status: _, ...raw }: RawObject): RawObject {
  return raw;
}

export const remoteWorkloadEntry: KindDefinition<'RemoteWorkloadEntry'> = {
  ...declared<'RemoteWorkloadEntry'>({
    kind: 'RemoteWorkloadEntry',
    group: GROUP,
    versions: ['v1'],
    push: 'own',
    indexes: {
      /** `address` */
      remoteEntriesByAddress: ({ spec }) => (spec.address ? [spec.address] : []),
      /** `namespace/`, and `namespace/label=value` for each label; of every cluster. */
      remoteEntriesByLabel: ({ namespace, labels, spec }) =>
        ['', ...labelKeys({ ...spec.labels, ...labels })].map(key => `${namespace}/${key}`),
    },
  }),
  clusterScoped: false,
  store: 'kubernetes',
  decode: workloadEntry.decode,
  decoding: workloadEntry.decoding,
  project: workloadEntry.project,
};
