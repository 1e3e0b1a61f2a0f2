// ServiceEntry: services and endpoints that the Kubernetes of the mesh does not know.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';
import { statusList } from './status.ts';

export const serviceEntry = istioKind({
  kind: 'ServiceEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.ServiceEntry',
  status: statusList('addresses', ['value', 'host']),
  indexes: obj => ({ serviceEntriesByHost: obj.spec.hosts ?? [] }),
});
