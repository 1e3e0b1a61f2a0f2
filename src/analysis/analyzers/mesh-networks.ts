// Registries in MeshNetworks that no cluster has.
// Source: Istio pkg/config/analysis/analyzers/multicluster/meshnetworks.go.

import { isObject } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { unknownMeshNetworksServiceRegistry } from '../ist-0001-0145.ts';
import type { Item } from '../objects.ts';

const KNOWN: readonly string[] = ['Mock', 'Kubernetes', 'External'];
const REMOTE_SECRET = 'istio/multiCluster';

export const meshNetworks: Analyzer = {
  name: 'meshnetworks.MeshNetworksAnalyzer',
  type: 'multicluster.MeshNetworksAnalyzer',
  description: 'Check the validity of MeshNetworks in the cluster',
  needs: [],
  analyze: (objects, report) => {
    const remote = objects
      .all('Secret')
      .filter(({ labels }) => labels[REMOTE_SECRET] === 'true')
      .flatMap(({ raw }) => (isObject(raw.data) ? Object.keys(raw.data) : []));
    const known = new Set([...KNOWN, ...remote]);
    const item = networksItem(objects.systemNamespace);
    for (const [network, { endpoints = [] }] of Object.entries(objects.networks.networks ?? {})) {
      endpoints.forEach(({ fromRegistry }, i) => {
        if (fromRegistry === undefined || known.has(fromRegistry)) return;
        report(item, unknownMeshNetworksServiceRegistry(fromRegistry, network), `networks[${network}].endpoints[${i}]`);
      });
    }
  },
};

/** The mesh configuration as an object, as istioctl names it. */
function networksItem(namespace: string): Item<'MeshNetworks'> {
  const nothing = { labels: {}, annotations: {}, spec: {}, status: {}, raw: {} };
  return { kind: 'MeshNetworks', namespace, name: 'meshnetworks', cluster: '', source: '', ...nothing };
}
