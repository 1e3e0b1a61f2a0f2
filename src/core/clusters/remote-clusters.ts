// Which remote clusters are wanted: a pure function of the recorded Secrets with the label `istio/multiCluster=true`.
// Each key of such a Secret is the id of a cluster, its value a kubeconfig.
//
// Of several Secrets that name one cluster the oldest with a usable kubeconfig counts, so the next one takes over when
// it goes (Istio keeps the first that came, and forgets the others). A cluster of which no kubeconfig is usable stays
// wanted, without a connection: what is known of it stays.
// Source: Istio pkg/kube/multicluster/secretcontroller.go, pkg/kube/multicluster/remote_config_source.go.

import { isLeft } from 'fp-ts/lib/Either.js';
import { textOfBase64 } from '../base/base64.ts';
import { type Json, jsonEqual } from '../base/json.ts';
import { featureOf } from '../mesh/features.ts';
import { byAge, type Obj } from '../model/object.ts';
import type { State } from '../state.ts';
import { type Kubeconfig, readKubeconfig } from './kubeconfig.ts';

export const MULTICLUSTER_LABEL = 'istio/multiCluster';
/** The adapter whose Secrets were made from kubeconfig files. */
export const KUBECONFIG_FILES = 'kubeconfigs';

export interface RemoteCluster {
  readonly id: string;
  /** `namespace/name` of the Secret. */
  readonly secret: string;
  /** Undefined: refused. */
  readonly kubeconfig: Kubeconfig | undefined;
  /** Why it was refused; never quotes it. */
  readonly refused: string | undefined;
}

export interface RemoteClusters {
  /** By id. */
  readonly clusters: readonly RemoteCluster[];
  /** What else is wrong: an id that is our own, a ConfigMap in place of a Secret. */
  readonly findings: readonly string[];
}

/** What the wanted clusters follow from; the identical objects while nothing of it changed. */
export interface ClusterSources {
  readonly secrets: readonly Obj<'Secret'>[];
  readonly configMaps: readonly Obj<'ConfigMap'>[];
  readonly ownIds: readonly string[];
}

/** Linear in the Secrets and ConfigMaps of the system namespace. Filters of the mesh do not apply to them. */
export function clusterSources(state: State): ClusterSources {
  const { clusterId, systemNamespace, clusterAliases } = state.settings;
  const fromFiles = featureOf(state.settings, 'PILOT_MULTICLUSTER_KUBECONFIG_PATH') !== '';
  const prefix = `${clusterId}/${systemNamespace}/`;
  const secrets: Obj<'Secret'>[] = [];
  for (const { source, accepted } of state.records.range(`Secret|${prefix}`)) {
    if (source.startsWith(`${KUBECONFIG_FILES}/`) !== fromFiles || accepted === undefined) continue;
    if (isLabelled(accepted)) secrets.push(accepted as Obj<'Secret'>);
  }
  const configMaps: Obj<'ConfigMap'>[] = [];
  for (const { accepted } of state.records.range(`ConfigMap|${prefix}`)) {
    if (accepted !== undefined && listsClusters(accepted as Obj<'ConfigMap'>)) {
      configMaps.push(accepted as Obj<'ConfigMap'>);
    }
  }
  const aliases = Object.keys(clusterAliases).filter(alias => clusterAliases[alias] === clusterId);
  return { secrets, configMaps, ownIds: [clusterId, ...aliases] };
}

export function sameSources(a: ClusterSources, b: ClusterSources): boolean {
  const same = (left: readonly object[], right: readonly object[]): boolean =>
    left.length === right.length && left.every((one, i) => one === right[i]);
  return same(a.secrets, b.secrets) && same(a.configMaps, b.configMaps) && a.ownIds.join() === b.ownIds.join();
}

export function remoteClusters({ secrets, configMaps, ownIds }: ClusterSources): RemoteClusters {
  const wanted = new Map<string, RemoteCluster>();
  const findings = configMaps.map(
    ({ namespace, name }) =>
      `ConfigMap ${namespace}/${name} lists clusters, which has no effect: a cluster is a Secret with the label ${MULTICLUSTER_LABEL}=true whose key is the cluster's id and whose value is its kubeconfig`,
  );
  for (const secret of [...secrets].sort(byAge)) {
    const named = `${secret.namespace}/${secret.name}`;
    for (const [id, value] of Object.entries(secret.spec.data)) {
      if (ownIds.includes(id)) {
        findings.push(`Secret ${named}: ${id} is this cluster itself; the key is ignored`);
        continue;
      }
      const known = wanted.get(id);
      if (known?.kubeconfig !== undefined) {
        findings.push(`Secret ${named}: cluster ${id} is that of Secret ${known.secret}; the key is ignored`);
        continue;
      }
      const read = whyBadId(id) ?? readKubeconfig(textOfBase64(value));
      const refused = typeof read === 'string' ? read : isLeft(read) ? read.left : undefined;
      const kubeconfig = typeof read === 'string' || isLeft(read) ? undefined : read.right;
      if (known === undefined || kubeconfig !== undefined) wanted.set(id, { id, secret: named, kubeconfig, refused });
    }
  }
  const clusters = [...wanted.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, secret, refused } of clusters) {
    if (refused !== undefined) findings.push(`Secret ${secret}: cluster ${id}: ${refused}`);
  }
  return { clusters, findings };
}

/** True if a connection for the one serves for the other. */
export function sameConnection(a: Kubeconfig, b: Kubeconfig): boolean {
  return jsonEqual(a as unknown as Json, b as unknown as Json);
}

/** The id becomes part of a source's name and of keys. */
function whyBadId(id: string): string | undefined {
  return /^[-._A-Za-z0-9]+$/.test(id) ? undefined : 'the id of a cluster has letters, digits, -, _ and . alone';
}

function isLabelled({ labels }: Obj): boolean {
  return labels[MULTICLUSTER_LABEL] === 'true';
}

/** The form of Istio 0.8 and before: a ConfigMap with descriptions of the cluster registry. */
function listsClusters(obj: Obj<'ConfigMap'>): boolean {
  return isLabelled(obj) || Object.values(obj.spec.data).some(text => text.includes('clusterregistry.k8s.io/'));
}
