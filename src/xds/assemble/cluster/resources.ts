// All clusters of a proxy: selects the inputs of each and makes it. The clusters of a service are one selection about
// the service and the rule in force for it, so proxies that see the same of both share them; clusters of the proxy
// itself are one query.
// Source: Istio pilot/pkg/networking/core/cluster.go (BuildClusters).

import { append } from '../../../core/base/append.ts';
import { blocksOf, joined } from '../../../core/base/groups.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import { HEAVY_BLOCKS, selectInBlocks } from '../../../core/query/in-blocks.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import { type InboundClusterInputs, inboundClusters } from '../../../core/select/cluster/inbound.ts';
import { selectModuleClusters } from '../../../core/select/cluster/module-clusters.ts';
import {
  type ClusterParts,
  type OutboundBlock,
  type OutboundClusterInputs,
  outboundBlocks,
  selectOutboundBlock,
  selectOutboundClusters,
} from '../../../core/select/cluster/outbound.ts';
import {
  type ServiceClusters,
  serviceOfCluster,
  servicesOfClusters,
  servicesOfSniDnatClusters,
} from '../../../core/select/cluster/service-clusters.ts';
import { selectSpecialClusters } from '../../../core/select/cluster/special.ts';
import { selectTunnelClusters } from '../../../core/select/cluster/tunnels.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { addedClusters, clusterPatches } from '../../../core/select/patch/proxy-patches.ts';
import { isWaypoint, proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { inboundCluster } from '../../generate/cluster/inbound.ts';
import { moduleServerCluster } from '../../generate/cluster/module-servers.ts';
import { outboundCluster } from '../../generate/cluster/outbound.ts';
import {
  blackHoleCluster,
  credentialCluster,
  inboundPassthroughCluster,
  passthroughCluster,
} from '../../generate/cluster/special.ts';
import { internalCluster, tunnelOpener } from '../../generate/cluster/tunnels.ts';
import { type UpstreamSockets, upstreamTls } from '../../generate/cluster/upstream-tls.ts';
import { loadAssignment } from '../../generate/endpoint/assignment.ts';
import type { Cluster, ClusterLoadAssignment } from '../../proto/types.gen.ts';
import { clustersAddedFor, patchedClusters } from '../patch/clusters.ts';
import type { Pieces } from '../source.ts';
import { waypointClusters } from './waypoint.ts';

type Clusters = readonly Resource<Cluster>[];

/**
 * Every cluster of the proxy, sorted by name. Of equal names the first counts; the clusters of services have different
 * ones, unless patches add or rename some.
 */
export const clusters: Query<'', Clusters> = {
  name: 'cluster/clusters',
  run: reader => {
    const outbound = clustersOf(reader, servicesOfClusters(reader));
    const others = joined([reader.get(ownClusters, ''), clustersOf(reader, servicesOfSniDnatClusters(reader))]);
    const all = isPatched(reader) ? distinct(joined([outbound, others])) : joined([outbound, distinct(others)]);
    return all.sort((a, b) => compareText(a.name, b.name));
  },
};

/**
 * The clusters that routes of others may lead to: of services, and those that patches add. Without what is the proxy's
 * own, so that all proxies that see the same services share the value. Patches that rename clusters reach all of them.
 */
export const outwardClusters: Query<'', Clusters> = {
  name: 'cluster/outwardClusters',
  run: reader => {
    const context = outboundContext(reader);
    if (isRenaming(reader, context)) return reader.get(clusters, '');
    const outbound = clustersOf(reader, servicesOfClusters(reader));
    const sniDnat = clustersOf(reader, servicesOfSniDnatClusters(reader));
    return distinct(joined([outbound, sniDnat, clustersAddedFor(reader, context)]));
  },
};

/** More services are gone through in blocks: what is found of a block is found as one value. */
const SERVICES_ALONE_MAX = 1_024;
const SERVICES_TOGETHER = 128;

/** Of services in order, either all by SNI alone or none; patched. */
function clustersOf(reader: ProxyReader, all: readonly ServiceClusters[]): Clusters {
  if (all.length <= SERVICES_ALONE_MAX) return patchedOf(reader, all);
  return joined(
    blocksOf(all, SERVICES_TOGETHER).map(block => {
      const [services, rules] = [block.map(({ service }) => service), block.map(({ rule }) => rule)];
      return reader.select(clustersOfServices, { services, rules, sniDnat: block[0]!.sniDnat });
    }),
  );
}

interface ServiceBlock extends Pick<ServiceClusters, 'sniDnat'> {
  readonly services: readonly ServiceClusters['service'][];
  /** That of each service. */
  readonly rules: readonly ServiceClusters['rule'][];
}

const clustersOfServices: Selection<ServiceBlock, Clusters> = {
  name: 'cluster/clustersOfServices',
  run: (reader, { services, rules, sniDnat }) =>
    patchedOf(
      reader,
      services.map((service, i) => ({ service, rule: rules[i], sniDnat })),
    ),
};

function patchedOf(reader: ProxyReader, all: readonly ServiceClusters[]): Clusters {
  const patches = reader.get(clusterPatches, outboundContext(reader));
  return joined(all.map(of => patchedClusters(reader, reader.select(outboundClusters, of), patches)));
}

/**
 * Argument: the name of a cluster. The same cluster as in `clusters`, made from its own service alone, which gives it a
 * narrow provenance, unless a patch gave it the name.
 */
export const clusterNamed: Query<string, Resource<Cluster> | undefined> = {
  name: 'cluster/clusterNamed',
  run: (reader, name) => {
    const isNamed = (made: Resource<Cluster>): boolean => made.name === name;
    const of = serviceOfCluster(reader, name);
    const made = of === undefined ? [] : reader.select(outboundClusters, of);
    const found = patchedClusters(reader, made, reader.get(clusterPatches, outboundContext(reader))).find(isNamed);
    return found ?? reader.get(ownClusters, '').find(isNamed) ?? renamed(reader).find(isNamed);
  },
};

/** Of equal names the first. */
function distinct(list: Clusters): Resource<Cluster>[] {
  const seen = new Set<string>();
  return list.filter(({ name }) => {
    const fresh = !seen.has(name);
    seen.add(name);
    return fresh;
  });
}

/** Clusters of services may be added or renamed, also to names of others. */
function isPatched(reader: ProxyReader): boolean {
  const context = outboundContext(reader);
  return isRenaming(reader, context) || contexts(context).some(one => reader.get(addedClusters, one).length > 0);
}

function isRenaming(reader: ProxyReader, context: PatchContext): boolean {
  return reader.get(clusterPatches, context)?.patches.some(({ value }) => value.name !== undefined) === true;
}

function contexts(outbound: PatchContext): readonly PatchContext[] {
  return outbound === 'GATEWAY' ? [outbound] : [outbound, 'SIDECAR_INBOUND'];
}

function renamed(reader: ProxyReader): Clusters {
  return isPatched(reader) ? reader.get(clusters, '') : [];
}

function outboundContext(reader: ProxyReader): PatchContext {
  return proxyType(reader) === 'router' ? 'GATEWAY' : 'SIDECAR_OUTBOUND';
}

/** The clusters of a service: ports, then subsets, in order. */
const outboundClusters: Selection<ServiceClusters, Clusters> = {
  name: 'cluster/outboundClusters',
  run: (reader, { service, rule, sniDnat }) => {
    const blocks = outboundBlocks(service, rule, sniDnat);
    if (blocks.length > 0) return joined(blocks.map(block => reader.select(outboundBlock, block)));
    return made(reader, selectOutboundClusters(reader, partsOf(reader), service, rule, sniDnat));
  },
};

const outboundBlock: Selection<OutboundBlock, Clusters> = {
  name: 'cluster/outboundBlock',
  run: (reader, block) => made(reader, selectOutboundBlock(reader, partsOf(reader), block)),
};

function made(
  reader: ProxyReader,
  all: readonly OutboundClusterInputs<UpstreamSockets, ClusterLoadAssignment>[],
): Clusters {
  return all.map(inputs => reader.make(outboundCluster, inputs));
}

export const clusterPieces: Pieces<ServiceClusters> = { list: servicesOfClusters, each: outboundClusters };

/** Clusters that come from the proxy itself: inbound and special ones, and servers of modules. */
export const ownClusters: Query<'', Clusters> = {
  name: 'cluster/ownClusters',
  run: reader => {
    if (isWaypoint(reader)) return waypointOwn(reader);
    const { outward, inward, unpatched } = proxyClusters(reader);
    const context = outboundContext(reader);
    const made = [...patchedClusters(reader, outward, reader.get(clusterPatches, context))];
    append(made, clustersAddedFor(reader, context));
    if (inward.length > 0) {
      const patches = reader.get(clusterPatches, 'SIDECAR_INBOUND');
      append(made, patchedClusters(reader, inward, patches, true));
      append(made, clustersAddedFor(reader, 'SIDECAR_INBOUND'));
    }
    return [...made, ...unpatched];
  },
};

/** With those that patches add to either side, and the server of credentials. */
function waypointOwn(reader: ProxyReader): Clusters {
  const { credential } = selectSpecialClusters(reader);
  const made = [...clustersAddedFor(reader, 'SIDECAR_OUTBOUND'), ...reader.get(waypointClusters, '')];
  append(made, clustersAddedFor(reader, 'SIDECAR_INBOUND'));
  if (credential !== undefined) made.push(reader.make(credentialCluster, credential));
  return [...made, ...selectModuleClusters(reader).map(inputs => reader.make(moduleServerCluster, inputs))];
}

interface ProxyClusters {
  readonly outward: Clusters;
  /** Empty: the proxy takes no traffic for a workload. */
  readonly inward: Clusters;
  /** No patch reaches it. */
  readonly unpatched: Clusters;
}

function proxyClusters(reader: ProxyReader): ProxyClusters {
  const { blackHole, passthrough, inboundPassthrough, credential } = selectSpecialClusters(reader);
  const outward = [reader.make(blackHoleCluster, blackHole)];
  if (passthrough !== undefined) outward.push(reader.make(passthroughCluster, passthrough));
  const inward: Resource<Cluster>[] = [];
  if (inboundPassthrough !== undefined) {
    append(inward, inboundOf(reader));
    inward.push(reader.make(inboundPassthroughCluster, inboundPassthrough));
  }
  const { openers, internal } = selectTunnelClusters(reader);
  const unpatched = selectModuleClusters(reader).map(inputs => reader.make(moduleServerCluster, inputs));
  unpatched.push(...internal.map(inputs => reader.make(internalCluster, inputs)));
  unpatched.push(...openers.map(inputs => reader.make(tunnelOpener, inputs)));
  if (credential !== undefined) unpatched.unshift(reader.make(credentialCluster, credential));
  return { outward, inward, unpatched };
}

function inboundOf(reader: ProxyReader): Clusters {
  const all = reader.get(inboundClusters, '');
  return selectInBlocks(reader, inboundBlock, all, HEAVY_BLOCKS, block => ({ all: block }));
}

const inboundBlock: Selection<{ readonly all: readonly InboundClusterInputs[] }, Clusters> = {
  name: 'cluster/inboundBlock',
  run: (reader, { all }) => all.map(inputs => reader.make(inboundCluster, inputs)),
};

const NONE_OF_ITS_OWN: Pick<ProxyClusters, 'outward' | 'inward'> = { outward: [], inward: [] };

/** By the context in which they are patched. */
export function unpatchedClusters(reader: ProxyReader): readonly (readonly [PatchContext, Clusters])[] {
  const { outward, inward } = isWaypoint(reader) ? NONE_OF_ITS_OWN : proxyClusters(reader);
  const pieces = [...servicesOfClusters(reader), ...servicesOfSniDnatClusters(reader)];
  const outbound = [...pieces.flatMap(of => reader.select(outboundClusters, of)), ...outward];
  const all = [[outboundContext(reader), outbound] as const];
  return inward.length === 0 ? all : [...all, ['SIDECAR_INBOUND', inward]];
}

function partsOf(reader: ProxyReader): ClusterParts<UpstreamSockets, ClusterLoadAssignment> {
  return {
    sockets: inputs => reader.make(upstreamTls, inputs),
    assignment: inputs => reader.make(loadAssignment, inputs).message,
  };
}
