// Objects that ask for what Periplus does not serve: ambient workloads and waypoints, tunnels, selectors of old
// Deployments (docs/deviations.md, "Not there yet").
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

const rules: readonly Rule[] = [ambientWorkloads, waypoints, waypointGateways, tunnels, oldSelectors];

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
  const text = 'ambient workloads are not served: ztunnels get no workloads, and policies for them have no effect';
  return [{ level: 'Error', text, path: `metadata.labels[${MODE}]` }];
}

function waypoints(object: JsonObject): readonly FoundHere[] {
  const waypoint = labelsOf(object)[WAYPOINT] ?? 'none';
  if (waypoint === 'none') return [];
  const text = `traffic is not led through the waypoint ${waypoint}, whose policies have no effect`;
  return [{ level: 'Error', text, path: `metadata.labels[${WAYPOINT}]` }];
}

function waypointGateways(object: JsonObject): readonly FoundHere[] {
  const isGateway = object.kind === 'Gateway' && String(object.apiVersion).startsWith('gateway.networking.k8s.io/');
  const name = memberOf(object, 'spec', 'gatewayClassName');
  if (!isGateway || typeof name !== 'string' || !/^istio-waypoint/.test(name)) return [];
  return [{ level: 'Error', text: `Gateways of the class ${name} are not served`, path: 'spec.gatewayClassName' }];
}

function tunnels(object: JsonObject): readonly FoundHere[] {
  const isOf = object.kind === 'Pod' || object.kind === 'WorkloadEntry';
  if (!isOf || labelsOf(object)[TUNNEL] === undefined) return [];
  const text = 'the workload is not reached through a tunnel, but directly';
  return [{ level: 'Warning', text, path: `metadata.labels[${TUNNEL}]` }];
}

/** Of releases before 1.24; a selector cannot be changed, so the server refuses what is applied. */
function oldSelectors(object: JsonObject): readonly FoundHere[] {
  const selector = textsOf(memberOf(object, 'spec', 'selector', 'matchLabels'));
  if (object.kind !== 'Deployment' || selector['istio.io/gateway-name'] === undefined) return [];
  const text = 'the Deployment of a managed Gateway has the selector of releases before 1.24: delete it once';
  return [{ level: 'Warning', text, path: 'spec.selector' }];
}
