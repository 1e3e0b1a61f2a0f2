// Names of clusters, as istioctl, dashboards and EnvoyFilters know them (spec-clusters §1; Istio pilot/pkg/model/service.go).

export const BLACK_HOLE_CLUSTER = 'BlackHoleCluster';
export const PASSTHROUGH_CLUSTER = 'PassthroughCluster';
export const INBOUND_PASSTHROUGH_CLUSTER = 'InboundPassthroughCluster';

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

export interface ParsedClusterName {
  readonly direction: 'outbound' | 'inbound';
  readonly sniDnat: boolean;
  readonly port: number;
  readonly subset: string;
  readonly hostname: string;
}

/** The parts of a cluster name; undefined for a name of another form, such as `BlackHoleCluster`. */
export function parseClusterName(name: string): ParsedClusterName | undefined {
  const sniDnat = name.startsWith('outbound_') || name.startsWith('inbound_');
  const parts = name.split(sniDnat ? '_.' : '|');
  const [direction, port, subset, hostname] = parts;
  if (parts.length !== 4 || (direction !== 'outbound' && direction !== 'inbound')) return undefined;
  if (port === undefined || !/^[0-9]{1,5}$/.test(port)) return undefined;
  return { direction, sniDnat, port: Number(port), subset: subset ?? '', hostname: hostname ?? '' };
}
