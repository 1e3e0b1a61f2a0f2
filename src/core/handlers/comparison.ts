// Compares the service model derived from the states before and after a change; only a difference requests a push. A
// service has the key `ServiceEntry/<namespace>/<hostname>`, whatever it derives from, as in Istio.
// Source: Istio pilot/pkg/model/endpointshards.go (UpdateServiceEndpoints).

import { sameContent } from '../base/equal.ts';
import { hasLabels, NETWORK_LABEL } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import type { EndpointShard } from '../model/service.ts';
import type { ServiceRef } from '../model/service-ref.ts';
import { mergePushRequests, noPush, type PushRequest, pushRequest } from '../push-request.ts';
import type { Reader } from '../query/reader.ts';
import { readersOf } from '../query/untracked.ts';
import { aliasesByTarget } from '../registry/aliases.ts';
import { addressAllocation } from '../registry/allocated-addresses.ts';
import { endpointShards, serviceAccounts } from '../registry/endpoints.ts';
import { servicesOfHost } from '../registry/services.ts';
import { gatewaysAtNode, isOnNodes, namedNetworkGateways, networkGateways } from '../select/endpoint/network.ts';
import type { State } from '../state.ts';

export interface Comparison {
  readonly seq: number;
  readonly before: Reader;
  readonly after: Reader;
  /** The state that `after` reads. */
  readonly state: State;
}

/**
 * Of a service with more slices, workloads or entries than this nothing is compared at a change of one. To compare all
 * at each change would be quadratic; a push that was not needed is not.
 */
export const PARTS_COMPARED_MAX = 100;

/**
 * What follows from all objects of a kind is not compared. Addresses that are allocated to the hosts of a ServiceEntry
 * change with the entry itself, and those of others do not count here; the services that an alias leads to are found
 * from the alias (service.ts).
 */
const NOT_COMPARED = { [addressAllocation.name]: new Map(), [aliasesByTarget.name]: new Map() };

export function compareStates(seq: number, before: State, after: State): Comparison {
  return { seq, ...readersOf(before, after, NOT_COMPARED), state: after };
}

/** The push that a change of a service's endpoints requests; `noPush` if they are equal. */
export function endpointRequest(comparison: Comparison, hostname: string, namespace: string): PushRequest {
  const { before, after } = comparison;
  const service = { hostname, namespace };
  const old = before.get(endpointShards, service);
  const now = after.get(endpointShards, service);
  // Istio requests no push for new endpoints that are unhealthy. Here they count: auto mTLS of a cluster looks at all
  // endpoints.
  if (sameContent(old, now)) return noPush;
  const accounts = !sameContent(before.get(serviceAccounts, service), after.get(serviceAccounts, service));
  const served = [...old, ...now].some(isServedByPods) && isWithoutSelector(after, hostname, namespace);
  return requestOfChanged(comparison, service, old.length === 0 || accounts || served);
}

/** All that a change of the service's endpoints can ask for. */
export function anyEndpointRequest({ seq }: Comparison, hostname: string, namespace: string): PushRequest {
  return anyEndpointsRequest(seq, [serviceKey(namespace, hostname)]);
}

/** The same of several services, by their keys, which are sorted. */
export function anyEndpointsRequest(seq: number, keys: readonly string[]): PushRequest {
  const { length } = keys;
  if (length === 0) return noPush;
  return {
    full: true,
    forced: false,
    configsUpdated: keys,
    reasons: { endpoint: length, headlessendpoint: length },
    causes: { first: seq, last: seq, blockSize: 1, blocks: [seq], count: 2 * length },
  };
}

/** Counts no further than to `most`. */
export function hasMoreThan(most: number, values: Iterable<unknown>): boolean {
  let count = 0;
  for (const _ of values) if (++count > most) return true;
  return false;
}

/** Endpoints of a slice that cost as much to compare as a slice. */
const ENDPOINTS_OF_PART = 10;

/** A Kubernetes service that has too many slices in any cluster, or too large ones, to be compared. */
export function hasManySlices({ indexes }: State, namespace: string, name: string): boolean {
  for (const { cluster } of indexes.servicesByName.valuesFrom(`${namespace}/${name}|`)) {
    let parts = 0;
    for (const slice of indexes.slicesByService.valuesFrom(`${cluster}/${namespace}/${name}|`)) {
      parts += 1 + (slice as Obj<'EndpointSlice'>).spec.endpoints.length / ENDPOINTS_OF_PART;
      if (parts > PARTS_COMPARED_MAX) return true;
    }
  }
  return false;
}

