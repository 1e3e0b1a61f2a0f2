// Pod: the source of the mesh's endpoints and workloads. Of the spec only what Istio reads, of the status phase,
// addresses and readiness: a pod's status changes all the time in ways that mean nothing to a proxy.

import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Obj } from '../../model/object.ts';
import { account, type Reference } from '../references.ts';
import type { Report } from '../report.ts';
import { checkIp } from '../validate/addresses.ts';
import { checkPort } from '../validate/ports.ts';
import { kubernetesKind } from './kubernetes-kind.ts';

export interface ContainerPort {
  readonly name: string;
  readonly containerPort: number;
  /** TCP, UDP or SCTP. */
  readonly protocol: string;
}
export interface Container {
  readonly name: string;
  readonly ports: readonly ContainerPort[];
  /** `Always` makes an init container a native sidecar. */
  readonly restartPolicy?: string;
}
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly controller: boolean;
}
export interface PodCondition {
  readonly type: string;
  readonly status: string;
}

export interface PodData {
  /** metadata.generateName, or empty. */
  readonly generateName: string;
  /** metadata.ownerReferences, in the order given. */
  readonly ownerReferences: readonly OwnerReference[];
  /** metadata.deletionTimestamp: set while the pod is being deleted. */
  readonly deletionTimestamp?: string;
  /** `default` when none is given. */
  readonly serviceAccountName: string;
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  readonly hostNetwork: boolean;
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
  /** Empty when unknown. */
  readonly phase: string;
  /** Empty while the pod has none. */
  readonly podIP: string;
  /** All addresses, podIP among them; the first is the primary one. */
  readonly podIPs: readonly string[];
  /** The condition Ready, if there is one. */
  readonly conditions: readonly PodCondition[];
}

interface DecodedContainer {
  readonly name?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number; readonly protocol?: string }[];
}
interface Decoded {
  readonly metadata?: {
    readonly generateName?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly Partial<OwnerReference>[];
  };
  readonly spec?: {
    readonly serviceAccountName?: string;
    readonly nodeName?: string;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly hostNetwork?: boolean;
    readonly containers?: readonly DecodedContainer[];
    readonly initContainers?: readonly DecodedContainer[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
    readonly conditions?: readonly Partial<PodCondition>[];
  };
}

const CONDITIONS_KEPT: readonly string[] = ['Ready'];

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Pod: {
      readonly spec: PodData;
      readonly indexes: 'podsByAddress' | 'podsByIp' | 'podsByNamespace' | 'podsByNode';
      readonly push: 'own';
    };
  }
}

export const pod = kubernetesKind<'Pod', Decoded>({
  kind: 'Pod',
  group: '',
  versions: ['v1'],
  push: 'own',
  references: podReferences,
  // Tokens name it: one of an earlier pod of the same name proves nothing (identity/authenticate/token-keys.ts).
  keepMeta: ['uid'],
  metadata: [
    { name: 'generateName', type: 'string' },
    { name: 'deletionTimestamp', type: 'string' },
    { name: 'ownerReferences', type: { message: 'OwnerReference' }, repeated: true },
  ],
  messages: {
    Object: [
      { name: 'spec', type: { message: 'Spec' } },
      { name: 'status', type: { message: 'Status' } },
    ],
    OwnerReference: [
      { name: 'apiVersion', type: 'string' },
      { name: 'kind', type: 'string' },
      { name: 'name', type: 'string' },
      { name: 'controller', type: 'bool' },
    ],
    Spec: [
      { name: 'serviceAccountName', type: 'string' },
      { name: 'nodeName', type: 'string' },
      { name: 'hostname', type: 'string' },
      { name: 'subdomain', type: 'string' },
      { name: 'hostNetwork', type: 'bool' },
      { name: 'containers', type: { message: 'Container' }, repeated: true },
      { name: 'initContainers', type: { message: 'Container' }, repeated: true },
    ],
    Container: [
      { name: 'name', type: 'string' },
      { name: 'restartPolicy', type: 'string' },
      { name: 'ports', type: { message: 'Port' }, repeated: true },
    ],
    Port: [
      { name: 'name', type: 'string' },
      { name: 'containerPort', type: 'int32' },
      { name: 'protocol', type: 'string' },
    ],
    Status: [
      { name: 'phase', type: 'string' },
      { name: 'podIP', type: 'string' },
      { name: 'podIPs', type: { message: 'PodIp' }, repeated: true },
      { name: 'conditions', type: { message: 'Condition' }, repeated: true },
    ],
    PodIp: [{ name: 'ip', type: 'string' }],
    Condition: [
      { name: 'type', type: 'string' },
      { name: 'status', type: 'string' },
    ],
  },
  rules: checkPod,
  flatten,
  narrow,
  indexes: {
    /** `namespace/ip`, of all clusters. */
    podsByAddress: ({ namespace, spec }) => spec.podIPs.map(ip => `${namespace}/${ip}`),
    /** `cluster/ip`, of each of its addresses. */
    podsByIp: ({ cluster, spec }) => spec.podIPs.map(ip => `${cluster}/${ip}`),
    /** `namespace`, of all clusters. */
    podsByNamespace: ({ namespace }) => [namespace],
    /** `cluster/node` */
    podsByNode: ({ cluster, spec }) => (spec.nodeName === '' ? [] : [`${cluster}/${spec.nodeName}`]),
  },
});

