// The resources to list and watch, and their kinds in the core. The kinds are the core's own list; where an API server
// serves them is found by asking it (discovery.ts, custom-resources.ts).

import type { KindDefinition } from '../../core/kinds/definition.ts';
import { definitions, kindNames } from '../../core/kinds/registry.ts';
import type { KindName } from '../../core/model/kind.ts';

export interface Resource {
  readonly kind: KindName;
  /** Of the objects as facts, e.g. `networking.istio.io/v1` */
  readonly apiVersion: string;
  /** The `kind` of the objects as facts. */
  readonly objectKind: string;
  /** e.g. `/apis/networking.istio.io/v1/virtualservices` */
  readonly path: string;
  readonly fieldSelector?: string;
  /** Only metadata is requested. */
  readonly metadataOnly: boolean;
}

/**
 * Kinds that are not watched. Endpoints: deprecated, and clusters mirror them into EndpointSlices, which are used.
 * Lease: the heartbeat of every node, every ten seconds. CustomResourceDefinition: watched by definitions.ts.
 * Kinds of periplus.internal: made by adapters of ours.
 */
const NOT_WATCHED: readonly KindName[] = [
  'AnalysisReport',
  'ConfigDistribution',
  'CustomResourceDefinition',
  'Endpoints',
  'JwksDocument',
  'Leadership',
  'Lease',
  'ResolvedName',
  'WebhookProof',
  'WorkloadRegistration',
  'WriteRefusal',
  'SecretAccess',
  'SpiffeBundle',
  'TokenIssuer',
  'TrustAnchors',
  'WorkloadCertificate',
];

/** Built-in groups. Every other group comes and goes with CustomResourceDefinitions. */
const BUILT_IN_GROUP = /^(|[a-z]+|[a-z]+\.k8s\.io)$/;
/** The built-in groups that a mesh needs; an API server without them is not ready yet. */
const REQUIRED_GROUPS: readonly string[] = ['', 'discovery.k8s.io', 'networking.k8s.io'];

/**
 * Field selectors: the server omits objects that are many, large or secret and mean nothing to a mesh, as for istiod
 * (Istio pilot/pkg/credentials/kube, pilot/pkg/serviceregistry/kube/controller).
 */
const fieldSelectors: Readonly<Partial<Record<KindName, string>>> = {
  Pod: 'status.phase!=Failed',
  Secret: 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token',
};

/** Kinds that are read of remote clusters alone, and the kinds by which API servers serve their objects. */
const remoteOnly: Readonly<Partial<Record<KindName, KindName>>> = {
  RemoteGateway: 'KubernetesGateway',
  RemoteWorkloadEntry: 'WorkloadEntry',
};

export function isRemoteOnly(kind: KindName): boolean {
  return remoteOnly[kind] !== undefined;
}

/** The kind by which API servers serve the objects of a kind: group, versions and name of its definition. */
export function servedAs({ kind }: KindDefinition): KindDefinition {
  return definitions[remoteOnly[kind] ?? kind] as KindDefinition;
}

/** Kinds of remote clusters alone; those of every cluster are the built-in and the custom ones. */
export const remoteOnlyKinds: readonly KindDefinition[] = kindNames
  .filter(isRemoteOnly)
  .map(kind => definitions[kind] as KindDefinition);

const watched: readonly KindDefinition[] = kindNames
  .filter(kind => !NOT_WATCHED.includes(kind) && !isRemoteOnly(kind))
  .map(kind => definitions[kind] as KindDefinition);

export const builtInKinds: readonly KindDefinition[] = watched.filter(({ group }) => BUILT_IN_GROUP.test(group));
export const customKinds: readonly KindDefinition[] = watched.filter(({ group }) => !BUILT_IN_GROUP.test(group));

export function isRequired({ group }: KindDefinition): boolean {
  return REQUIRED_GROUPS.includes(group);
}

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

export function pathOf(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** `version` is one that the API server serves. */
export function resourceOf(definition: KindDefinition, version: string, plural: string): Resource {
  const { kind, objectKind = kind, group, versions } = definition;
  const fieldSelector = fieldSelectors[kind];
  return {
    kind,
    apiVersion: apiVersionOf(group, isRemoteOnly(kind) ? versions[0]! : version),
    objectKind,
    path: `${pathOf(servedAs(definition).group, version)}/${plural}`,
    metadataOnly: definition.metadataOnly === true,
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
