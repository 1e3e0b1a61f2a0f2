// Every service of the mesh: Kubernetes Services of all clusters, merged by host, and the services of ServiceEntries.
// Unchanged services keep their identity when others change: each is a query of its own, and the lists only put them in order.
// Rules: spec-routes-visibility §17; Istio pilot/pkg/serviceregistry/aggregate/controller.go.

import type { Service } from '../model/service.ts';
import type { Query } from '../reader.ts';

/** All services, aliases resolved, by creation time, name, namespace. */
export const allServices: Query<'', readonly Service[]> = {
  name: 'registry/allServices',
  run: () => [],
};

/** The services of one host, in the order of `allServices`. */
export const servicesOfHost: Query<string, readonly Service[]> = {
  name: 'registry/servicesOfHost',
  run: () => [],
};
