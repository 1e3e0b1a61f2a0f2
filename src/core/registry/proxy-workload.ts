// The workload of a proxy: its labels and its locality. All are derivations, so callers depend on the value and not on
// the proxy. Only finding the workload, by the proxy's name and addresses, runs for each proxy; what follows from it
// runs once for all proxies with equal pods. Source: Istio pilot/pkg/xds/ads.go (computeProxyState, setTopologyLabels).

import { canonicalJson, isObject, type Json } from '../base/json.ts';
import {
  type Labels,
  labelNames,
  localityLabel,
  REGION_LABEL,
  SUBZONE_LABEL,
  selects,
  splitLocality,
  withTopology,
  ZONE_LABEL,
} from '../base/labels.ts';
import { compareText, type Obj } from '../model/object.ts';
import type { Locality } from '../model/proxy.ts';
import type { Derivation, ProxyReader } from '../query/reader.ts';
import { networkOf } from './clusters.ts';
import { endpointIndexOf } from './endpoint-index.ts';
import { hostInstances } from './host-instances.ts';
import { containerPorts, podLocality, podsAtAddress } from './pods.ts';
import { entriesAt } from './selecting.ts';
import { type AnyWorkloadEntry, workloadOfAny } from './workload-entry.ts';

const TEST_VM_LABEL = 'istio.io/test-vm';

/** The attributes of the proxy's pod that queries read; equal for all pods of one Deployment on one node. */
export type OwnPod = {
  readonly cluster: string;
  readonly labels: Labels;
  readonly locality: string;
  readonly network: string;
  /** In the order of the search. */
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly number: number }[];
};

/** Null: it has none that is known. */
export const ownPod: Derivation<OwnPod | null> = {
  name: 'registry/ownPod',
  run: reader => {
    const pod = podOfProxy(reader);
    if (pod === undefined) return null;
    return {
      cluster: pod.cluster,
      labels: pod.labels,
      locality: podLocality(reader, pod),
      network: networkOf(reader, pod.cluster, pod.labels, pod.spec.podIP),
      ports: containerPorts(pod).map(({ name, protocol, containerPort: number }) => ({ name, protocol, number })),
    };
  },
};

/**
 * The key of the WorkloadEntry that the proxy is: `namespace/name`, in a remote cluster `cluster/namespace/name`; null:
 * of none.
 */
export const ownEntry: Derivation<string | null> = {
  name: 'registry/ownEntry',
  run: reader => {
    const entry = entryOfProxy(reader);
    if (entry === undefined) return null;
    const { kind, cluster, namespace, name } = entry;
    return kind === 'WorkloadEntry' ? `${namespace}/${name}` : `${cluster}/${namespace}/${name}`;
  },
};

/** The WorkloadEntry that `ownEntry` names. */
export function entryOfKey(reader: ProxyReader, key: string): AnyWorkloadEntry | undefined {
  return key.split('/').length === 2 ? reader.object('WorkloadEntry', key) : reader.object('RemoteWorkloadEntry', key);
}

/**
 * Names of the ServiceEntries of the proxy's namespace among which are all that have an endpoint at one of its
 * addresses.
 */
const entriesAtOwn: Derivation<readonly string[]> = {
  name: 'registry/entriesAtOwn',
  run: reader => entriesAt(reader, reader.facet('namespace'), reader.facet('ips')).map(({ name }) => name),
};

/**
 * Labels of the proxy's workload, with the topology labels. The registry's network takes precedence over the proxy's.
 */
export const proxyLabels: Derivation<Labels> = {
  name: 'registry/proxyLabels',
  run: reader => {
    const own = ownLabels(reader);
    const { region, zone, subzone } = localityOf(reader, own);
    return withTopology(own, {
      cluster: reader.facet('clusterId'),
      locality: `${region}/${zone}/${subzone}`,
      node: textOf(reader.metadata('NODE_NAME')),
      network: reader.facet('network'),
    });
  },
};

export const proxyLocality: Derivation<Locality & { readonly [part: string]: string }> = {
  name: 'registry/proxyLocality',
  run: reader => ({ ...localityOf(reader, ownLabels(reader)) }),
};

/**
 * True if the proxy's labels have every pair of `selector`; an empty selector is true. Shared by all proxies with the
 * same answer.
 */
export function proxySelectedBy(reader: ProxyReader, selector: Labels): boolean {
  const names = labelNames(selector);
  for (let start = 0; start < names.length; start += LABELS_ASKED) {
    if (!hasLabelsOf(reader, names.length <= LABELS_ASKED ? selector : partOf(selector, names, start))) return false;
  }
  return true;
}

/** The derivation's name has the labels that it is about. Of tens of thousands the first part is often not met. */
const LABELS_ASKED = 64;

function partOf(selector: Labels, names: readonly string[], start: number): Labels {
  return Object.fromEntries(names.slice(start, start + LABELS_ASKED).map(name => [name, selector[name]!]));
}

function hasLabelsOf(reader: ProxyReader, selector: Labels): boolean {
  return reader.derived({
    name: `registry/proxySelectedBy ${canonicalJson(selector)}`,
    run: own => selects(selector, own.derived(proxyLabels)),
  });
}

/**
 * The pod of the proxy: `<name>.<namespace>` is the node's id. Without a cluster id, all registries are searched, the
 * config cluster's first.
 */
