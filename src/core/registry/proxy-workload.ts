// The workload that a proxy runs beside: its labels and its locality. Both are derivations: others depend on the value they come to,
// never on which proxy asked.
// Rules: spec-events-pushes-protocol §7.5, spec-clusters-endpoints §15.4; Istio pilot/pkg/xds/ads.go (computeProxyState, setTopologyLabels).

import { canonicalJson, isObject, type Json } from '../json.ts';
import type { Obj } from '../object.ts';
import type { Locality } from '../proxy.ts';
import type { Derivation, ProxyReader } from '../reader.ts';
import { type Labels, localityOfLabels, selects, splitLocality, withTopology } from './labels.ts';
import { podLocality } from './pods.ts';
import { entryWorkload } from './workload-entry.ts';

const TEST_VM_LABEL = 'istio.io/test-vm';

/** Labels of the proxy's workload, with the topology labels. */
export const proxyLabels: Derivation<Labels> = {
  name: 'registry/proxyLabels',
  run: reader => {
    const { region, zone, subzone } = localityOf(reader);
    return withTopology(ownLabels(reader), {
      cluster: reader.facet('clusterId'),
      locality: `${region}/${zone}/${subzone}`,
      node: textOf(reader.metadata('NODE_NAME')),
      network: reader.facet('network'),
    });
  },
};

export const proxyLocality: Derivation<Locality & { readonly [part: string]: string }> = {
  name: 'registry/proxyLocality',
  run: reader => ({ ...localityOf(reader) }),
};

/** True if the proxy's labels have every pair of `selector`; an empty selector is true. Shared by all proxies with the same answer. */
export function proxySelectedBy(reader: ProxyReader, selector: Labels): boolean {
  if (Object.keys(selector).length === 0) return true;
  return reader.derived({
    name: `registry/proxySelectedBy ${canonicalJson(selector)}`,
    run: own => selects(selector, own.derived(proxyLabels)),
  });
}

/** The pod of the proxy: `<name>.<namespace>` is the node's id. Without a cluster id every registry is asked, the config cluster's first. */
export function podOfProxy(reader: ProxyReader): Obj<'Pod'> | undefined {
  const namespace = reader.facet('namespace');
  const id = reader.facet('id');
  const tail = `.${namespace}`;
  if (!id.endsWith(tail)) return undefined;
  const cluster = reader.facet('clusterId') || reader.setting('clusterId');
  return reader.object('Pod', `${cluster}/${namespace}/${id.slice(0, -tail.length)}`);
}

/** The WorkloadEntry of the proxy's namespace that has one of these addresses. */
export function entryOfProxy(reader: ProxyReader, addresses: readonly string[]): Obj<'WorkloadEntry'> | undefined {
  if (!isOfConfigCluster(reader)) return undefined;
  return reader
    .objects('WorkloadEntry', `${reader.facet('namespace')}/`)
    .find(
      entry =>
        addresses.includes(entry.spec.address ?? '') &&
        reader.get(entryWorkload, `${entry.namespace}/${entry.name}`) !== undefined,
    );
}

/** Config objects are registered in the config cluster only. */
export function isOfConfigCluster(reader: ProxyReader): boolean {
  const cluster = reader.facet('clusterId');
  return cluster === '' || cluster === reader.setting('clusterId');
}

/** Labels by the registry over the proxy's static ones; of an unknown workload those that it says itself. */
function ownLabels(reader: ProxyReader): Labels {
  const said = labelsOf(reader.metadata('LABELS'));
  if (said[TEST_VM_LABEL] !== undefined) return said;
  const pod = podOfProxy(reader);
  if (pod !== undefined) return { ...labelsOf(reader.metadata('STATIC_LABELS')), ...pod.labels };
  const entry = entryOfProxy(reader, reader.facet('ips'));
  if (entry === undefined) return said;
  return { ...labelsOf(reader.metadata('STATIC_LABELS')), ...entry.spec.labels, ...entry.labels };
}

function localityOf(reader: ProxyReader): Locality {
  const pod = podOfProxy(reader);
  const registered = pod === undefined ? entryLocality(reader) : podLocality(reader, pod);
  const known = registered || localityOfLabels(ownLabels(reader));
  return known === '' ? reader.facet('nodeLocality') : splitLocality(known);
}

function entryLocality(reader: ProxyReader): string {
  const entry = entryOfProxy(reader, reader.facet('ips'));
  return entry === undefined ? '' : (reader.get(entryWorkload, `${entry.namespace}/${entry.name}`)?.locality ?? '');
}

export function labelsOf(value: Json | undefined): Labels {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, textOf(text)]));
}

export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
