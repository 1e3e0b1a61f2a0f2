// What the kinds of Kubernetes refer to: each object to others of its own cluster.

import type { Obj } from '../../model/object.ts';
import { account, each, type Reference, workloads } from '../references.ts';

/** With this label a slice says whose it is. */
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

interface Target {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The pod behind an address: while it is not there, neither is the endpoint. */
function pod(path: string, obj: Obj, target: Target | undefined): readonly Reference[] {
  if (target?.kind !== 'Pod') return [];
  const { cluster } = obj;
  return [{ path, cluster, kind: 'Pod', namespace: target.namespace || obj.namespace, name: target.name }];
}

function service(path: string, { cluster, namespace }: Obj, name: string | undefined): readonly Reference[] {
  return name === undefined ? [] : [{ path, cluster, kind: 'Service', namespace, name }];
}

export function endpointSliceReferences(obj: Obj<'EndpointSlice'>): readonly Reference[] {
  return [
    ...service(`metadata.labels[${SERVICE_NAME_LABEL}]`, obj, obj.labels[SERVICE_NAME_LABEL]),
    ...each('endpoints', obj.spec.endpoints, (path, { targetRef }) => pod(`${path}.targetRef`, obj, targetRef)),
  ];
}

export function endpointsReferences(obj: Obj<'Endpoints'>): readonly Reference[] {
  return [
    ...service('metadata.name', obj, obj.name),
    ...each('subsets', obj.spec.subsets, (path, { addresses }) =>
      each(`${path}.addresses`, addresses, (at, { targetRef }) => pod(`${at}.targetRef`, obj, targetRef)),
    ),
  ];
}

export function podReferences({ cluster, namespace, spec }: Obj<'Pod'>): readonly Reference[] {
  const { nodeName: name, serviceAccountName } = spec;
  return [
    ...account('spec.serviceAccountName', namespace, serviceAccountName).map(found => ({ ...found, cluster })),
    ...(name === '' ? [] : [{ path: 'spec.nodeName', cluster, kind: 'Node' as const, namespace: '', name }]),
  ];
}

/** The workloads that it selects; an alias to a name of the mesh: that service. */
export function serviceReferences({ spec }: Obj<'Service'>): readonly Reference[] {
  const { type, externalName, selector } = spec;
  if (type !== 'ExternalName') return workloads('spec.selector', selector, 'namespace');
  return externalName.includes('.svc.') ? [{ path: 'spec.externalName', host: externalName, subset: '' }] : [];
}

export function serviceExportReferences(obj: Obj<'ServiceExport'>): readonly Reference[] {
  return service('metadata.name', obj, obj.name);
}

/** The service may be in any cluster. */
export function serviceImportReferences({ namespace, name }: Obj<'ServiceImport'>): readonly Reference[] {
  return [{ path: 'metadata.name', kind: 'Service', namespace, name }];
}