export function podOfProxy(reader: ProxyReader): Obj<'Pod'> | undefined {
  const namespace = reader.facet('namespace');
  const id = reader.facet('id');
  const tail = `.${namespace}`;
  const cluster = reader.facet('clusterId') || reader.setting('clusterId');
  const named = id.endsWith(tail)
    ? reader.object('Pod', `${cluster}/${namespace}/${id.slice(0, -tail.length)}`)
    : undefined;
  return (
    named ?? (reader.feature('ENABLE_PROXY_FIND_POD_BY_IP') ? podAtAddress(reader, cluster, namespace) : undefined)
  );
}

/** The only pod with the proxy's first address; of several, which share a host's, one of the proxy's namespace. */
function podAtAddress(reader: ProxyReader, cluster: string, namespace: string): Obj<'Pod'> | undefined {
  const pods = podsAtAddress(reader, cluster, reader.facet('ips')[0] ?? '');
  return pods.length > 1 ? pods.find(pod => pod.namespace === namespace) : pods[0];
}

/**
 * The WorkloadEntry that has the proxy's first address. Of several the one with the proxy's name, else of its
 * namespace, else the first by name. Those without labels are left out: nothing could select them. Istio
 * serviceregistry/util/workloadinstances (GetInstanceForProxy).
 */
function entryOfProxy(reader: ProxyReader): AnyWorkloadEntry | undefined {
  const address = reader.facet('ips')[0];
  if (address === undefined) return undefined;
  const entries = entriesAtAddress(reader, address)
    .filter(
      entry =>
        Object.keys({ ...entry.spec.labels, ...entry.labels }).length > 0 && workloadOfAny(reader, entry) !== undefined,
    )
    .sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name));
  if (entries.length < 2) return entries[0];
  const namespace = reader.facet('namespace');
  const own = entries.filter(entry => entry.namespace === namespace);
  return own.find(entry => `${entry.name}.${namespace}` === reader.facet('id')) ?? own[0] ?? entries[0];
}

/** Of the proxy's cluster; without a cluster id, of the config cluster. */
function entriesAtAddress(reader: ProxyReader, address: string): AnyWorkloadEntry[] {
  if (isOfConfigCluster(reader)) return [...reader.indexed('workloadEntriesByAddress', address)];
  const cluster = reader.facet('clusterId');
  return reader.indexed('remoteEntriesByAddress', address).filter(entry => entry.cluster === cluster);
}

/** Config objects are registered in the config cluster only. */
function isOfConfigCluster(reader: ProxyReader): boolean {
  const cluster = reader.facet('clusterId');
  return cluster === '' || cluster === reader.setting('clusterId');
}

/** The registry's labels over the proxy's static ones; for an unknown workload the proxy's own labels. */
function ownLabels(reader: ProxyReader): Labels {
  const nodeLabels = labelsOf(reader.metadata('LABELS'));
  if (nodeLabels[TEST_VM_LABEL] !== undefined) return nodeLabels;
  const registered = podLabels(reader) ?? instanceLabels(reader);
  return registered === undefined ? nodeLabels : { ...labelsOf(reader.metadata('STATIC_LABELS')), ...registered };
}

function podLabels(reader: ProxyReader): Labels | undefined {
  const pod = reader.derived(ownPod);
  if (pod === null) return undefined;
  const { cluster, labels, locality, network } = pod;
  return withTopology(labels, { cluster, locality, node: textOf(reader.metadata('NODE_NAME')), network });
}

/** Of the first endpoint, by the proxy's addresses, of a ServiceEntry of its namespace. */
function instanceLabels(reader: ProxyReader): Labels | undefined {
  if (!isOfConfigCluster(reader)) return undefined;
  const entries = ownServiceEntries(reader);
  if (entries.length === 0) return undefined;
  for (const address of reader.facet('ips')) {
    for (const entry of entries) {
      for (const host of [...new Set(entry.spec.hosts ?? [])]) {
        const found = reader
          .get(hostInstances, { hostname: host, namespace: entry.namespace })
          .filter(instances => instances.entry === entry.name)
          .flatMap(instances => endpointIndexOf(instances.endpoints).at(address).slice(0, 1))[0];
        if (found !== undefined) return found.labels;
      }
    }
  }
  return undefined;
}

/** Of `entriesAtOwn`, by name. */
export function ownServiceEntries(reader: ProxyReader): readonly Obj<'ServiceEntry'>[] {
  return reader
    .derived(entriesAtOwn)
    .map(name => reader.object('ServiceEntry', `${reader.facet('namespace')}/${name}`))
    .filter(entry => entry !== undefined);
}

/**
 * The topology labels of the workload, else its locality label as it stands (only registries take dots for slashes),
 * else the locality of the node.
 */
function localityOf(reader: ProxyReader, labels: Labels): Locality {
  const { [REGION_LABEL]: region, [ZONE_LABEL]: zone, [SUBZONE_LABEL]: subzone } = labels;
  if (region !== undefined || zone !== undefined || subzone !== undefined) {
    return { region: region ?? '', zone: zone ?? '', subzone: subzone ?? '' };
  }
  const labelled = localityLabel(labels);
  return labelled === '' ? reader.facet('nodeLocality') : splitLocality(labelled);
}

export function labelsOf(value: Json | undefined): Labels {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)]));
}

export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
