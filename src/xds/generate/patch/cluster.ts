// Patches of a cluster, in order: a merge changes it, a removal ends it.
//
// A merge with a transport socket changes the transport socket and nothing else; where the cluster chooses its socket
// by the endpoint (auto mTLS), it changes the first choice with a socket of that name.
// Source: Istio pilot/pkg/networking/core/envoyfilter/cluster_patch.go (ApplyClusterMerge).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { Cluster, TransportSocket } from '../../proto/types.gen.ts';
import { typeMismatch } from './filters.ts';
import { mergeAny, mergeMessage } from './merge.ts';
import { Outcome, type Patched, patchWork } from './outcome.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';

export interface PatchedClusterInputs {
  readonly cluster: Resource<Cluster>;
  /** Holds the list, so that it is compared by identity. */
  readonly of: { readonly patches: readonly EnvoyPatch[] };
  /** Of an inbound cluster: the hosts of the services behind it. */
  readonly hosts: readonly string[];
}

export const patchedCluster: Generator<PatchedClusterInputs, Patched<Resource<Cluster>>> = {
  name: 'patch/cluster',
  work: patchWork,
  run: ({ cluster, of, hosts }) => {
    const outcome = new Outcome(of.patches);
    let message = cluster.message;
    let target = targetOf(message, hosts);
    for (const patch of of.patches) {
      if (!isForCluster(patch, target)) continue;
      if (patch.operation === 'REMOVE') {
        outcome.acted(patch);
        return outcome.of<Resource<Cluster>>(undefined);
      }
      message = merged(message, patch, outcome);
      if (message.name !== target.name) target = targetOf(message, hosts);
    }
    if (message === cluster.message) return outcome.of(cluster);
    return outcome.of({ ...cluster, name: message.name ?? '', message });
  },
};

/** A cluster that is added, one object for each patch. */
export const addedCluster: Generator<{ readonly patch: EnvoyPatch }, Resource<Cluster>> = {
  name: 'patch/addedCluster',
  run: ({ patch }) => {
    const message = patch.value as Cluster;
    return { name: message.name ?? '', message, problems: [] };
  },
};

/** What matches look at, read once for all patches of a cluster. */
interface Target {
  readonly name: string;
  readonly subset: string;
  readonly services: readonly string[];
  /** 0: the name tells none. */
  readonly port: number;
}

function targetOf({ name = '' }: Cluster, hosts: readonly string[]): Target {
  const { direction, subset = '', hostname = '', port = 0 } = parseClusterName(name) ?? {};
  const services = direction === 'inbound' && hosts.length > 0 ? hosts : [hostname];
  return { name, subset, services, port };
}

/** A name decides alone; otherwise the parts of the cluster's name that the match gives. */
function isForCluster({ cluster: match }: EnvoyPatch, target: Target): boolean {
  if (match === undefined) return true;
  const { name = '', subset = '', service = '', portNumber = 0 } = match;
  if (name !== '') return name === target.name;
  return (
    (subset === '' || subset === target.subset) &&
    (service === '' || target.services.includes(service)) &&
    (portNumber === 0 || portNumber === target.port)
  );
}

function merged(cluster: Cluster, patch: EnvoyPatch, outcome: Outcome): Cluster {
  const { transportSocket: socket } = patch.value as Cluster;
  if (socket === undefined) {
    outcome.acted(patch);
    return mergeMessage(CLUSTER, cluster, patch.value, outcome.grown);
  }
  const { transportSocketMatches: choices = [], transportSocket: own } = cluster;
  if (choices.length > 0) {
    const at = choices.findIndex(
      ({ transportSocket: one }) => one !== undefined && (one.name ?? '') === (socket.name ?? ''),
    );
    const choice = choices[at];
    if (choice === undefined) return cluster;
    const after = mergedSocket(choice.transportSocket!, socket, patch, outcome);
    if (after === choice.transportSocket) return cluster;
    return { ...cluster, transportSocketMatches: choices.with(at, { ...choice, transportSocket: after }) };
  }
  if (own === undefined || (own.name ?? '') !== (socket.name ?? '')) {
    outcome.acted(patch);
    return { ...cluster, transportSocket: socket };
  }
  const after = mergedSocket(own, socket, patch, outcome);
  return after === own ? cluster : { ...cluster, transportSocket: after };
}

function mergedSocket(
  own: TransportSocket,
  { typedConfig }: TransportSocket,
  patch: EnvoyPatch,
  outcome: Outcome,
): TransportSocket {
  if (own.typedConfig === undefined || typedConfig === undefined) return own;
  const merged = mergeAny(own.typedConfig, typedConfig, outcome.grown);
  if (merged === undefined) {
    outcome.failed(patch, typeMismatch(own.typedConfig, typedConfig));
    return own;
  }
  outcome.acted(patch);
  return merged === own.typedConfig ? own : { ...own, typedConfig: merged };
}
