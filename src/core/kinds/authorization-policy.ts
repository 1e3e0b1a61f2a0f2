// AuthorizationPolicy: who may do what. Decoded only.

import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio.ts';

export const authorizationPolicy = istioKind({
  kind: 'AuthorizationPolicy',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  type: 'istio.security.v1beta1.AuthorizationPolicy',
});
