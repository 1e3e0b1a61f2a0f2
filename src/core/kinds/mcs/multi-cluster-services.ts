// ServiceExport and ServiceImport of the multi-cluster services API. Read only with ENABLE_MCS_SERVICE_DISCOVERY and
// ENABLE_MCS_HOST, off by default: the existence of an export, and the addresses of an import (Istio
// pilot/pkg/serviceregistry/kube/controller/serviceexportcache.go,
// pilot/pkg/serviceregistry/kube/controller/serviceimportcache.go).

import { isIp } from '../../base/ip.ts';
import type { Obj } from '../../model/object.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';
import type { MetadataOnly } from '../kubernetes/metadata-only.ts';
import { serviceReference } from '../kubernetes/references.ts';
import type { Reference } from '../references.ts';

const GROUP = 'multicluster.x-k8s.io';

export interface ServiceImportData {
  /** Sorted; as in Istio, invalid addresses are left out. */
  readonly ips: readonly string[];
}
interface DecodedImport {
  readonly spec?: { readonly ips?: readonly string[] };
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ServiceExport: { readonly spec: MetadataOnly; readonly push: 'own' };
    readonly ServiceImport: {
      readonly spec: ServiceImportData;
      readonly indexes: 'importsByName';
      readonly push: 'own';
    };
  }
}

export const serviceExport = kubernetesKind<'ServiceExport', object>({
  kind: 'ServiceExport',
  group: GROUP,
  versions: ['v1alpha1'],
  push: 'own',
  messages: { Object: [] },
  flatten: () => ({}),
  references: serviceExportReferences,
});

export const serviceImport = kubernetesKind<'ServiceImport', DecodedImport>({
  kind: 'ServiceImport',
  group: GROUP,
  versions: ['v1alpha1'],
  push: 'own',
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [{ name: 'ips', type: 'string', repeated: true }],
  },
  flatten: ({ spec }) => ({ ips: (spec?.ips ?? []).filter(isIp).sort() }),
  indexes: {
    /** `namespace/name`, of all clusters. */
    importsByName: ({ namespace, name }) => [`${namespace}/${name}`],
  },
  references: serviceImportReferences,
});

function serviceExportReferences(obj: Obj<'ServiceExport'>): readonly Reference[] {
  return serviceReference('metadata.name', obj, obj.name);
}

/** The service may be in any cluster. */
function serviceImportReferences({ namespace, name }: Obj<'ServiceImport'>): readonly Reference[] {
  return [{ path: 'metadata.name', kind: 'Service', namespace, name }];
}
