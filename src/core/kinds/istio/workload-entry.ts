// WorkloadEntry: one workload outside Kubernetes, such as a virtual machine. Its health is the condition Healthy of its
// status.
// Rules: Istio pkg/config/validation (ValidateWorkloadEntry).

import { goBoolean } from '../../base/go-boolean.ts';
import type { Obj } from '../../model/object.ts';
import { labelKeys } from '../../model/selection.ts';
import type { IstioStatus, WorkloadEntry } from '../../schema/istio-types.gen.ts';
import { account, type Reference } from '../references.ts';
import { statusList } from '../status.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { checkEndpoint } from './validate/endpoints.ts';

/** Annotations that control planes keep on the WorkloadEntries of machines that are connected. */
export const REGISTRATION_GROUP = 'istio.io/autoRegistrationGroup';
export const WORKLOAD_CONTROLLER = 'istio.io/workloadController';
export const CONNECTED_AT = 'istio.io/connectedAt';
export const DISCONNECTED_AT = 'istio.io/disconnectedAt';
export const HEALTH_CHECKED = 'proxy.istio.io/health-checks-enabled';

declare module '../../model/kind.ts' {
  interface KindTypes {
    /** status.conditions: type and status only; health is the condition `Healthy`. */
    readonly WorkloadEntry: {
      readonly spec: WorkloadEntry & { readonly status?: Pick<IstioStatus, 'conditions'> };
      readonly indexes: 'workloadEntriesByAddress' | 'workloadEntriesByLabel';
      readonly push: 'own';
    };
  }
}

export const workloadEntry = istioKind({
  kind: 'WorkloadEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'own',
  type: 'istio.networking.v1alpha3.WorkloadEntry',
  references: workloadEntryReferences,
  rules: (spec, report) => checkEndpoint(spec, {}, 'spec', report),
  indexes: {
    /** `address` */
    workloadEntriesByAddress: ({ spec }) => (spec.address ? [spec.address] : []),
    /** `namespace/label=value` for each label. */
    workloadEntriesByLabel: ({ namespace, labels, spec }) =>
      labelKeys({ ...spec.labels, ...labels }).map(key => `${namespace}/${key}`),
  },
  status: statusList('conditions', ['type', 'status'], condition => condition.type === 'Healthy'),
});

/**
 * Its machine may report its health. The report counts only if the annotation says so (`isHealthChecked`).
 * Source: Istio pilot/pkg/autoregistration/internal/health/util.go (IsEligibleForHealthStatusUpdates).
 */
export function takesHealth({ annotations }: Pick<Obj, 'annotations'>): boolean {
  return annotations[HEALTH_CHECKED] !== undefined;
}

export function isHealthChecked({ annotations }: Pick<Obj, 'annotations'>): boolean {
  return goBoolean(annotations[HEALTH_CHECKED]) === true;
}

/** Its account, and the group that it registered with. */
function workloadEntryReferences({ namespace, spec, annotations }: Obj<'WorkloadEntry'>): readonly Reference[] {
  const group = annotations[REGISTRATION_GROUP];
  const path = `metadata.annotations[${REGISTRATION_GROUP}]`;
  return [
    ...account('spec.serviceAccount', namespace, spec.serviceAccount),
    ...(group === undefined ? [] : [{ path, kind: 'WorkloadGroup' as const, namespace, name: group }]),
  ];
}
