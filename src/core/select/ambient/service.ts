// A service as ztunnel knows it, before it is a message.

import type { Labels } from '../../base/labels.ts';
import type { Protocol } from '../../model/service.ts';
import type { WaypointAddress } from './waypoints.ts';

export interface AmbientService {
  /** Name of the object. */
  readonly name: string;
  readonly namespace: string;
  readonly hostname: string;
  readonly registry: 'Service' | 'ServiceEntry';
  readonly network: string;
  readonly addresses: readonly ServiceAddress[];
  readonly ports: readonly AmbientPort[];
  readonly subjectAltNames: readonly string[];
  readonly waypoint: WaypointAddress | undefined;
  /** `namespace/name` of the Gateway that the waypoint is. */
  readonly waypointKey: string;
  readonly ingressUseWaypoint: boolean;
  readonly loadBalancing: LoadBalancing | undefined;
  readonly ipFamilies: 'AUTOMATIC' | 'IPV4_ONLY' | 'IPV6_ONLY' | 'DUAL';
  readonly canonical: boolean;
  readonly selector: Labels;
}

export interface ServiceAddress {
  readonly ip: string;
  /** Undefined: one address. */
  readonly bits: number | undefined;
}

export interface AmbientPort {
  readonly port: number;
  /** 0: its name is looked up in each workload. */
  readonly targetPort: number;
  readonly name: string;
  /** Empty: the target is a number. */
  readonly targetName: string;
  readonly protocol: Protocol;
}

export interface LoadBalancing {
  readonly preference: readonly ('NETWORK' | 'REGION' | 'ZONE' | 'SUBZONE' | 'NODE')[];
  readonly mode: 'STRICT' | 'FAILOVER' | 'PASSTHROUGH' | undefined;
  /** Endpoints that are not healthy count too. */
  readonly allEndpoints: boolean;
}
