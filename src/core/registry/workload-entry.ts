// WorkloadEntries: machines outside Kubernetes as workloads, by themselves or inline in a ServiceEntry.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/conversion.go.

import { isIp } from '../base/ip.ts';
import { type Labels, localityOfLabels, TLS_MODE_LABEL, WORKLOAD_NAME_LABEL, withTopology } from '../base/labels.ts';
import { isHealthChecked, REGISTRATION_GROUP } from '../kinds/istio/workload-entry.ts';
import type { Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import type { WorkloadEntry } from '../schema/istio-types.gen.ts';
import { networkOf, spiffeId } from './clusters.ts';
import type { Workload } from './pods.ts';

export interface EntryWorkload extends Workload {
  readonly weight: number;
  readonly ports: Readonly<Record<string, number>>;
}

/** A WorkloadEntry of the config cluster or of a remote one. */
export type AnyWorkloadEntry = Obj<'WorkloadEntry'> | Obj<'RemoteWorkloadEntry'>;

/** Argument `namespace/name`. Undefined when there is none, or it is checked and not known to be healthy. */
export const entryWorkload: Query<string, EntryWorkload | undefined> = {
  name: 'registry/entryWorkload',
  run: (reader, key) => workloadOfObject(reader, reader.object('WorkloadEntry', key)),
};

/** Argument `cluster/namespace/name`: the same of a remote cluster. */
export const remoteEntryWorkload: Query<string, EntryWorkload | undefined> = {
  name: 'registry/remoteEntryWorkload',
  run: (reader, key) =>
    countsRemoteEntries(reader) ? workloadOfObject(reader, reader.object('RemoteWorkloadEntry', key)) : undefined,
};

/** The workload of an entry of either kind; undefined as for `entryWorkload`. */
export function workloadOfAny(reader: Reader, { kind, cluster, namespace, name }: AnyWorkloadEntry) {
  return kind === 'WorkloadEntry'
    ? reader.get(entryWorkload, `${namespace}/${name}`)
    : reader.get(remoteEntryWorkload, `${cluster}/${namespace}/${name}`);
}

/** True if WorkloadEntries of remote clusters count: they do only where Services may select any. */
function countsRemoteEntries(reader: Reader): boolean {
  return (
    reader.feature('PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY') &&
    reader.feature('PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES')
  );
}

function workloadOfObject(reader: Reader, obj: AnyWorkloadEntry | undefined): EntryWorkload | undefined {
  if (obj === undefined || !isHealthy(reader, obj)) return undefined;
  const labels = { ...obj.spec.labels, ...obj.labels };
  // One that registered itself is named after its group.
  const named = obj.annotations[REGISTRATION_GROUP] ?? obj.labels[WORKLOAD_NAME_LABEL];
  const workload = workloadOfEntry(reader, obj.spec, labels, obj.namespace, named ?? obj.name);
  if (obj.kind === 'WorkloadEntry') return workload;
  const { cluster } = obj;
  // The labels name the network of the cluster; the endpoint itself stays in the network that the entry names.
  const network = workload.network || networkOf(reader, cluster, labels, obj.spec.address ?? '');
  const topology = { cluster, locality: workload.locality, node: '', network };
  return { ...workload, cluster, labels: withTopology(labels, topology) };
}

/**
 * An inline endpoint, or the spec of a WorkloadEntry; `labels` are all it has, `name` is that of the workload. Its
 * network is the one it names: that of the cluster or of its address does not hold for machines outside.
 */
export function workloadOfEntry(
  reader: Reader,
  spec: WorkloadEntry,
  labels: Labels,
  namespace: string,
  name: string,
): EntryWorkload {
  const address = spec.address ?? '';
  const cluster = reader.setting('clusterId');
  const locality = spec.locality || localityOfLabels(labels);
  const network = spec.network ?? '';
  const account = spec.serviceAccount ?? '';
  return {
    namespace,
    labels: withTopology(labels, { cluster, locality, node: '', network }),
    serviceAccount: account === '' ? '' : spiffeId(reader.mesh('trustDomain'), namespace, account),
    locality,
    network,
    cluster,
    workloadName: name,
    nodeName: '',
    hostname: '',
    subdomain: '',
    tlsMode: labels[TLS_MODE_LABEL] ?? (account === '' ? 'disabled' : 'istio'),
    addresses: [address],
    weight: spec.weight || 1,
    ports: spec.ports ?? {},
  };
}

/** True unless the address is a host name or a path. Without an address it is behind the gateway of its network. */
export function needsNoName(workload: EntryWorkload): boolean {
  const address = workload.addresses[0] ?? '';
  return address === '' || isIp(address);
}

function isHealthy(reader: Reader, obj: AnyWorkloadEntry): boolean {
  if (!reader.feature('PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS')) return true;
  if (!isHealthChecked(obj)) return true;
  return (obj.spec.status?.conditions ?? []).some(({ type, status }) => type === 'Healthy' && status === 'True');
}
