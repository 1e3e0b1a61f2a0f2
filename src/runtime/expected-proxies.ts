// Which proxies will probably connect first, for the warm-up: after a restart those that the journal knows, with their
// nodes; in a new mesh one plain sidecar for each namespace. A guess: it is not recorded, and no result depends on it.

import type { JsonObject } from '../core/base/json.ts';
import type { ProxyConnected } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import type { Obj } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';

/** Most proxies that are taken from the journal, the latest connections first. */
export const KNOWN_PROXIES_MAX = 1_000;
/** Most namespaces for which a sidecar is guessed; those with the most pods and services first. */
export const GUESSED_NAMESPACES_MAX = 50;

/** Istio never injects sidecars there (its injector's IgnoredNamespaces). */
const WITHOUT_SIDECARS: ReadonlySet<string> = new Set([
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
]);
/** An address for documentation (RFC 5737), which no pod has. */
const NOBODYS_ADDRESS = '192.0.2.1';
const ISTIO_VERSION = '1.30.3';
const noneRejected: ReadonlySet<number> = new Set();

/** The proxies of the journal, or guessed ones if it has none. Rejects if the journal cannot be read. */
export async function expectedProxies(
  journal: Journal,
  state: State,
  connected: readonly ProxyRecord[],
): Promise<readonly ProxyRecord[]> {
  const known = await knownProxies(journal, state, connected);
  return known.length > 0 ? known : guessedSidecars(state);
}

/** The proxies that connected last, newest first, then those of `connected` that are not among them. */
export async function knownProxies(
  journal: Journal,
  state: State,
  connected: readonly ProxyRecord[],
  max = KNOWN_PROXIES_MAX,
): Promise<readonly ProxyRecord[]> {
  const seqs = await journal.seqsOf('ProxyConnected', { from: journal.base().seq + 1 });
  const known = new Map<string, ProxyRecord>();
  const from = seqs[Math.max(0, seqs.length - max)];
  if (from !== undefined) {
    for await (const page of journal.records({ from, kind: 'ProxyConnected' })) {
      for (const { body } of page) {
        const proxy = proxyOf(state, JSON.parse(body) as Recorded);
        if (proxy === undefined) continue;
        known.delete(proxy.facets.id);
        known.set(proxy.facets.id, proxy);
      }
    }
  }
  const others = connected.filter(({ facets }) => !known.has(facets.id));
  return [...[...known.values()].reverse(), ...others].slice(0, max);
}

type Recorded = Omit<ProxyConnected, 'kind'>;

/** The record that the state would have of the proxy; undefined if its node cannot be parsed. */
function proxyOf(state: State, recorded: Recorded): ProxyRecord | undefined {
  const connection = `expected ${recorded.connection}`;
  const event = {
    ...recorded,
    connection,
    seq: state.seq + 1,
    time: state.time,
    source: 'runtime',
    kind: 'ProxyConnected',
  } as const;
  return fold(state, event, noneRejected, false).state.proxies.get(connection);
}

/** One sidecar of each namespace that has pods or services, the fullest namespaces first. */
export function guessedSidecars(state: State, max = GUESSED_NAMESPACES_MAX): readonly ProxyRecord[] {
  const sizes = new Map<string, number>();
  const pods = new Map<string, Obj<'Pod'>>();
  const { Pod, Service, ServiceEntry, WorkloadEntry } = state.objects;
  for (const table of [Service, ServiceEntry, WorkloadEntry, Pod]) {
    for (const { namespace } of table.values()) sizes.set(namespace, (sizes.get(namespace) ?? 0) + 1);
  }
  for (const pod of Pod.values() as IterableIterator<Obj<'Pod'>>) {
    if (!pods.has(pod.namespace) && pod.spec.podIP !== '' && !pod.spec.hostNetwork) pods.set(pod.namespace, pod);
  }
  const namespaces = [...sizes].filter(([namespace]) => !WITHOUT_SIDECARS.has(namespace));
  namespaces.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return namespaces.slice(0, max).flatMap(([namespace]) => {
    const node = sidecarNode(state, namespace, pods.get(namespace));
    return proxyOf(state, { connection: namespace, node, protocol: 'delta' }) ?? [];
  });
}

/** The node of a pod's sidecar, as injector and agent would write it; without a pod, that of an unknown workload. */
function sidecarNode({ settings }: State, namespace: string, pod: Obj<'Pod'> | undefined): JsonObject {
  const ips = pod === undefined ? [NOBODYS_ADDRESS] : pod.spec.podIPs.length > 0 ? pod.spec.podIPs : [pod.spec.podIP];
  const name = pod?.name ?? 'expected';
  return {
    id: `sidecar~${ips[0]!}~${name}.${namespace}~${namespace}.svc.${settings.domainSuffix}`,
    cluster: `${name}.${namespace}`,
    metadata: {
      CLUSTER_ID: settings.clusterId,
      ISTIO_VERSION,
      NAMESPACE: namespace,
      NAME: name,
      INTERCEPTION_MODE: 'REDIRECT',
      SERVICE_ACCOUNT: pod?.spec.serviceAccountName ?? 'default',
      LABELS: { ...pod?.labels },
      INSTANCE_IPS: ips.join(','),
    },
  };
}
