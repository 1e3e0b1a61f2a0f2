// An istiod that fetches the keys of any issuer, from any address: BLOCKED_CIDRS_IN_JWKS_URIS is not set.
// Source: Istio pkg/config/analysis/analyzers/authn/blockedcidrs.go.

import type { Analyzer } from '../analyzer.ts';
import { jwksUriFetchUnrestricted } from '../ist-0146-0176.ts';
import { fullName, memberOf, objectsOf } from '../objects.ts';

const VARIABLE = 'BLOCKED_CIDRS_IN_JWKS_URIS';
const NAMES_MAX = 5;

export const blockedCidrs: Analyzer = {
  name: 'authn.BlockedCIDRsAnalyzer',
  description: `Checks that ${VARIABLE} is configured on istiod when RequestAuthentication resources exist`,
  needs: [],
  analyze: (objects, report) => {
    const names = objects.all('RequestAuthentication').map(fullName);
    if (names.length === 0) return;
    const more = names.length > NAMES_MAX ? `, and ${names.length - NAMES_MAX} more` : '';
    const text = `${names.slice(0, NAMES_MAX).join(', ')}${more}`;
    for (const item of objects.all('Deployment')) {
      if (item.labels.app !== 'istiod') continue;
      const containers = objectsOf(memberOf(item.spec, 'template', 'spec', 'containers'));
      const isSet = containers.some(({ env }) => objectsOf(env).some(({ name, value }) => name === VARIABLE && value));
      if (!isSet) report(item, jwksUriFetchUnrestricted(names.length, text));
    }
  },
};
