// The headless service that stands for an InferencePool: its name, within the length that a name may have.
// Source: Istio pilot/pkg/config/kube/gateway/inferencepool_collection.go (InferencePoolServiceName).

import { utf8 } from '../../base/base64.ts';
import { sha256Hex } from '../../base/sha256.ts';

const NAME_LENGTH_MAX = 63;
const DIGEST_LENGTH = 8;

export function inferenceServiceName(pool: string): string {
  const suffix = `-ip-${sha256Hex(utf8(pool)).slice(0, DIGEST_LENGTH)}`;
  return `${pool.slice(0, NAME_LENGTH_MAX - suffix.length)}${suffix}`;
}
