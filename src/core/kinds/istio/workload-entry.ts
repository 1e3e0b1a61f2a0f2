// WorkloadEntry: one workload outside Kubernetes, such as a virtual machine. Its health is the condition Healthy of its status.
// Rules: Istio pkg/config/validation (ValidateWorkloadEntry).

import { labelKeys } from '../../model/selection.ts';
import { statusList } from '../status.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { workloadEntryReferences } from './references-networking.ts';
import { checkEndpoint } from './validate/endpoints.ts';

export const workloadEntry = istioKind({
  kind: 'WorkloadEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.WorkloadEntry',
  references: workloadEntryReferences,
  rules: (spec, report) => checkEndpoint(spec, {}, 'spec', report),
  indexes: ({ namespace, labels, spec }) => ({
    workloadEntriesByAddress: spec.address ? [spec.address] : [],
    workloadEntriesByLabel: labelKeys({ ...spec.labels, ...labels }).map(key => `${namespace}/${key}`),
  }),
  status: statusList('conditions', ['type', 'status'], condition => condition.type === 'Healthy'),
});
