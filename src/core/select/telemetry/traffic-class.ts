// The three kinds of traffic that a listener handles. They decide the form of HTTP connection managers, filters and
// telemetry.

export type TrafficClass = 'inbound' | 'outbound' | 'gateway';

/**
 * Whose side telemetry of the class is taken from: a gateway reports as a client (Istio pilot/pkg/model/telemetry.go).
 */
export function reportsAs(traffic: TrafficClass): 'SERVER' | 'CLIENT' {
  return traffic === 'inbound' ? 'SERVER' : 'CLIENT';
}
