// The classes of Gateways that Periplus serves: the built-in ones, and what a GatewayClass object makes of another
// name.
//
// An object with a foreign controller does not take a built-in name away: its Gateways are configured all the same.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/classinfo.go.

import { configKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { ofRevision } from './revision.ts';

/** `remote`: seen, never served. */
export type ClassRole = 'gateway' | 'remote' | 'waypoint' | 'eastWest';

export interface ClassInfo {
  /** Of the class that is created under this name. */
  readonly name: string;
  readonly controller: string;
  readonly description: string;
  readonly role: ClassRole;
  /** Which addresses a Gateway without external ones reports; '' means addresses and host names. */
  readonly addressType: '' | 'Hostname' | 'IPAddress';
  readonly takesListenerSets: boolean;
  /** The service of a Gateway is called after the class too. */
  readonly nameSuffix: boolean;
  readonly serviceType: 'ClusterIP' | 'LoadBalancer' | '';
}

const WAYPOINT_CONTROLLER = 'istio.io/mesh-controller';
const EAST_WEST_CONTROLLER = 'istio.io/eastwest-controller';
const UNMANAGED_CONTROLLER = 'istio.io/unmanaged-gateway';

/** Argument ''. In the order in which they are created. */
export const builtInClasses: Query<'', readonly ClassInfo[]> = {
  name: 'translate/builtInClasses',
  run: reader => {
    const classes = [ownClass(reader)];
    if (reader.feature('PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API')) classes.push(remoteClass);
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return classes;
    if (reader.feature('PILOT_ENABLE_AMBIENT_WAYPOINTS')) classes.push(waypointClass);
    if (reader.feature('AMBIENT_ENABLE_MULTI_NETWORK')) classes.push(eastWestClass);
    return classes;
  },
};

/** The class that a Gateway names; undefined: another controller's. */
export function classNamed(reader: Reader, name: string): ClassInfo | undefined {
  const classes = reader.get(builtInClasses, '');
  const object = ofRevision(reader, reader.object('GatewayClass', configKey('', name)));
  const byObject =
    object === undefined ? undefined : classes.find(({ controller }) => controller === object.spec.controllerName);
  return byObject ?? classes.find(built => built.name === name);
}

function ownClass(reader: Reader): ClassInfo {
  return {
    name: reader.feature('PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME'),
    controller: reader.feature('PILOT_GATEWAY_API_CONTROLLER_NAME'),
    description: 'The default Istio GatewayClass',
    role: 'gateway',
    addressType: 'Hostname',
    takesListenerSets: true,
    nameSuffix: true,
    serviceType: 'LoadBalancer',
  };
}

const remoteClass: ClassInfo = {
  name: 'istio-remote',
  controller: UNMANAGED_CONTROLLER,
  description: 'Remote to this cluster. Does not deploy or affect configuration.',
  role: 'remote',
  addressType: 'Hostname',
  takesListenerSets: false,
  nameSuffix: true,
  serviceType: '',
};

const waypointClass: ClassInfo = {
  name: 'istio-waypoint',
  controller: WAYPOINT_CONTROLLER,
  description: 'The default Istio waypoint GatewayClass',
  role: 'waypoint',
  addressType: '',
  takesListenerSets: false,
  nameSuffix: false,
  serviceType: 'ClusterIP',
};

const eastWestClass: ClassInfo = {
  name: 'istio-east-west',
  controller: EAST_WEST_CONTROLLER,
  description: 'The default GatewayClass for Istio East West Gateways',
  role: 'eastWest',
  addressType: '',
  takesListenerSets: false,
  nameSuffix: false,
  serviceType: 'LoadBalancer',
};
