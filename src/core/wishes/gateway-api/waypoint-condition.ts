// In ambient mode the status of a route says whether its parent has a waypoint, without which the route does nothing at
// a parent of the mesh. A Gateway needs none.
// Source: Istio pilot/pkg/config/kube/gateway/conditions.go (createRouteStatus),
// pilot/pkg/config/kube/gateway/conversion.go (referenceAllowed).

import { kubernetesKey } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import { type Candidate, isMesh } from '../../translate/gateway-api/parents.ts';
import { type Condition, condition } from './conditions.ts';

const USE_WAYPOINT = 'istio.io/use-waypoint';
const RESOLVED = 'All waypoints resolved';
const MISSING =
  'istio.io/use-waypoint label missing from parent and parent namespace; in ambient mode, route will not be respected';

/** Undefined where ambient mode is off. */
export function waypointCondition(reader: Reader, candidate: Candidate): Condition | undefined {
  if (!reader.feature('PILOT_ENABLE_AMBIENT')) return undefined;
  const message = isMesh(candidate) ? messageOf(reader, candidate) : RESOLVED;
  return condition('ResolvedWaypoints', undefined, 'ResolvedWaypoints', message);
}

function messageOf(reader: Reader, { type, key }: Candidate): string {
  const [namespace = '', name = ''] = key.split('/');
  const cluster = reader.setting('clusterId');
  const parent =
    type === '/Service'
      ? reader.object('Service', kubernetesKey(cluster, namespace, name))
      : reader.object('ServiceEntry', key);
  if (parent === undefined) return 'parent not found';
  if (names(parent.labels)) return RESOLVED;
  const owner = reader.object('Namespace', `${cluster}/${namespace}`);
  return owner === undefined || names(owner.labels) ? RESOLVED : MISSING;
}

function names(labels: Readonly<Record<string, string>>): boolean {
  const name = labels[USE_WAYPOINT] ?? '';
  return name !== '' && name.toLowerCase() !== 'none';
}