function flatten(decoded: Decoded): PodData {
  const { metadata = {}, spec = {}, status = {} } = decoded;
  const podIP = status.podIP ?? '';
  const others = (status.podIPs ?? []).map(({ ip = '' }) => ip);
  const podIPs = [...new Set([podIP, ...others])].filter(ip => ip !== '');
  return {
    generateName: metadata.generateName ?? '',
    ownerReferences: (metadata.ownerReferences ?? []).map(owner => ({
      apiVersion: owner.apiVersion ?? '',
      kind: owner.kind ?? '',
      name: owner.name ?? '',
      controller: owner.controller ?? false,
    })),
    ...(metadata.deletionTimestamp === undefined ? {} : { deletionTimestamp: metadata.deletionTimestamp }),
    serviceAccountName: spec.serviceAccountName || 'default',
    nodeName: spec.nodeName ?? '',
    hostname: spec.hostname ?? '',
    subdomain: spec.subdomain ?? '',
    hostNetwork: spec.hostNetwork ?? false,
    containers: (spec.containers ?? []).map(flattenContainer),
    initContainers: (spec.initContainers ?? []).map(flattenContainer),
    phase: status.phase ?? '',
    podIP,
    podIPs,
    conditions: (status.conditions ?? [])
      .map(({ type = '', status: state = '' }) => ({ type, status: state }))
      .filter(condition => CONDITIONS_KEPT.includes(condition.type)),
  };
}

function flattenContainer(container: DecodedContainer): Container {
  return {
    name: container.name ?? '',
    ports: (container.ports ?? []).map(port => ({
      name: port.name ?? '',
      containerPort: port.containerPort ?? 0,
      protocol: port.protocol ?? 'TCP',
    })),
    ...(container.restartPolicy === undefined ? {} : { restartPolicy: container.restartPolicy }),
  };
}

function checkPod(decoded: Decoded, report: Report): void {
  for (const list of ['containers', 'initContainers'] as const) {
    (decoded.spec?.[list] ?? []).forEach((container, i) => {
      (container.ports ?? []).forEach((port, j) => {
        checkPort(port.containerPort, `spec.${list}[${i}].ports[${j}].containerPort`, report);
      });
    });
  }
  if (decoded.status?.podIP) checkIp(decoded.status.podIP, 'status.podIP', report);
  const addresses = decoded.status?.podIPs ?? [];
  if (addresses.length > ADDRESSES_MAX) {
    report('status.podIPs', `has ${addresses.length} entries; a pod has one address of each IP family`);
    return;
  }
  addresses.forEach(({ ip }, i) => {
    if (ip !== undefined) checkIp(ip, `status.podIPs[${i}].ip`, report);
  });
}

/** An API server stores no more (pkg/apis/core/validation, validatePodIPs); each is an entry of two indexes. */
const ADDRESSES_MAX = 2;

/** Only the conditions that a query reads; others change with every probe. */
function narrow(projection: JsonObject): JsonObject {
  const { status } = projection;
  if (!isObject(status) || !Array.isArray(status.conditions)) return projection;
  const matters = (condition: Json): boolean =>
    !isObject(condition) || typeof condition.type !== 'string' || CONDITIONS_KEPT.includes(condition.type);
  return { ...projection, status: { ...status, conditions: (status.conditions as readonly Json[]).filter(matters) } };
}

function podReferences({ cluster, namespace, spec }: Obj<'Pod'>): readonly Reference[] {
  const { nodeName: name, serviceAccountName } = spec;
  return [
    ...account('spec.serviceAccountName', namespace, serviceAccountName).map(found => ({ ...found, cluster })),
    ...(name === '' ? [] : [{ path: 'spec.nodeName', cluster, kind: 'Node' as const, namespace: '', name }]),
  ];
}
