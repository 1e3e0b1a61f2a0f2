// Whether a sidecar is an init container that keeps running: as the flag says, or if the kubelet of every node in the
// pod's cluster can do it. Source: Istio pkg/kube/inject/webhook.go (DetectNativeSidecar), pilot/pkg/features/pilot.go
// (EnableNativeSidecars). Of a version only the minor part is looked at.

import type { Obj } from '../../core/model/object.ts';
import type { Reader } from '../../core/query/reader.ts';

const MINOR_MIN = 33;
const VERSION = /^v?\d+\.(\d+)/;

/** The flag means what it says in these three words only; any other word switches native sidecars off. */
export function nativeSidecarMode(reader: Reader): 'enabled' | 'disabled' | 'auto' {
  const flag = reader.feature('ENABLE_NATIVE_SIDECARS');
  if (flag === 'true') return 'enabled';
  return flag === 'auto' ? 'auto' : 'disabled';
}

export function detectsNativeSidecars(reader: Reader, cluster: string, nodeName: string): boolean {
  const mode = nativeSidecarMode(reader);
  if (mode !== 'auto') return mode === 'enabled';
  const own = nodeName === '' ? undefined : reader.object('Node', `${cluster}/${nodeName}`);
  const nodes = own === undefined ? reader.objects('Node', `${cluster}/`) : [own];
  // A cluster that is not known has no nodes; the own cluster may hide them from this program.
  const isKnown = nodes.length > 0 || cluster === reader.setting('clusterId');
  return isKnown && nodes.every(isRecent);
}

function isRecent({ spec }: Obj<'Node'>): boolean {
  const minor = VERSION.exec(spec.kubeletVersion)?.[1];
  return minor !== undefined && Number(minor) >= MINOR_MIN;
}
