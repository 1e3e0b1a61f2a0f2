// ServiceEntries that select workloads: which of them a changed workload concerns.

import type { PushRequest } from '../push-request.ts';
import type { Labels } from '../registry/labels.ts';
import { selectingEntries } from '../registry/selecting.ts';
import { hostsOf } from '../registry/service-entry.ts';
import { type Comparison, endpointRequest } from './comparison.ts';

/** One request for each host of the ServiceEntries of the namespace that select a workload with one of these sets of labels. */
export function selectingEntryRequests(
  comparison: Comparison,
  namespace: string,
  workloads: readonly Labels[],
): readonly PushRequest[] {
  const hosts = new Set<string>();
  for (const entry of selectingEntries(comparison.after, namespace, workloads)) {
    for (const host of hostsOf(entry)) hosts.add(host);
  }
  return [...hosts].sort().map(host => endpointRequest(comparison, host, namespace));
}
