// The one thing about a client that counts: on demand, it gets the workloads of its own node without asking.
// Source: Istio pilot/pkg/serviceregistry/ambient/ambientindex.go (AdditionalPodSubscriptions).

import type { ProxyReader } from '../../query/reader.ts';

/** Empty: unknown. */
export function clientNode(reader: ProxyReader): string {
  const node = reader.metadata('NODE_NAME');
  return typeof node === 'string' ? node : '';
}
