// PeerAuthentication: what mTLS a workload demands.

import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio.ts';

export const peerAuthentication = istioKind({
  kind: 'PeerAuthentication',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  type: 'istio.security.v1beta1.PeerAuthentication',
});
