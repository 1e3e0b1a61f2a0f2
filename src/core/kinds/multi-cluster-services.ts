// ServiceExport and ServiceImport of the multi-cluster services API. istiod looks at them only with ENABLE_MCS_SERVICE_DISCOVERY and
// ENABLE_MCS_HOST, off by default, and then reads that an export exists, and an import's addresses
// (Istio pilot/pkg/serviceregistry/kube/controller/service{export,import}cache.go).

import { kubernetesKind } from './kubernetes.ts';
import { serviceExportReferences } from './references-kubernetes.ts';
import { checkIp } from './validate/addresses.ts';

const GROUP = 'multicluster.x-k8s.io';
const NOT_YET = 'services are known by their cluster.local names only (ENABLE_MCS_HOST)';

export interface ServiceImportData {
  /** Sorted. */
  readonly ips: readonly string[];
}
interface DecodedImport {
  readonly spec?: { readonly ips?: readonly string[] };
}

export const serviceExport = kubernetesKind<'ServiceExport', object>({
  kind: 'ServiceExport',
  group: GROUP,
  versions: ['v1alpha1'],
  messages: { Object: [] },
  flatten: () => ({}),
  references: serviceExportReferences,
});

export const serviceImport = kubernetesKind<'ServiceImport', DecodedImport>({
  kind: 'ServiceImport',
  group: GROUP,
  versions: ['v1alpha1'],
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [{ name: 'ips', type: 'string', repeated: true }],
  },
  rules: ({ spec }, report) => {
    (spec?.ips ?? []).forEach((ip, i) => {
      checkIp(ip, `spec.ips[${i}]`, report);
    });
  },
  flatten: ({ spec }) => ({ ips: [...(spec?.ips ?? [])].sort() }),
  notYet: NOT_YET,
});
