// How a workload takes HBONE, by its own labels and annotations.
// Source: Istio pilot/pkg/model/service.go (SupportsTunnel), pilot/pkg/serviceregistry/ambient/workloads.go.

import type { Labels } from '../../base/labels.ts';

/** `native`: the workload speaks HBONE itself; `HBONE`: the node's ztunnel has captured it. */
export type Tunnel = 'NONE' | 'HBONE' | 'native';

const REDIRECTION = 'ambient.istio.io/redirection';
const TUNNEL_LABEL = 'networking.istio.io/tunnel';

/** The label lists the kinds of tunnels that a workload takes; HBONE is `http`. */
export function hasTunnelLabel(labels: Labels): boolean {
  return labels[TUNNEL_LABEL]?.split(',').includes('http') === true;
}

export function tunnelOf(labels: Labels, annotations: Readonly<Record<string, string>>): Tunnel {
  if (hasTunnelLabel(labels)) return 'native';
  return annotations[REDIRECTION] === 'enabled' ? 'HBONE' : 'NONE';
}
