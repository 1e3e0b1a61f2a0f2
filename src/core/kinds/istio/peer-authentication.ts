// PeerAuthentication: what mTLS a workload demands. Rules: Istio pkg/config/validation (ValidatePeerAuthentication).

import type { PeerAuthentication } from '../../schema/istio-types.gen.ts';
import type { Report } from '../report.ts';
import { checkPort } from '../validate/ports.ts';
import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkSelector } from './validate/selectors.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly PeerAuthentication: { readonly spec: PeerAuthentication; readonly push: 'config' };
  }
}

export const peerAuthentication = istioKind({
  kind: 'PeerAuthentication',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  push: 'config',
  type: 'istio.security.v1beta1.PeerAuthentication',
  references: policyReferences,
  rules: checkPeerAuthentication,
});

function checkPeerAuthentication({ selector, portLevelMtls }: PeerAuthentication, report: Report): void {
  checkSelector(selector?.matchLabels, 'spec.selector.matchLabels', report);
  if (portLevelMtls === undefined) return;
  const ports = Object.keys(portLevelMtls);
  if (ports.length === 0) report('spec.portLevelMtls', 'is empty; expected at least one port');
  if (Object.keys(selector?.matchLabels ?? {}).length === 0) {
    report('spec.portLevelMtls', 'is possible only with a selector: ports belong to workloads');
  }
  for (const port of ports) checkPort(Number(port), `spec.portLevelMtls[${port}]`, report);
}
