// Routes by JWT claims on a gateway whose pods validate no token: the claims are never there to route by.
//
// Source: Istio pkg/config/analysis/analyzers/virtualservice/jwtclaimroute.go, pkg/jwt/routing.go (ToRoutingClaim).

import { selects } from '../../core/base/labels.ts';
import type { VirtualService } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import { jwtClaimBasedRoutingWithoutRequestAuthN } from '../ist-0146-0176.ts';
import { type AnalyzedObjects, fullName, shortOrFullName } from '../objects.ts';

/** `@request.auth.claims.a.b` or `@request.auth.claims[a][b]`. */
const CLAIM = /^@request\.auth\.claims(?:\..+|\[.+\])$/is;

export const virtualServiceJwt: Analyzer = {
  name: 'virtualservice.JWTClaimRouteAnalyzer',
  description: 'Checks the VirtualService using JWT claim based routing has corresponding RequestAuthentication',
  needs: ['VirtualService', 'Gateway', 'Pod'],
  analyze: (objects, report) => {
    for (const item of objects.all('VirtualService')) {
      const key = claimOf(item.spec);
      if (key === undefined) continue;
      for (const text of item.spec.gateways ?? []) {
        const gateway = text === 'mesh' ? undefined : objects.find('Gateway', shortOrFullName(item.namespace, text));
        if (gateway === undefined) continue;
        for (const pod of objects.all('Pod')) {
          if (!selects(gateway.spec.selector ?? {}, pod.labels) || isAuthenticated(objects, pod)) continue;
          report(item, jwtClaimBasedRoutingWithoutRequestAuthN(key, fullName(gateway), pod.name));
        }
      }
    }
  },
};

function isAuthenticated(
  objects: AnalyzedObjects,
  pod: { readonly namespace: string; readonly labels: Record<string, string> },
): boolean {
  return objects
    .all('RequestAuthentication')
    .some(
      ({ namespace, spec }) =>
        (namespace === 'istio-system' || namespace === pod.namespace) &&
        selects(spec.selector?.matchLabels ?? {}, pod.labels),
    );
}

function claimOf({ http = [] }: VirtualService): string | undefined {
  for (const { match = [] } of http) {
    for (const { headers = {}, withoutHeaders = {} } of match) {
      const found = [...Object.keys(headers), ...Object.keys(withoutHeaders)].find(key => CLAIM.test(key));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
