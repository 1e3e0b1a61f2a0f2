// Which proxies a policy is attached to: by target references on a proxy of the Gateway API, by selector elsewhere.
//
// Chains of a waypoint that belong to one service ask with the service as the subject.
// Source: Istio pilot/pkg/model/policyattachment.go (ShouldAttachPolicy).

import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { proxyLabels, proxySelectedBy } from '../../registry/workload.ts';
import type { PolicyTargetReference, TypeWorkloadSelector } from '../../schema/istio-types.gen.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';

const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';
const GATEWAY_GROUP = 'gateway.networking.k8s.io';
const SERVICE_ENTRY_GROUP = 'networking.istio.io';

export interface Attachable {
  readonly selector?: TypeWorkloadSelector;
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
  /** The selection of a refused policy is undecided (refused-policy.ts): it is attached wherever it could be. */
  readonly selectsAll?: true;
}

/**
 * `namespace`: that of the policy. `subject`: what the traffic is for, besides the proxy itself. A selector in the root
 * namespace reaches every namespace; the caller looks in the right ones.
 */
export function isAttached(
  reader: ProxyReader,
  namespace: string,
  policy: Attachable,
  subject: PolicySubject = '',
): boolean {
  return attaches(reader, namespace, policy, { subject, waypoint: reader.facet('type') === 'waypoint' });
}

/** As `isAttached` for a workload that is no waypoint, whatever the proxy is. */
export function isAttachedToWorkload(reader: ProxyReader, namespace: string, policy: Attachable): boolean {
  return attaches(reader, namespace, policy, { subject: '', waypoint: false });
}

interface Attached {
  readonly subject: PolicySubject;
  readonly waypoint: boolean;
}

function attaches(reader: ProxyReader, namespace: string, policy: Attachable, to: Attached): boolean {
  if (policy.selectsAll) return true;
  const targets = targetsOf(policy);
  const gateway = reader.derived(gatewayName);
  if (gateway === null) return targets.length === 0 && selects(reader, policy);
  if (targets.length > 0) {
    return targets.some(
      target =>
        targetsSubject(namespace, target, to.subject) ||
        (to.waypoint && targetsWaypoints(reader, namespace, target)) ||
        targetsGateway(reader, namespace, target, gateway),
    );
  }
  if (to.waypoint) return false;
  return reader.feature('ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY') && selects(reader, policy);
}

/** The namespace of the object that traffic is for; '' for none. */
export function namespaceOf(subject: PolicySubject): string {
  return subject.slice(subject.indexOf(' ') + 1, Math.max(0, subject.indexOf('/')));
}

/** Name of the Gateway (Gateway API) that the proxy is deployed for; null: it is none of its proxies. */
export const gatewayName: Derivation<string | null> = {
  name: 'select/gatewayName',
  run: reader => reader.derived(proxyLabels)[GATEWAY_NAME_LABEL] ?? null,
};

/** The list, or the single reference where the list is empty. */
export function targetsOf({ targetRef, targetRefs = [] }: Attachable): readonly PolicyTargetReference[] {
  if (targetRefs.length > 0) return targetRefs;
  return targetRef === undefined ? [] : [targetRef];
}

function selects(reader: ProxyReader, { selector }: Attachable): boolean {
  return proxySelectedBy(reader, selector?.matchLabels ?? {});
}

/** The core group has two names. */
function targetsSubject(
  policyNamespace: string,
  { group = '', kind = '', name = '' }: PolicyTargetReference,
  subject: PolicySubject,
): boolean {
  const fits = kind === 'ServiceEntry' ? group === SERVICE_ENTRY_GROUP : group === '' || group === 'core';
  return fits && subject === `${kind} ${policyNamespace}/${name}`;
}

/** All waypoints of the mesh, by a policy of the root namespace. */
function targetsWaypoints(
  reader: ProxyReader,
  policyNamespace: string,
  { group, kind, name }: PolicyTargetReference,
): boolean {
  const named = group === GATEWAY_GROUP && kind === 'GatewayClass' && name === 'istio-waypoint';
  return named && policyNamespace === reader.mesh('rootNamespace');
}

function targetsGateway(
  reader: ProxyReader,
  policyNamespace: string,
  { group, kind, name, namespace = '' }: PolicyTargetReference,
  gateway: string,
): boolean {
  if (group !== GATEWAY_GROUP || kind !== 'Gateway' || name !== gateway) return false;
  const own = reader.facet('namespace');
  return policyNamespace === own && (namespace === '' || namespace === own);
}
