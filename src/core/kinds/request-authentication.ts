// RequestAuthentication: which tokens a workload accepts. Decoded only.

import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio.ts';

export const requestAuthentication = istioKind({
  kind: 'RequestAuthentication',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  type: 'istio.security.v1beta1.RequestAuthentication',
});
