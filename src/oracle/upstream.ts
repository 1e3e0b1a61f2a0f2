// From a cluster's name to the hosts that traffic goes to: those of its load assignment, the original destination, or
// the host that the request itself names.

import {
  type Cluster,
  type ClusterLoadAssignment,
  Cluster_DiscoveryType as Discovery,
  type Endpoint,
  type Metadata,
} from '../xds/proto/types.gen.ts';
import { type Socket, showSocket, socketOf } from './address.ts';
import { typeIn } from './any.ts';
import { splitAuthority } from './authority.ts';
import { type Host, healthOf, weightedHosts } from './hosts.ts';
import type { Branch, ChosenEndpoint } from './prediction.ts';
import { end, step, type Trail, weigh } from './trail.ts';
import { transportOf } from './transport.ts';

/** The proxy's resources, by name. */
export interface Upstreams {
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly endpoints: ReadonlyMap<string, ClusterLoadAssignment>;
}

/** What clusters without hosts of their own take hosts from. */
export interface Hints {
  /** The address that the client connected to, if the listener knows it. */
  readonly originalDestination: Socket | undefined;
  /** Authority or server name. */
  readonly named: string;
  /** The header x-envoy-original-dst-host. */
  readonly header: string | undefined;
  readonly metadataMatch: Metadata | undefined;
}

export interface Target {
  readonly cluster: string;
  readonly endpoint: ChosenEndpoint;
  /** The endpoint's host name, for auto_host_rewrite. */
  readonly hostname: string;
}

/** The outcome: a host, no host, or no such cluster. */
export interface Arrivals {
  readonly reached: (trail: Trail, target: Target) => readonly Branch[];
  readonly noHost: (trail: Trail, why: string) => readonly Branch[];
  readonly noCluster: (trail: Trail, why: string) => readonly Branch[];
}

const DYNAMIC_FORWARD_PROXY = /^envoy\.extensions\.clusters\.dynamic_forward_proxy\./;

export function reach(
  trail: Trail,
  upstreams: Upstreams,
  name: string,
  hints: Hints,
  arrivals: Arrivals,
): readonly Branch[] {
  const cluster = upstreams.clusters.get(name);
  if (cluster === undefined) {
    const why = `cluster ${name} is not there`;
    return arrivals.noCluster(step(trail, 'cluster', name, 'is not there'), why);
  }
  if (cluster.clusterType !== undefined) return custom(trail, cluster, hints, arrivals);
  switch (cluster.type ?? Discovery.STATIC) {
    case Discovery.ORIGINAL_DST:
      return originalDestination(step(trail, 'cluster', name, 'is of type ORIGINAL_DST'), cluster, hints, arrivals);
    case Discovery.EDS: {
      const asked = cluster.edsClusterConfig?.serviceName || name;
      const found = upstreams.endpoints.get(asked);
      const on = step(trail, 'cluster', name, `has the endpoints of ${asked}`);
      if (found === undefined) return end(on, { kind: 'unknown', why: `endpoints of ${asked} were not given` });
      return assigned(on, cluster, found, hints, arrivals);
    }
    default:
      return assigned(
        step(trail, 'cluster', name, 'has endpoints of its own'),
        cluster,
        cluster.loadAssignment ?? {},
        hints,
        arrivals,
      );
  }
}

function assigned(
  trail: Trail,
  cluster: Cluster,
  assignment: ClusterLoadAssignment,
  hints: Hints,
  arrivals: Arrivals,
): readonly Branch[] {
  const hosts = weightedHosts(cluster, assignment, hints.metadataMatch ?? undefined);
  const go = (on: Trail, host: Host): readonly Branch[] => {
    const endpoint = host.endpoint.endpoint ?? {};
    const { address, port } = addressOf(endpoint);
    const chosen: ChosenEndpoint = {
      address,
      port,
      locality: host.locality,
      priority: host.priority,
      transport: transportOf(cluster, host),
    };
    const { region = '', zone = '' } = host.locality;
    const why = `priority ${host.priority}, ${healthOf(host)}, locality ${region}/${zone}, by ${chosen.transport.kind}`;
    const there = step(on, 'endpoint', showSocket({ address, port }), why);
    return arrivals.reached(there, { cluster: cluster.name ?? '', endpoint: chosen, hostname: hostnameOf(endpoint) });
  };
  return weigh(trail, hosts, go, on => arrivals.noHost(on, `cluster ${cluster.name} has no host to use`));
}

function addressOf(endpoint: Endpoint): Socket {
  const socket = socketOf(endpoint.address);
  if (socket !== undefined) return socket;
  const { pipe, envoyInternalAddress } = endpoint.address ?? {};
  return { address: pipe?.path ?? envoyInternalAddress?.serverListenerName ?? '', port: 0 };
}

/** A host without a name of its own goes by the DNS name that is its address. */
function hostnameOf(endpoint: Endpoint): string {
  if (endpoint.hostname) return endpoint.hostname;
  const { address } = addressOf(endpoint);
  return /^[\d.]+$|:/.test(address) ? '' : address;
}

function originalDestination(trail: Trail, cluster: Cluster, hints: Hints, arrivals: Arrivals): readonly Branch[] {
  const config = cluster.originalDstLbConfig ?? {};
  const fromHeader = config.useHttpHeader === true && hints.header ? socketIn(hints.header) : undefined;
  const base = fromHeader ?? hints.originalDestination;
  if (base === undefined) return arrivals.noHost(trail, 'the original destination is not known');
  const socket = { ...base, port: config.upstreamPortOverride?.value ?? base.port };
  return alone(trail, cluster, socket, arrivals, 'is the original destination');
}

function custom(trail: Trail, cluster: Cluster, hints: Hints, arrivals: Arrivals): readonly Branch[] {
  const type = typeIn(cluster.clusterType?.typedConfig) || cluster.clusterType?.name || '';
  const on = step(trail, 'cluster', cluster.name ?? '', `is of type ${type}`);
  if (!DYNAMIC_FORWARD_PROXY.test(type)) return end(on, { kind: 'unknown', why: `clusters of type ${type}` });
  const { host, port } = splitAuthority(hints.named);
  if (host === '') return arrivals.noHost(on, 'the request names no host');
  const given = Number(port ?? hints.originalDestination?.port ?? 0);
  return alone(on, cluster, { address: host, port: given }, arrivals, 'is what the request names');
}

function alone(trail: Trail, cluster: Cluster, socket: Socket, arrivals: Arrivals, why: string): readonly Branch[] {
  const endpoint: ChosenEndpoint = { ...socket, locality: {}, priority: 0, transport: transportOf(cluster, undefined) };
  const there = step(trail, 'endpoint', showSocket(socket), `${why}, by ${endpoint.transport.kind}`);
  return arrivals.reached(there, { cluster: cluster.name ?? '', endpoint, hostname: '' });
}

function socketIn(text: string): Socket | undefined {
  const { host, port } = splitAuthority(text);
  return port === undefined ? undefined : { address: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
