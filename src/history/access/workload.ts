// The workload that a question of access is about: a connected proxy, or, where none is connected, a sidecar for the
// pods of a service.
//
// The sidecar of a service is made of what the objects say: labels of its selector, the address of an endpoint. It is
// connected to a state that is not recorded.

import type { JsonObject } from '../../core/base/json.ts';
import type { Obj } from '../../core/model/object.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import { foldFacts, proxyFacts } from '../../offline/generate.ts';
import { HistoryFault } from '../history-fault.ts';
import { proxyNamed } from '../proxies.ts';

export interface AskedWorkload {
  readonly state: State;
  readonly proxy: ProxyRecord;
  /** As people call it. */
  readonly name: string;
}

/** From TEST-NET-2: of a service without endpoints. */
const NO_ADDRESS = '198.51.100.1';
const CONNECTION = 'asked-workload';

/**
 * `name`: a proxy (pod, pod.namespace, connection), or a service as `name.namespace`. Throws a HistoryFault that says
 * which there are.
 */
export function workloadNamed(state: State, name: string): AskedWorkload {
  const [service = '', namespace = 'default'] = name.split('.');
  const found = (state.objects.Service.range('') as readonly Obj<'Service'>[]).find(
    one => one.namespace === namespace && one.name === service,
  );
  try {
    const proxy = proxyNamed(state, name);
    return { state, proxy, name: proxy.facets.id };
  } catch (error) {
    if (found === undefined) throw error;
  }
  const labels = (found.spec.selector ?? {}) as JsonObject;
  const address = addressOf(state, namespace, service);
  const node: JsonObject = {
    id: `sidecar~${address}~${service}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: { NAMESPACE: namespace, LABELS: labels, INSTANCE_IPS: address, ...clusterOf(found.cluster) },
  };
  const { state: next } = foldFacts(proxyFacts(CONNECTION, node), state);
  const proxy = next.proxies.get(CONNECTION);
  if (proxy === undefined) throw new HistoryFault(`no sidecar can be made for the service ${name}`);
  return { state: next, proxy, name: `${service}.${namespace}` };
}

const clusterOf = (cluster: string | undefined): JsonObject => (cluster === undefined ? {} : { CLUSTER_ID: cluster });

function addressOf(state: State, namespace: string, service: string): string {
  for (const slice of state.objects.EndpointSlice.range('')) {
    const { labels, spec, namespace: own } = slice as Obj<'EndpointSlice'>;
    if (own !== namespace || labels['kubernetes.io/service-name'] !== service) continue;
    const address = (spec.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])[0];
    if (address !== undefined) return address;
  }
  return NO_ADDRESS;
}