/** The request for endpoints that differ. `isFull`: besides what the service itself demands. */
export function requestOfChanged(
  { seq, after }: Comparison,
  { hostname, namespace }: ServiceRef,
  isFull: boolean,
): PushRequest {
  const key = serviceKey(namespace, hostname);
  const full = isFull || isResolvedByProxy(after, hostname, namespace);
  const request = pushRequest(seq, 'endpoint', [key], { full });
  if (!isHeadless(after, hostname, namespace)) return request;
  return mergePushRequests(request, pushRequest(seq, 'headlessendpoint', [key], { full: true }));
}

/** All endpoints of a network are reached through its gateways. */
export function gatewayRequest(comparison: Comparison): PushRequest {
  const { before, after, state } = comparison;
  const same =
    !hasManyGateways(state) &&
    [namedNetworkGateways, networkGateways].every(gateways =>
      sameContent(before.get(gateways, ''), after.get(gateways, '')),
    );
  return same ? noPush : networksRequest(comparison);
}

/** As gatewayRequest, where nothing but these versions of a Service differs. */
export function serviceGatewayRequest(comparison: Comparison, versions: readonly Obj<'Service'>[]): PushRequest {
  const isGateway =
    versions.some(({ labels }) => labels[NETWORK_LABEL] !== undefined) ||
    Object.values(comparison.after.networks().networks).some(({ gateways = [] }) => gateways.length > 0);
  return isGateway ? gatewayRequest(comparison) : noPush;
}

/** As gatewayRequest, where nothing but a Node differs. */
export function nodeGatewayRequest(
  comparison: Comparison,
  old: Obj<'Node'> | undefined,
  now: Obj<'Node'> | undefined,
): PushRequest {
  const { before, after } = comparison;
  const [was, is] = [old && gatewaysAtNode(before, old), now && gatewaysAtNode(after, now)];
  return (was || '') === (is || '') ? noPush : networksRequest(comparison);
}

function networksRequest({ seq }: Comparison): PushRequest {
  return pushRequest(seq, 'networks', [], { full: true, forced: true });
}

/** Gateways on node ports are compared up to here: a service that is one may stand for all nodes. */
const NODE_GATEWAYS_COMPARED_MAX = 1_000;

function hasManyGateways({ indexes, objects }: State): boolean {
  let services = 0;
  let onNodes = 0;
  for (const service of indexes.networkGatewayServices.valuesFrom('gateway|')) {
    if (++services > PARTS_COMPARED_MAX) return true;
    if (isOnNodes(service as Obj<'Service'>)) onNodes++;
  }
  return onNodes * objects.Node.size > NODE_GATEWAYS_COMPARED_MAX;
}

export function serviceKey(namespace: string, hostname: string): string {
  return `ServiceEntry/${namespace}/${hostname}`;
}

/** `noPush` becomes undefined: the reducer emits no effect. */
export function orNothing(request: PushRequest): PushRequest | undefined {
  return request === noPush ? undefined : request;
}

/** Host names that the proxy resolves are part of the cluster, not of EDS. */
function isResolvedByProxy(reader: Reader, hostname: string, namespace: string): boolean {
  return reader
    .get(servicesOfHost, hostname)
    .some(
      ({ resolution, namespace: owner }) =>
        owner === namespace && (resolution === 'DNSLB' || resolution === 'DNSRoundRobinLB'),
    );
}

function isServedByPods({ endpoints }: EndpointShard): boolean {
  return endpoints.some(({ workloadName }) => workloadName !== '');
}

/** The pods that serve such a service are known by its endpoints alone. */
export function isWithoutSelector(reader: Reader, hostname: string, namespace: string): boolean {
  return reader
    .get(servicesOfHost, hostname)
    .some(
      service => service.namespace === namespace && service.registry === 'Kubernetes' && !hasLabels(service.selector),
    );
}

/** Listeners of a headless service are made of its endpoints. */
function isHeadless(reader: Reader, hostname: string, namespace: string): boolean {
  return reader
    .get(servicesOfHost, hostname)
    .some(
      service =>
        service.namespace === namespace && service.registry === 'Kubernetes' && service.resolution === 'Passthrough',
    );
}
