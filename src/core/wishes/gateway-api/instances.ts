// What serves a Gateway: the services that were found, their addresses, and what keeps them from serving it.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/context.go (ResolveGatewayInstances).

import { isIp } from '../../base/ip.ts';
import { kubernetesServiceOf } from '../../model/hosts.ts';
import { kubernetesKey } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { Reader } from '../../query/reader.ts';
import { endpointShards, endpointsOfPort } from '../../registry/endpoints.ts';
import { NO_ADDRESS } from '../../registry/kubernetes-service.ts';
import { servicesOfHost } from '../../registry/services.ts';
import { quoted } from '../../translate/gateway-api/config-error.ts';

export interface GatewayInstances {
  /** `host:port` with endpoints. Sorted, as all lists here. */
  readonly internal: readonly string[];
  readonly addresses: readonly string[];
  readonly external: readonly string[];
  /** Hosts that wait for a load balancer. */
  readonly pending: readonly string[];
  readonly warnings: readonly string[];
  readonly allUsable: boolean;
}

/** Set by the controller that deploys a Gateway's service. */
const MANAGED_LABEL = 'gateway.istio.io/managed';

export function resolveInstances(
  reader: Reader,
  namespace: string,
  hosts: readonly string[],
  ports: readonly number[],
): GatewayInstances {
  const found = new Found();
  for (const host of hosts) {
    const services = reader.get(servicesOfHost, host);
    const service = services.find(one => one.namespace === namespace);
    if (service === undefined) found.unusable(notFound(host, namespace, services));
    else for (const port of new Set(ports)) lookAtPort(reader, found, service, port);
  }
  return found.result();
}

function notFound(host: string, namespace: string, services: readonly Service[]): string {
  const others = [...new Set(services.map(service => quoted(service.namespace)))].sort();
  if (others.length === 0) return `hostname ${quoted(host)} not found`;
  const where = others.join(', ');
  return `hostname ${quoted(host)} not found in namespace ${quoted(namespace)}, but it was found in namespace(s) ${where}`;
}

function lookAtPort(reader: Reader, found: Found, service: Service, port: number): void {
  const { hostname } = service;
  if (endpointsOfPort(reader, service, port).length > 0) {
    found.serve(reader, service, port);
    return;
  }
  const endpoints = reader.get(endpointShards, service).flatMap(shard => shard.endpoints);
  if (endpoints.length === 0) {
    found.warn(`no instances found for hostname ${quoted(hostname)}`);
    return;
  }
  const hints = endpoints
    .filter(endpoint => endpoint.port === port)
    .map(({ servicePort, portName }) => servicePort || service.ports.find(({ name }) => name === portName)?.port || 0);
  if (hints.length > 0) {
    const shown = [...new Set(hints.map(String))].sort().join(' ');
    found.unusable(
      `port ${port} not found for hostname ${quoted(hostname)} (hint: the service port should be specified, not the workload port. Did you mean one of these ports: [${shown}]?)`,
    );
    return;
  }
  // Endpoints of a deployment of our own are on their way.
  const awaited = service.labels[MANAGED_LABEL] !== undefined && service.ports.some(one => one.port === port);
  if (!awaited) found.unusable(`port ${port} not found for hostname ${quoted(hostname)}`);
}

class Found {
  readonly #internal = new Set<string>();
  readonly #addresses = new Set<string>();
  readonly #external = new Set<string>();
  readonly #pending = new Set<string>();
  readonly #warnings: string[] = [];
  #allUsable = true;

  serve(reader: Reader, service: Service, port: number): void {
    const { hostname } = service;
    this.#internal.add(`${hostname}:${port}`);
    const vips = service.clusterVips[reader.setting('clusterId')] ?? [service.defaultAddress];
    for (const address of vips) if (address !== NO_ADDRESS && isIp(address)) this.#addresses.add(address);
    const external = Object.values(service.externalAddresses).flat();
    for (const address of external) this.#external.add(address);
    if (external.length > 0 || !isBalanced(reader, hostname) || this.#pending.has(hostname)) return;
    this.#pending.add(hostname);
    this.warn(`address pending for hostname ${quoted(hostname)}`);
  }

  warn(message: string): void {
    this.#warnings.push(message);
  }

  unusable(message: string): void {
    this.warn(message);
    this.#allUsable = false;
  }

  result(): GatewayInstances {
    return {
      internal: [...this.#internal].sort(),
      addresses: [...this.#addresses].sort(),
      external: [...this.#external].sort(),
      pending: [...this.#pending].sort(),
      warnings: [...this.#warnings].sort(),
      allUsable: this.#allUsable,
    };
  }
}

function isBalanced(reader: Reader, hostname: string): boolean {
  const named = kubernetesServiceOf(hostname, reader.setting('domainSuffix'));
  if (named === undefined) return false;
  const key = kubernetesKey(reader.setting('clusterId'), named.namespace, named.name);
  return reader.object('Service', key)?.spec.type === 'LoadBalancer';
}
