// The listeners at both ends of HBONE tunnels, of sidecars, gateways and waypoints.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { CONNECT_ORIGINATE } from '../../../core/select/cluster/cluster-names.ts';
import { tunnelTlsSettings } from '../../../core/select/listener/tunnel-tls.ts';
import { selectTunnelEnd } from '../../../core/select/listener/tunnels.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import {
  connectTerminateListener,
  type TunnelOpenerListenerInputs,
  tunnelOpenerListener,
} from '../../generate/listener/tunnels.ts';
import type { Listener } from '../../proto/types.gen.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { tunnelAuthorization } from './policy-filters.ts';

/** Takes tunnels. */
export function connectTerminate(reader: ProxyReader, traffic: TrafficClass = 'inbound'): Resource<Listener> {
  return reader.make(connectTerminateListener, {
    ...selectTunnelEnd(reader),
    tls: reader.get(tunnelTlsSettings, ''),
    authorization: reader.get(tunnelAuthorization, ''),
    accessLog: listenerAccessLogs(reader, traffic),
    requestLog: reader.get(accessLogsOf, traffic).tunnelTaken,
  });
}

/** Opens tunnels to the endpoints of a cluster. */
export function connectOriginate(reader: ProxyReader, traffic: TrafficClass): Resource<Listener> {
  return openerOf(reader, traffic, {
    name: CONNECT_ORIGINATE,
    target: '%DOWNSTREAM_LOCAL_ADDRESS%',
    header: '',
    headerValue: '',
    filters: [],
    readsDestination: true,
  });
}

export function openerOf(
  reader: ProxyReader,
  traffic: TrafficClass,
  inputs: Omit<TunnelOpenerListenerInputs, 'accessLog' | 'tunnelLog'>,
): Resource<Listener> {
  return reader.make(tunnelOpenerListener, {
    ...inputs,
    accessLog: listenerAccessLogs(reader, traffic),
    tunnelLog: reader.get(accessLogsOf, traffic).tunnelOpened,
  });
}
