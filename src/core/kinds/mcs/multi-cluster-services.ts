// ServiceExport and ServiceImport of the multi-cluster services API. They are looked at only with ENABLE_MCS_SERVICE_DISCOVERY and
// ENABLE_MCS_HOST, off by default: that an export exists, and which addresses an import has
// (Istio pilot/pkg/serviceregistry/kube/controller/service{export,import}cache.go).

import { isIp } from '../../model/proxy.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';
import { serviceExportReferences, serviceImportReferences } from '../kubernetes/references-kubernetes.ts';

const GROUP = 'multicluster.x-k8s.io';

export interface ServiceImportData {
  /** Sorted; what is no address is left out, as by Istio. */
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
  flatten: ({ spec }) => ({ ips: (spec?.ips ?? []).filter(isIp).sort() }),
  indexes: obj => ({ importsByName: [`${obj.namespace}/${obj.name}`] }),
  references: serviceImportReferences,
});
