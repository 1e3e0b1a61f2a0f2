// Which VirtualService owns a service when wildcard hosts overlap: the one with the exact host, else with the longest
// wildcard.
// Source: Istio pilot/pkg/model/virtualservice.go (SelectVirtualServices).

import { bySpecificity, isWildcard, subsetOf } from '../../model/hosts.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';

/** Of VirtualServices with equal hosts the first in order counts. */
export function mostSpecificVirtualService(
  virtualServices: readonly ResolvedVirtualService[],
): (host: string) => ResolvedVirtualService | undefined {
  const byHost = new Map<string, ResolvedVirtualService>();
  for (const virtualService of virtualServices) {
    for (const host of virtualService.hosts) if (!byHost.has(host)) byHost.set(host, virtualService);
  }
  const wildcards = [...byHost.keys()].filter(isWildcard).sort(bySpecificity);
  return host => {
    const exact = byHost.get(host);
    if (exact !== undefined) return exact;
    const covering = wildcards.find(wildcard => subsetOf(host, wildcard));
    return covering === undefined ? undefined : byHost.get(covering);
  };
}
