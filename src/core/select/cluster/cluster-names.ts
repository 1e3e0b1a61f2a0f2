// Names of clusters, as istioctl, dashboards and EnvoyFilters know them.
// Source: Istio pilot/pkg/model/service.go.

/**
 * The cluster of a destination without a host: translation of the Gateway API makes one for a backend that may not be
 * used. No proxy has such a cluster.
 */
export const UNKNOWN_SERVICE = 'UnknownService';
export const BLACK_HOLE_CLUSTER = 'BlackHoleCluster';
/** The generated cluster of a credential socket that is mounted into the proxy. */
export const CREDENTIAL_SDS_CLUSTER = 'sds-external';
export const PASSTHROUGH_CLUSTER = 'PassthroughCluster';
export const INBOUND_PASSTHROUGH_CLUSTER = 'InboundPassthroughCluster';

// Clusters around HBONE tunnels; the internal listeners behind them have the same names.
// Source: Istio pilot/pkg/networking/core/waypoint.go.

/** Opens tunnels to the original destination. */
export const CONNECT_ORIGINATE = 'connect_originate';
/** Leads what came through a tunnel to the chains of its destination. */
export const MAIN_INTERNAL = 'main_internal';
/** Leads what a waypoint sends to a workload into a tunnel. */
export const ENCAP_CLUSTER = 'encap';
/** Open a tunnel inside of a tunnel, to another network. */
export const INNER_CONNECT_ORIGINATE = 'inner_connect_originate';
export const OUTER_CONNECT_ORIGINATE = 'outer_connect_originate';
/** The listener that takes tunnels. */
export const CONNECT_TERMINATE = 'connect_terminate';

/** `outbound|<service port>|<subset>|<hostname>`; the port is never a target port. */
export function outboundClusterName(hostname: string, subset: string, port: number): string {
  return `outbound|${port}|${subset}|${hostname}`;
}

/** `inbound|<target port>||` */
export function inboundClusterName(port: number): string {
  return `inbound|${port}||`;
}

/** `outbound_.<port>_.<subset>_.<hostname>`: the SNI-DNAT cluster of a gateway, and the default SNI of mesh mTLS. */
export function sniDnatName(hostname: string, subset: string, port: number): string {
  return `outbound_.${port}_.${subset}_.${hostname}`;
}

/**
 * `inbound-vip|<service port>|<protocol>[/<subset>]|<hostname>`: the cluster of a service behind a waypoint; the
 * protocol is `http` or `tcp`.
 */
export function vipClusterName(hostname: string, protocol: 'http' | 'tcp', subset: string, port: number): string {
  return `inbound-vip|${port}|${subset === '' ? protocol : `${protocol}/${subset}`}|${hostname}`;
}

/** The subset in the name of such a cluster; '' for none. */
export function vipSubset(subset: string): string {
  const slash = subset.indexOf('/');
  return slash < 0 ? '' : subset.slice(slash + 1);
}

export interface ParsedClusterName {
  readonly direction: 'outbound' | 'inbound' | 'inbound-vip';
  readonly sniDnat: boolean;
  readonly port: number;
  readonly subset: string;
  readonly hostname: string;
}

/** The parts of a cluster name; undefined for a name of another form, such as `BlackHoleCluster`. */
export function parseClusterName(name: string): ParsedClusterName | undefined {
  const sniDnat = name.startsWith('outbound_') || name.startsWith('inbound_');
  const separator = sniDnat ? '_.' : '|';
  // Allocates no lists: names of clusters are read for each rule of a VirtualService.
  const first = name.indexOf(separator);
  const second = first < 0 ? -1 : name.indexOf(separator, first + separator.length);
  const third = second < 0 ? -1 : name.indexOf(separator, second + separator.length);
  if (third < 0 || name.includes(separator, third + separator.length)) return undefined;
  const direction = name.slice(0, first);
  if (direction !== 'outbound' && direction !== 'inbound' && direction !== 'inbound-vip') return undefined;
  const port = portOf(name, first + separator.length, second);
  if (port === undefined) return undefined;
  const subset = name.slice(second + separator.length, third);
  return { direction, sniDnat, port, subset, hostname: name.slice(third + separator.length) };
}

const PORT_DIGITS_MAX = 5;
const DIGIT_0 = 48;

/** The number that the characters from `start` to before `end` write in decimal digits. */
function portOf(text: string, start: number, end: number): number | undefined {
  if (end === start || end - start > PORT_DIGITS_MAX) return undefined;
  let port = 0;
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - DIGIT_0;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    port = port * 10 + digit;
  }
  return port;
}
