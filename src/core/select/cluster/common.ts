// Settings that all clusters share, from the mesh, the flags and the proxy; and the names of their statistics.

import type { MeshConfig } from '../../mesh/effective.ts';
import type { Port, Service } from '../../model/service.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import type { Duration } from '../../schema/duration.ts';
import type { ConnectionPoolSettings_TCPSettings_TcpKeepalive as TcpKeepalive } from '../../schema/istio-types.gen.ts';
import { sendsHbone } from '../proxy/hbone.ts';
import { metadataExchange } from '../proxy/proxy-capabilities.ts';
import { preservesHeaderCase } from '../proxy/proxy-metadata.ts';

export interface CommonClusterInputs {
  readonly connectTimeout: Duration | undefined;
  readonly meshKeepalive: TcpKeepalive | undefined;
  /** Envoy keeps a gauge of the remaining capacity of each circuit breaker. */
  readonly trackRemaining: boolean;
}

export function commonClusterInputs(reader: ProxyReader): CommonClusterInputs {
  return {
    connectTimeout: reader.mesh('connectTimeout'),
    meshKeepalive: reader.mesh('tcpKeepalive'),
    trackRemaining: !reader.feature('DISABLE_TRACK_REMAINING_CB_METRICS'),
  };
}

/**
 * Inputs from the mesh, the flags and the proxy that all clusters share: read once, because there are thousands of
 * clusters.
 */
export interface OutboundDefaults extends CommonClusterInputs {
  readonly h2UpgradePolicy: MeshConfig['h2UpgradePolicy'];
  readonly localityLbSetting: MeshConfig['localityLbSetting'];
  readonly statPattern: string | undefined;
  readonly followsUndetected: boolean;
  readonly headerCase: boolean;
  readonly exchangeMetadata: boolean;
  readonly exchangeLabels: string;
  readonly telemetry: boolean;
  readonly localityWeighted: boolean;
  readonly sendsUnhealthy: boolean;
  readonly redisFilter: boolean;
  readonly ambient: boolean;
  readonly sendsHbone: boolean;
  /** Labels of services that bind sessions to endpoints, by cookie and by header. */
  readonly sessionLabels: readonly string[];
}

export const outboundDefaults: Query<'', OutboundDefaults> = {
  name: 'select/outboundDefaults',
  run: reader => {
    const exchange = metadataExchange(reader);
    return {
      ...commonClusterInputs(reader),
      h2UpgradePolicy: reader.mesh('h2UpgradePolicy'),
      localityLbSetting: reader.mesh('localityLbSetting'),
      statPattern: reader.mesh('outboundClusterStatName'),
      followsUndetected: ['sidecar', 'waypoint'].includes(reader.facet('type')),
      headerCase: preservesHeaderCase(reader),
      exchangeMetadata: exchange.on,
      exchangeLabels: exchange.labels,
      telemetry: reader.feature('PILOT_ENABLE_TELEMETRY_LABEL'),
      localityWeighted: reader.feature('ENABLE_LOCALITY_WEIGHTED_LB_CONFIG'),
      sendsUnhealthy: reader.feature('PILOT_SEND_UNHEALTHY_ENDPOINTS'),
      redisFilter: reader.feature('PILOT_ENABLE_REDIS_FILTER'),
      ambient: reader.feature('PILOT_ENABLE_AMBIENT'),
      sendsHbone: sendsHbone(reader),
      sessionLabels: [
        reader.feature('PILOT_PERSISTENT_SESSION_LABEL'),
        reader.feature('PILOT_PERSISTENT_SESSION_HEADER_LABEL'),
      ],
    };
  },
};

/**
 * Unhealthy endpoints of the service are sent too. One that prefers near endpoints needs them: they tell when to go
 * further. Source: Istio pilot/pkg/model/service.go (SupportsUnhealthyEndpoints).
 */
export function sendsUnhealthy(defaults: OutboundDefaults, { trafficDistribution }: Service): boolean {
  return defaults.sendsUnhealthy || trafficDistribution !== 'Any';
}

/**
 * The name under which a cluster's statistics appear, without the final `;` (Istio
 * pilot/pkg/networking/telemetry/telemetry.go). `targetPort` is 0 for outbound clusters; `hostname` stands for a port
 * that a Sidecar declares without a service.
 */
export function statName(
  pattern: string | undefined,
  clusterName: string,
  hostname: string,
  service: Service | undefined,
  port: Port,
  subset: string,
  targetPort: number,
): string {
  if (pattern === undefined || pattern === '') return clusterName;
  return expand(pattern, {
    ...ownerNames(hostname, inKubernetes(service)),
    '%SUBSET_NAME%': subset,
    '%TARGET_PORT%': String(targetPort),
    '%SERVICE_PORT%': String(port.port),
    '%SERVICE_PORT_NAME%': port.name,
  });
}

/**
 * The statistics prefix of inbound TCP traffic. `hostname` stands for it where there is no service: the Sidecar's, or
 * none for traffic that is passed through. Istio knows no target port here and leaves its placeholder standing.
 */
export function inboundStatPrefix(
  pattern: string | undefined,
  clusterName: string,
  hostname: string,
  service: Service | undefined,
  port: Pick<Port, 'port' | 'name'>,
): string {
  return inboundPrefix(pattern, clusterName, ownerNames(hostname, inKubernetes(service)), port);
}

/** The same of a waypoint, which knows the services of any registry by name and namespace; undefined: none. */
export function waypointStatPrefix(
  pattern: string | undefined,
  clusterName: string,
  service: Service | undefined,
  port: Pick<Port, 'port' | 'name'>,
): string {
  return inboundPrefix(pattern, clusterName, ownerNames(service?.hostname ?? '', service), port);
}

type OwnerNames = Readonly<Record<string, string>>;

function inboundPrefix(
  pattern: string | undefined,
  clusterName: string,
  owner: OwnerNames,
  port: Pick<Port, 'port' | 'name'>,
): string {
  if (pattern === undefined || pattern === '') return clusterName;
  return expand(pattern, {
    ...owner,
    '%SUBSET_NAME%': '',
    '%SERVICE_PORT%': String(port.port),
    '%SERVICE_PORT_NAME%': port.name,
  });
}

function inKubernetes(service: Service | undefined): Service | undefined {
  return service?.registry === 'Kubernetes' ? service : undefined;
}

function ownerNames(hostname: string, service: Service | undefined): OwnerNames {
  return {
    '%SERVICE%': service === undefined ? hostname : `${service.name}.${service.namespace}`,
    '%SERVICE_NAME%': service?.name ?? hostname,
    '%SERVICE_FQDN%': hostname,
  };
}

function expand(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replaceAll(/%[A-Z_]+%/g, placeholder => values[placeholder] ?? placeholder);
}
