// ServiceEntries that select workloads: which of them a changed workload concerns.

import type { PushRequest } from '../push-request.ts';
import type { Labels } from '../registry/labels.ts';
import { hostsOf } from '../registry/service-entry.ts';
import { type Comparison, endpointRequest } from './comparison.ts';

/** One request for each host of the ServiceEntries of the namespace whose selector passes. */
export function selectingEntryRequests(
  comparison: Comparison,
  namespace: string,
  isSelected: (selector: Labels) => boolean,
): readonly PushRequest[] {
  const hosts = new Set<string>();
  for (const entry of comparison.after.objects('ServiceEntry', `${namespace}/`)) {
    const { workloadSelector } = entry.spec;
    if (workloadSelector === undefined || !isSelected(workloadSelector.labels ?? {})) continue;
    for (const host of hostsOf(entry)) hosts.add(host);
  }
  return [...hosts].sort().map(host => endpointRequest(comparison, host, namespace));
}
