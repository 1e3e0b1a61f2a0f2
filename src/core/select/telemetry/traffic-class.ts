// The kinds of traffic that a listener handles. They decide the form of HTTP connection managers, filters and
// telemetry. Of a waypoint every chain is a kind of its own: it names the object whose policies count besides those of
// the proxy.

/** `waypoint <subject>`: traffic to a service or workload behind a waypoint; the subject is one of `PolicySubject`. */
export type TrafficClass = 'inbound' | 'outbound' | 'gateway' | `${typeof WAYPOINT}${PolicySubject}`;

/**
 * The object that policies may refer to besides the proxy: `Service <namespace>/<name>` or `ServiceEntry
 * <namespace>/<name>`; '' for none.
 */
export type PolicySubject = string;

const WAYPOINT = 'waypoint ';

export function waypointTraffic(subject: PolicySubject): TrafficClass {
  return `${WAYPOINT}${subject}`;
}

export function isWaypointTraffic(traffic: TrafficClass): boolean {
  return traffic.startsWith(WAYPOINT);
}

/** The object that traffic is for; '' for all but traffic to a service behind a waypoint. */
export function subjectOf(traffic: TrafficClass): PolicySubject {
  return isWaypointTraffic(traffic) ? traffic.slice(WAYPOINT.length) : '';
}

/**
 * Whose side telemetry of the class is taken from: a gateway reports as a client (Istio pilot/pkg/model/telemetry.go).
 */
export function reportsAs(traffic: TrafficClass): 'SERVER' | 'CLIENT' {
  return traffic === 'outbound' || traffic === 'gateway' ? 'CLIENT' : 'SERVER';
}
