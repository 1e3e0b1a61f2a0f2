// Gateways that open the same port with the same host on the same workloads.
//
// Source: Istio pkg/config/analysis/analyzers/gateway/conflictinggateway.go, pilot/pkg/model/gateway.go
// (CheckDuplicates). istioctl also counts hosts that it has met while comparing other Gateways, in the order of a Go
// map; here two Gateways conflict exactly when they share a host and bind.

import { selects } from '../../core/base/labels.ts';
import type { Gateway, Server } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import { conflictingGateways } from '../ist-0001-0145.ts';
import { type AnalyzedObjects, fullName, type Item, selectorText } from '../objects.ts';

export const gatewayConflicts: Analyzer = {
  name: 'gateway.ConflictingGatewayAnalyzer',
  description: "Checks a gateway's selector, port number and hosts",
  needs: ['Gateway'],
  analyze: (objects, report) => {
    const gateways = objects.all('Gateway');
    for (const item of gateways) {
      const selector = selectorText(item.spec.selector ?? {});
      const rivals = gateways.filter(
        other => fullName(other) !== fullName(item) && meet(objects, item.spec, other.spec),
      );
      for (const server of item.spec.servers ?? []) {
        const port = portOf(server);
        const names = rivals
          .filter(({ spec }) => (spec.servers ?? []).some(other => clash(server, other)))
          .map(fullName);
        if (names.length === 0) continue;
        const hosts = (server.hosts ?? []).join(',');
        report(item, conflictingGateways(names.sort().join(','), selector, `${port}`, hosts));
      }
    }
  },
};

/** Equal selectors; or one contains the other as text, and a pod has both. */
function meet(objects: AnalyzedObjects, { selector: a = {} }: Gateway, { selector: b = {} }: Gateway): boolean {
  const [textA, textB] = [selectorText(a), selectorText(b)];
  if (textA === textB) return true;
  if (!textA.includes(textB) && !textB.includes(textA)) return false;
  return objects.all('Pod').some(({ labels }: Item) => selects(a, labels) && selects(b, labels));
}

function portOf({ port }: Server): number {
  return port?.number ?? 0;
}

function clash(a: Server, b: Server): boolean {
  const known = b.hosts ?? [];
  return (
    portOf(a) === portOf(b) && (a.bind ?? '') === (b.bind ?? '') && (a.hosts ?? []).some(host => known.includes(host))
  );
}
