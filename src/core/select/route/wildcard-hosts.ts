// Which VirtualService owns a service when wildcard hosts overlap: the one with the exact host, else with the longest
// wildcard.
// Source: Istio pilot/pkg/model/virtualservice.go (SelectVirtualServices).

import { HostIndex } from '../../model/host-index.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';

/** Of VirtualServices with equal hosts the first in order counts. */
export function mostSpecificVirtualService(
  virtualServices: readonly ResolvedVirtualService[],
): (host: string) => ResolvedVirtualService | undefined {
  const byHost = new Map<string, ResolvedVirtualService>();
  for (const virtualService of virtualServices) {
    for (const host of virtualService.hosts) if (!byHost.has(host)) byHost.set(host, virtualService);
  }
  const index = new HostIndex([...byHost.keys()]);
  return host => {
    const decisive = index.mostSpecific(host);
    return decisive === undefined ? undefined : byHost.get(decisive);
  };
}
