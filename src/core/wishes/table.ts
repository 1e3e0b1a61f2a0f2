// The table of wishes: what every feature wants to be written, in one order, each target once. A feature is one entry
// of `wishFeatures`.
//
// Of two features that wish for the same target the first in the list has it, and the clash is reported: two writers of
// one field would never come to rest.

import { featureOf } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { KindName } from '../model/kind.ts';
import type { ProxyReader, Query } from '../query/reader.ts';
import { routeKinds } from '../translate/gateway-api/route-kinds.ts';
import { analysisMessages, analysisObserves } from './analysis-messages.ts';
import { distributionObserves, distributionWishes } from './distribution.ts';
import { lockName } from './elections.ts';
import { entryAddresses } from './entry-addresses.ts';
import { classWishes } from './gateway-api/class-status.ts';
import { gatewayStatuses } from './gateway-api/gateway-status.ts';
import { policyStatuses } from './gateway-api/policy-status.ts';
import { poolServices } from './gateway-api/pool-services.ts';
import { poolStatuses } from './gateway-api/pool-status.ts';
import { routeStatuses } from './gateway-api/route-status.ts';
import { ingressStatuses } from './ingress-status.ts';
import { nodeTaints } from './node-taints.ts';
import { registrations } from './registrations.ts';
import { rootCertificates } from './root-certificates.ts';
import { serviceExports } from './service-exports.ts';
import { showTarget, type Wish, wishKey } from './wish.ts';

export interface WishFeature {
  readonly query: Query<'', readonly Wish[]>;
  /** What of the kinds that it writes has to be observed, beside metadata. */
  readonly observes: readonly Observed[];
}

export interface Observed {
  readonly kind: KindName;
  /** Members of the object that wishes name, e.g. `data`, `status`. */
  readonly parts: readonly string[];
  /** Names of the objects that are ever written; absent or undefined: any. */
  readonly names?: (settings: Settings) => readonly string[] | undefined;
  /** Rights that are needed only with a feature, which is off by default. */
  readonly isOptional?: true;
}

export interface WishTable {
  /** In the order of their keys. */
  readonly wishes: readonly Wish[];
  /** Targets that a second feature wishes for too. Sorted. */
  readonly clashes: readonly string[];
}

const STATUS: readonly string[] = ['status'];

export const rootCertificateWishes: WishFeature = {
  query: rootCertificates,
  observes: [
    {
      kind: 'ConfigMap',
      parts: ['data'],
      names: settings => [featureOf(settings, 'PILOT_CA_CERT_CONFIGMAP'), featureOf(settings, 'PILOT_CRL_CONFIGMAP')],
    },
    { kind: 'ClusterTrustBundle', parts: ['spec'] },
  ],
};

/** In remote clusters too. */
export const serviceExportWishes = withFeature('ENABLE_MCS_AUTO_EXPORT', serviceExports, 'ServiceExport');

/** Written by every process, those of its own machines. */
export const registrationWishes: WishFeature = {
  query: registrations,
  observes: [{ kind: 'WorkloadEntry', parts: ['spec', 'status'] }],
};

export const wishFeatures: readonly WishFeature[] = [
  rootCertificateWishes,
  statusesOf(classWishes, 'GatewayClass'),
  statusesOf(gatewayStatuses, 'KubernetesGateway', 'ListenerSet'),
  statusesOf(policyStatuses, 'BackendTLSPolicy', 'XBackendTrafficPolicy'),
  statusesOf(routeStatuses, ...routeKinds),
  statusesOf(poolStatuses, 'InferencePool'),
  { query: poolServices, observes: [{ kind: 'Service', parts: ['spec'] }] },
  statusesOf(ingressStatuses, 'Ingress'),
  statusesOf(entryAddresses, 'ServiceEntry'),
  withFeature('PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS', nodeTaints, 'Node', 'spec'),
  serviceExportWishes,
  registrationWishes,
  { query: distributionWishes, observes: distributionObserves },
  { query: analysisMessages, observes: analysisObserves },
];

/** Nothing is kept of the kind while the feature is off. */
function withFeature(
  feature: BooleanFeature,
  query: WishFeature['query'],
  kind: KindName,
  ...parts: readonly string[]
): WishFeature {
  const names = (settings: Settings): readonly string[] | undefined => (featureOf(settings, feature) ? undefined : []);
  return { query, observes: [{ kind, parts, names, isOptional: true }] };
}

type BooleanFeature = 'ENABLE_MCS_AUTO_EXPORT' | 'PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS';

function statusesOf(query: WishFeature['query'], ...kinds: readonly KindName[]): WishFeature {
  return { query, observes: kinds.map(kind => ({ kind, parts: STATUS })) };
}

export const wishTable = tableOf('wish-table', wishFeatures);

/** `name`: unique among queries. */
export function tableOf(name: string, features: readonly WishFeature[]): Query<'', WishTable> {
  return { name, run: reader => joined(features.map(({ query }) => reader.get(query, ''))) };
}

function joined(lists: readonly (readonly Wish[])[]): WishTable {
  const found = new Map<string, Wish>();
  const clashes: string[] = [];
  for (const wish of lists.flat()) {
    const key = wishKey(wish);
    if (found.has(key)) clashes.push(showTarget(wish));
    else found.set(key, wish);
  }
  const keys = [...found.keys()].sort();
  return { wishes: keys.map(key => found.get(key)!), clashes: clashes.sort() };
}

/** True if the state says that this process holds the wish's election. */
export function isGateOpen(reader: Pick<ProxyReader, 'object' | 'setting'>, { gate, cluster }: Wish): boolean {
  if (gate === undefined) return true;
  return reader.object('Leadership', `${cluster}/${lockName(gate, reader.setting('revision'))}`) !== undefined;
}
