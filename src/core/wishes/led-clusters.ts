// The clusters that this control plane writes to: its own, and with EXTERNAL_ISTIOD the remote ones whose system
// namespace names it in the annotation `topology.istio.io/controlPlaneClusters`.
// Source: Istio pilot/pkg/leaderelection/leaderelection.go, pkg/webhooks/webhookpatch.go,
// pilot/pkg/serviceregistry/kube/controller/multicluster.go (shouldLead).

import { compareText } from '../model/object.ts';
import type { Query } from '../query/reader.ts';

const CONTROL_PLANE_CLUSTERS = 'topology.istio.io/controlPlaneClusters';

/** The own cluster first, the remote ones by id. Linear in the namespaces. */
export const ledClusters: Query<'', readonly string[]> = {
  name: 'led-clusters',
  run: reader => {
    const own = reader.setting('clusterId');
    if (!reader.feature('EXTERNAL_ISTIOD')) return [own];
    const system = reader.setting('systemNamespace');
    const remote: string[] = [];
    for (const { name, cluster, annotations } of reader.objects('Namespace')) {
      if (name !== system || cluster === own) continue;
      const named = (annotations[CONTROL_PLANE_CLUSTERS] ?? '').split(',');
      if (named.includes(own) || named.includes('*')) remote.push(cluster);
    }
    return [own, ...remote.sort(compareText)];
  },
};
