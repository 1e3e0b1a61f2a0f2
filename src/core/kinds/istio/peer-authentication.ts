// PeerAuthentication: what mTLS a workload demands. Rules: Istio pkg/config/validation (ValidatePeerAuthentication).
//
// One whose first version is refused must not open: its mode acts, STRICT if it cannot be read, on what it selects. If
// that cannot be decided, STRICT acts on its whole namespace, and any other mode not at all. Without the webhook istiod
// acts on all that it can read (policy_applier.go, ComposePeerAuthentication).

import { isRight } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { decodeIstio } from '../../schema/istio.ts';
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
  standIn: { specOf: ({ spec }) => refusedSpec(spec), effect: () => 'its mode acts, STRICT if it cannot be read' },
});

/** Undefined: nothing has to act. Modes of single ports are left out where they are what is refused. */
function refusedSpec(spec: Json | undefined): PeerAuthentication | undefined {
  if (spec !== undefined && !isObject(spec)) return { mtls: { mode: 'STRICT' } };
  const given: JsonObject = spec ?? {};
  const mtls = decoded(pick(given, 'mtls')) ?? { mtls: { mode: 'STRICT' } };
  const selection = decoded(pick(given, 'selector'));
  const decided = selection !== undefined && isSound(selection);
  const ports = decoded(pick(given, 'portLevelMtls'));
  if (!decided) return mtls.mtls?.mode === 'STRICT' ? mtls : undefined;
  const whole = { ...mtls, ...selection, ...ports };
  return isSound(whole) ? whole : { ...mtls, ...selection };
}

function pick(given: JsonObject, member: string): JsonObject {
  return Object.hasOwn(given, member) ? { [member]: given[member] ?? null } : {};
}

function decoded(part: JsonObject): PeerAuthentication | undefined {
  const read = decodeIstio('istio.security.v1beta1.PeerAuthentication', part, '');
  return isRight(read) ? read.right : undefined;
}

function isSound(part: PeerAuthentication): boolean {
  let sound = true;
  checkPeerAuthentication(part, () => {
    sound = false;
  });
  return sound;
}

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
