// The taint that keeps pods off a node until Istio's CNI plugin runs there (PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS): it
// is to go from every node with a ready pod of the plugin. Other taints stay. Nothing ever sets it again.
// Source: Istio pilot/pkg/controllers/untaint/nodeuntainter.go.

import { kubernetesKey } from '../model/object.ts';
import type { Query } from '../query/reader.ts';
import { isReady } from '../registry/pods.ts';
import { oneOf } from '../translate/derived.ts';
import { MANAGER, type Wish } from './wish.ts';

const ELECTION = 'istio-node-untaint';
const PLUGIN_LABEL = 'k8s-app';
const PLUGIN = 'istio-cni-node';

/** Argument ''. */
export const nodeTaints: Query<'', readonly Wish[]> = {
  name: 'wishes/nodeTaints',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS')) return [];
    const cluster = reader.setting('clusterId');
    const namespace = reader.feature('PERIPLUS_CNI_NAMESPACE') || reader.setting('systemNamespace');
    const taint = reader.feature('PILOT_NODE_UNTAINT_CONTROLLERS_TAINT_NAME');
    const pods = reader.objects('Pod', kubernetesKey(cluster, namespace, ''));
    const ready = pods.filter(pod => pod.labels[PLUGIN_LABEL] === PLUGIN && isReady(pod));
    const nodes = [...new Set(ready.map(({ spec }) => spec.nodeName))].sort();
    return nodes
      .filter(name => reader.object('Node', kubernetesKey(cluster, '', name)) !== undefined)
      .map(name =>
        oneOf<Wish>(reader, {
          ...{ cluster, kind: 'Node', namespace: '', name, subresource: '', manager: MANAGER },
          ...{ fields: {}, verb: 'merge', gate: ELECTION },
          without: { part: 'spec', list: 'taints', member: 'key', value: taint },
          precondition: { exists: true },
        }),
      );
  },
};
