// One endpoint as Envoy gets it. Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (buildEnvoyLbEndpoint),
// pilot/pkg/networking/util/util.go (AppendLbEndpointMetadata).

import type { JsonObject } from '../../../core/base/json.ts';
import type { Endpoint } from '../../../core/model/service.ts';
import { canonicalService } from '../../../core/registry/canonical-service.ts';
import { CONNECT_ORIGINATE } from '../../../core/select/cluster/cluster-names.ts';
import type { DescribedAs } from '../../../core/select/endpoint/assignment.ts';
import type { NetworkGateway } from '../../../core/select/endpoint/network-gateway.ts';
import { type Address, HealthStatus, type LbEndpoint, type Metadata } from '../../proto/types.gen.ts';
import { internalAddress, ORIGINAL_DST_METADATA } from '../common/internal-upstream.ts';

export interface LbEndpointFacts {
  readonly drainingLabel: string;
  readonly describesWorkloads: boolean;
  readonly dualStack: boolean;
  /** Endpoints of a service outside of the mesh are described as parts of it. */
  readonly describedAs: DescribedAs | undefined;
}

const UNIX = 'unix://';

export function lbEndpoint(endpoint: Endpoint, mtls: boolean, facts: LbEndpointFacts): LbEndpoint {
  const [first = '', ...further] = endpoint.addresses;
  const healthStatus = healthOf(endpoint, facts.drainingLabel);
  const metadata = metadataOf(
    mtls ? endpoint.tlsMode : '',
    facts.describesWorkloads ? workload(endpoint, facts.describedAs) : undefined,
  );
  return {
    endpoint: {
      address: addressOf(first, endpoint.port),
      ...(facts.dualStack && further.length > 0
        ? { additionalAddresses: further.map(address => ({ address: addressOf(address, endpoint.port) })) }
        : {}),
    },
    ...(healthStatus === undefined ? {} : { healthStatus }),
    metadata,
    loadBalancingWeight: { value: weightOf(endpoint) },
  };
}

/**
 * Behind an HBONE tunnel, which an internal listener opens to its first address. `plain`: the endpoint without the
 * tunnel. `matched`: the cluster has other ways to endpoints too. `through`: the endpoint is a waypoint, and the tunnel
 * asks it for this.
 */
export function tunnelledEndpoint(
  endpoint: Endpoint,
  plain: LbEndpoint,
  matched: boolean,
  through: string | undefined,
): LbEndpoint {
  const target = hostPort(endpoint.addresses[0] ?? '', endpoint.port);
  return {
    ...plain,
    endpoint: { address: internalAddress(CONNECT_ORIGINATE, target) },
    metadata: {
      filterMetadata: {
        ...plain.metadata?.filterMetadata,
        [ORIGINAL_DST_METADATA]: through === undefined ? { local: target } : { local: through, waypoint: target },
        ...(matched ? { 'envoy.transport_socket_match': { tunnel: 'http' } } : {}),
      },
    },
  };
}

/** As Go's net.JoinHostPort. */
function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A gateway that stands for the endpoints of another network behind it; always reached by mesh mTLS. */
export function gatewayEndpoint(gateway: NetworkGateway, weight: number, describesWorkloads: boolean): LbEndpoint {
  const metadata = metadataOf('istio', describesWorkloads ? `;;;;${gateway.cluster}` : undefined);
  return {
    endpoint: { address: addressOf(gateway.address, gateway.port) },
    metadata,
    loadBalancingWeight: { value: weight },
  };
}

/** At least 1: Envoy refuses weight 0. */
export function weightOf(endpoint: Endpoint): number {
  return Math.max(1, endpoint.weight);
}

/** Port 0 means the path of a Unix socket. */
function addressOf(address: string, port: number): Address {
  if (port !== 0) return { socketAddress: { address, portValue: port } };
  return { pipe: { path: address.startsWith(UNIX) ? address.slice(UNIX.length) : address } };
}

function healthOf(endpoint: Endpoint, drainingLabel: string): HealthStatus | undefined {
  if ((endpoint.labels[drainingLabel] ?? '') !== '') return HealthStatus.DRAINING;
  switch (endpoint.health) {
    case 'Healthy':
      return HealthStatus.HEALTHY;
    case 'UnHealthy':
      return HealthStatus.UNHEALTHY;
    case 'Draining':
      return HealthStatus.DRAINING;
    default:
      return undefined;
  }
}

/** Sent also when there is nothing in it, as Istio does. */
function metadataOf(tlsMode: string, description: string | undefined): Metadata {
  const filterMetadata: Record<string, JsonObject> = {};
  if (tlsMode !== '' && tlsMode !== 'disabled') filterMetadata['envoy.transport_socket_match'] = { tlsMode };
  if (description !== undefined) filterMetadata.istio = { workload: description };
  return Object.keys(filterMetadata).length === 0 ? {} : { filterMetadata };
}

/**
 * `<workload>;<namespace>;<canonical name>;<canonical revision>;<cluster>`, for telemetry of peers that cannot
 * introduce themselves.
 */
function workload(endpoint: Endpoint, service: DescribedAs | undefined): string {
  const labels = { ...endpoint.labels, ...service?.labels };
  const { name, revision } = canonicalService(labels, endpoint.workloadName);
  const shown = revision === 'latest' ? '' : revision;
  return `${endpoint.workloadName};${service?.namespace ?? endpoint.namespace};${name};${shown};${endpoint.cluster}`;
}
