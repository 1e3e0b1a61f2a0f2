// What templates are given: the pod, its owner, the mesh and proxy configuration in force, the values. Members carry
// the names of Istio's SidecarTemplateData, because the templates of an installation are written for it.
// Source: Istio pkg/kube/inject/inject.go (SidecarTemplateData, RunTemplate).

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { MeshConfig } from '../../core/mesh/effective.ts';
import type { Reader } from '../../core/query/reader.ts';
import type { ProxyConfig } from '../../core/schema/istio-types.gen.ts';
import type { Value } from '../template/value.ts';
import { StructView } from '../template/views.ts';
import type { Owner } from './owner.ts';
import { objectAt, type Pod } from './pod.ts';

const PROXY_UID = 1337n;

export interface TemplateInputs {
  readonly pod: Pod;
  readonly owner: Owner;
  readonly proxyConfig: ProxyConfig;
  readonly mesh: JsonObject;
  readonly values: JsonObject;
  readonly revision: string;
  readonly native: boolean;
  readonly image: string;
  readonly compliancePolicy: string;
  readonly ids: ProxyIds;
}

export interface ProxyIds {
  readonly uid: bigint;
  readonly gid: bigint;
}

export const DEFAULT_IDS: ProxyIds = { uid: PROXY_UID, gid: PROXY_UID };

export function templateData(inputs: TemplateInputs): Value {
  const { pod, owner, proxyConfig, mesh, values, revision, native, image, compliancePolicy, ids } = inputs;
  const inbound = objectAt(mesh, 'inboundTrafficPolicy').mode === 'LOCALHOST' ? 'localhost' : 'passthrough';
  return new StructView(
    {},
    {
      TypeMeta: new StructView({ apiVersion: owner.apiVersion, kind: owner.kind }),
      DeploymentMeta: new StructView({ name: owner.name, namespace: owner.namespace }),
      ObjectMeta: new StructView(objectAt(pod, 'metadata')),
      Spec: new StructView(objectAt(pod, 'spec')),
      ProxyConfig: new StructView(proxyConfigJson(proxyConfig)),
      MeshConfig: new StructView(mesh),
      Values: values as { readonly [name: string]: Value },
      Revision: revision,
      NativeSidecars: native,
      ProxyImage: image,
      ProxyUID: ids.uid,
      ProxyGID: ids.gid,
      InboundTrafficPolicyMode: inbound,
      CompliancePolicy: compliancePolicy,
    },
  );
}

/** Enums that templates read have their default written out. */
export function proxyConfigJson(config: ProxyConfig): JsonObject {
  const json = wireJson(config as Json);
  return { interceptionMode: 'REDIRECT', ...(isObject(json) ? json : {}) };
}

/** Every field of the effective MeshConfig, as protojson has it. */
export function meshJson(reader: Reader): JsonObject {
  const fields = MESH_FIELDS.map(field => [field, reader.mesh(field)] as const);
  const present = fields.filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([field, value]) => [field, wireJson(value as Json)])) as JsonObject;
}

/** The fields that a template of an installation can depend on; all that Istio's own ones do are among them. */
const MESH_FIELDS: readonly (keyof MeshConfig)[] = [
  'accessLogEncoding',
  'accessLogFile',
  'accessLogFormat',
  'connectTimeout',
  'defaultConfig',
  'enableAutoMtls',
  'enablePrometheusMerge',
  'enableTracing',
  'extensionProviders',
  'inboundTrafficPolicy',
  'ingressClass',
  'ingressControllerMode',
  'ingressService',
  'outboundTrafficPolicy',
  'proxyHttpPort',
  'proxyInboundListenPort',
  'proxyListenPort',
  'rootNamespace',
  'trustDomain',
  'trustDomainAliases',
];

/** Durations as text: decoded, they are seconds and nanoseconds. */
function wireJson(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(wireJson);
  if (!isObject(value)) return value;
  const { seconds, nanos, ...rest } = value;
  if (typeof seconds === 'number' && typeof nanos === 'number' && Object.keys(rest).length === 0) {
    return `${seconds + nanos / 1e9}s`;
  }
  const members = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, wireJson(member)])) as JsonObject;
}
