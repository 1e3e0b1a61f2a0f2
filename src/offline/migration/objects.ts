// Objects that ask for what Periplus does not serve: ambient workloads, waypoints and tunnels unless ambient mode is
// on, selectors of old Deployments.
//
// Each rule looks at one object as received. Kinds that the registry declares as without effect need no rule here.

import { memberOf, type Received, textsOf } from '../../analysis/objects.ts';
import type { JsonObject } from '../../core/base/json.ts';
import type { Found } from './found.ts';

type FoundHere = Omit<Found, 'received'>;
type Rule = (object: JsonObject) => readonly FoundHere[];

const MODE = 'istio.io/dataplane-mode';
const WAYPOINT = 'istio.io/use-waypoint';
const TUNNEL = 'networking.istio.io/tunnel';

const rules: readonly Rule[] = [ambientWorkloads, waypoints, tunnels, oldSelectors];

export function objectFindings(objects: readonly Received[]): readonly Found[] {
  return objects
    .filter(({ made }) => made === undefined)
    .flatMap(received => rules.flatMap(rule => rule(received.object).map(found => ({ ...found, received }))));
}

function labelsOf(object: JsonObject): { readonly [name: string]: string } {
  return textsOf(memberOf(object, 'metadata', 'labels'));
}

function ambientWorkloads(object: JsonObject): readonly FoundHere[] {
  if (object.kind !== 'Namespace' && object.kind !== 'Pod') return [];
  if (labelsOf(object)[MODE] !== 'ambient') return [];
  const text = 'without PILOT_ENABLE_AMBIENT ztunnels are refused, and policies for ambient workloads have no effect';
  return [{ level: 'Warning', text, path: `metadata.labels[${MODE}]` }];
}

function waypoints(object: JsonObject): readonly FoundHere[] {
  const waypoint = labelsOf(object)[WAYPOINT] ?? 'none';
  if (waypoint === 'none') return [];
  const text = `without PILOT_ENABLE_AMBIENT the waypoint ${waypoint} is not served, and its policies have no effect`;
  return [{ level: 'Warning', text, path: `metadata.labels[${WAYPOINT}]` }];
}

function tunnels(object: JsonObject): readonly FoundHere[] {
  const isOf = object.kind === 'Pod' || object.kind === 'WorkloadEntry';
  if (!isOf || labelsOf(object)[TUNNEL] === undefined) return [];
  const text = 'without PILOT_ENABLE_AMBIENT the workload is reached directly, not through a tunnel';
  return [{ level: 'Warning', text, path: `metadata.labels[${TUNNEL}]` }];
}

/** Of releases before 1.24; a selector cannot be changed, so the server refuses what is applied. */
function oldSelectors(object: JsonObject): readonly FoundHere[] {
  const selector = textsOf(memberOf(object, 'spec', 'selector', 'matchLabels'));
  if (object.kind !== 'Deployment' || selector['istio.io/gateway-name'] === undefined) return [];
  const text = 'the Deployment of a managed Gateway has the selector of releases before 1.24: delete it once';
  return [{ level: 'Warning', text, path: 'spec.selector' }];
}
