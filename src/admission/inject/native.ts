// Whether a sidecar is an init container that keeps running: as the flag says, or if every node's kubelet can do it.
// Source: Istio pkg/kube/inject/webhook.go (DetectNativeSidecar). Of a version only the minor part is looked at.

import { goBoolean } from '../../core/base/go-boolean.ts';
import type { Obj } from '../../core/model/object.ts';
import type { Reader } from '../../core/query/reader.ts';

const MINOR_MIN = 33;
const VERSION = /^v?\d+\.(\d+)/;

export function detectsNativeSidecars(reader: Reader, cluster: string, nodeName: string): boolean {
  const asked = goBoolean(reader.feature('ENABLE_NATIVE_SIDECARS'));
  if (asked !== undefined) return asked;
  // The nodes of other clusters are not known.
  if (cluster !== reader.setting('clusterId')) return false;
  const own = nodeName === '' ? undefined : reader.object('Node', `${cluster}/${nodeName}`);
  const nodes = own === undefined ? reader.objects('Node', `${cluster}/`) : [own];
  return nodes.every(isRecent);
}

function isRecent({ spec }: Obj<'Node'>): boolean {
  const minor = VERSION.exec(spec.kubeletVersion)?.[1];
  return minor !== undefined && Number(minor) >= MINOR_MIN;
}
