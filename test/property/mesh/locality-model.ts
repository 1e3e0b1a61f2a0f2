// What the Istio API says of the places of endpoints: which of a service's a client is sent to, and how often, by its
// region, zone and subzone, the localityLbSetting of the DestinationRule or of the mesh, and the traffic distribution
// of the Service. Written from their descriptions.

import type { JsonObject } from '../../../src/core/base/json.ts';
import { listIn, nameOf, objectIn, specOf, textIn, textsIn } from './read.ts';
import type { World } from './world.ts';

const REGION = 'topology.kubernetes.io/region';
const ZONE = 'topology.kubernetes.io/zone';
const SUBZONE = 'topology.istio.io/subzone';
const HOSTNAME = 'kubernetes.io/hostname';
const NETWORK = 'topology.istio.io/network';

interface Place {
  readonly address: string;
  readonly labels: JsonObject;
  /** Region, zone, subzone; '' for what is not known. */
  readonly locality: readonly string[];
}

/** The pods of a world with where their nodes are. */
function places(world: World): readonly Place[] {
  const nodes = world.objects.filter(({ kind }) => kind === 'Node');
  return world.objects.flatMap(pod => {
    if (pod.kind !== 'Pod') return [];
    const name = textIn(specOf(pod).nodeName);
    const node = objectIn(objectIn(nodes.find(one => nameOf(one) === name)?.metadata).labels);
    const known = Object.entries(node).filter(([key]) => [REGION, ZONE, SUBZONE].includes(key));
    const labels = { ...objectIn(objectIn(pod.metadata).labels), ...Object.fromEntries(known), [HOSTNAME]: name };
    const locality = [REGION, ZONE, SUBZONE].map(key => textIn(node[key]));
    return [{ address: textIn(objectIn(pod.status).podIP), labels, locality }];
  });
}

/** Address → share of the requests to the one Service of the world, under its one DestinationRule. */
export function expectedShares(world: World, clientAddress: string): ReadonlyMap<string, number> {
  const all = places(world);
  const client = all.find(({ address }) => address === clientAddress)!;
  const others = all.filter(one => one !== client);
  const policy = objectIn(specOf(world.objects.find(({ kind }) => kind === 'DestinationRule') ?? {}).trafficPolicy);
  const { setting, always } = settingOf(world, policy);
  if (setting === undefined) return evenly(others);
  const distribute = listIn(setting.distribute);
  if (distribute.length > 0) return distributed(distribute, client, others);
  // Without outlier detection no proxy notices that a locality fails, so there is no failing over.
  if (!always && policy.outlierDetection === undefined) return evenly(others);
  const keys = textsIn(setting.failoverPriority);
  return evenly(
    nearest(others, one => (keys.length > 0 ? byLabels(keys, client, one) : byRegion(setting, client, one))),
  );
}

/** `always`: the Service asks for near endpoints, whatever is known of their health. */
function settingOf(world: World, policy: JsonObject): { setting: JsonObject | undefined; always: boolean } {
  const own = objectIn(policy.loadBalancer).localityLbSetting;
  if (own !== undefined) return { setting: enabled(objectIn(own)), always: false };
  const service = specOf(world.objects.find(({ kind }) => kind === 'Service') ?? {});
  const zone = [NETWORK, REGION, ZONE];
  const node = [...zone, SUBZONE, HOSTNAME];
  switch (service.trafficDistribution) {
    case 'PreferClose':
    case 'PreferSameZone':
      return { setting: { failoverPriority: zone }, always: true };
    case 'PreferSameNode':
      return { setting: { failoverPriority: node }, always: true };
    default:
      return { setting: enabled(objectIn(world.mesh.localityLbSetting)), always: false };
  }
}

const enabled = (setting: JsonObject): JsonObject | undefined => (setting.enabled === false ? undefined : setting);

function nearest(places: readonly Place[], rank: (place: Place) => number): readonly Place[] {
  const best = Math.min(...places.map(rank));
  return places.filter(one => rank(one) === best);
}

/** How many of the labels, from the first on, are equal: the more, the nearer. */
function byLabels(keys: readonly string[], client: Place, { labels }: Place): number {
  const differing = keys.findIndex(key => {
    const [name = '', wanted] = key.split('=');
    return textIn(labels[name]) !== (wanted ?? textIn(client.labels[name]));
  });
  return differing < 0 ? 0 : keys.length - differing;
}

/** The same subzone, zone, region; then the region to fail over to. */
function byRegion(setting: JsonObject, client: Place, { locality }: Place): number {
  const differing = client.locality.findIndex((part, i) => part !== locality[i]);
  if (differing !== 0) return differing < 0 ? 0 : 3 - differing;
  const next = listIn(setting.failover).find(({ from }) => from === client.locality[0])?.to;
  return next === undefined || next === locality[0] ? 3 : 4;
}

function evenly(places: readonly Place[]): ReadonlyMap<string, number> {
  return new Map(places.map(({ address }) => [address, 1 / places.length]));
}

/** The first rule for the client's place; weights are of those places that have endpoints. */
function distributed(
  rules: readonly JsonObject[],
  client: Place,
  others: readonly Place[],
): ReadonlyMap<string, number> {
  const rule = rules.find(({ from }) => lies(client, textIn(from)));
  if (rule === undefined) return evenly(others);
  const parts = Object.entries(objectIn(rule.to)).flatMap(([pattern, weight]) => {
    const there = others.filter(one => lies(one, pattern));
    return there.map(({ address }) => [address, Number(weight) / there.length] as const);
  });
  const total = parts.reduce((sum, [, share]) => sum + share, 0);
  return new Map(parts.map(([address, share]) => [address, share / total]));
}

function lies({ locality }: Place, pattern: string): boolean {
  return pattern.split('/').every((part, i) => part === '*' || part === locality[i]);
}
