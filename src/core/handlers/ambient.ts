// What ztunnels and waypoints are sent derives from the objects themselves and not from the registry's services and
// endpoints, so with ambient mode a change of one of these kinds requests a push also where no other Envoy is
// concerned. Whether an address differs is found by the tracker; the request may ask for too much.
// Source: Istio pilot/pkg/serviceregistry/ambient/ambientindex.go (the handlers that request pushes).

import { hasLabels, REGION_LABEL, SUBZONE_LABEL, ZONE_LABEL } from '../base/labels.ts';
import { featureOf } from '../mesh/features.ts';
import type { KindName } from '../model/kind.ts';
import { type Obj, objectName } from '../model/object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import { SERVICE_NAME_LABEL } from '../registry/slice-endpoints.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';

/** Of which every change counts: their projections have little that ztunnels are not sent. */
const COUNTED: readonly KindName[] = [
  'Pod',
  'Service',
  'ServiceEntry',
  'WorkloadEntry',
  'Namespace',
  'KubernetesGateway',
  'GatewayClass',
  'AuthorizationPolicy',
  'PeerAuthentication',
];

/** Undefined: the change concerns no ztunnel. */
export function ambientRequest(state: State, change: Change): PushRequest | undefined {
  if (!featureOf(state.settings, 'PILOT_ENABLE_AMBIENT') || !isCounted(state, change)) return undefined;
  return pushRequest(change.seq, 'ambient', [objectName(versionsOf(change)[0])], { full: false });
}

function isCounted(state: State, change: Change): boolean {
  if (versionsOf(change)[0].cluster !== state.settings.clusterId) return false;
  if (change.kind === 'Node') return localityOf(change.before) !== localityOf(change.after);
  if (change.kind === 'EndpointSlice') return versionsOf<'EndpointSlice'>(change).some(slice => isByHand(state, slice));
  return COUNTED.includes(change.kind);
}

function localityOf(node: Obj | undefined): string {
  return [REGION_LABEL, ZONE_LABEL, SUBZONE_LABEL].map(label => node?.labels[label] ?? '').join('/');
}

/** With endpoints that are no pods, or of a service that selects no pods itself. */
function isByHand(state: State, { cluster, namespace, labels, spec }: Obj<'EndpointSlice'>): boolean {
  const of = labels[SERVICE_NAME_LABEL];
  if (of === undefined) return false;
  if (spec.endpoints.some(({ targetRef }) => targetRef?.kind !== 'Pod')) return true;
  const service = state.objects.Service.get(`${cluster}/${namespace}/${of}`) as Obj<'Service'> | undefined;
  return !hasLabels(service?.spec.selector);
}
