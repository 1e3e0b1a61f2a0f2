// VirtualServices as they apply: names resolved, delegates merged, indexed by gateway and visibility.
// Rules: spec-routes-visibility §7.1, §8, §9; Istio pilot/pkg/model/virtualservice.go, push_context.go.

import type { Query } from '../reader.ts';
import type { ObjOf, SpecOf } from './specs.ts';

export interface ResolvedVirtualService {
  /** The root object: its metadata names the routes that come of it. */
  readonly obj: ObjOf<'VirtualService'>;
  readonly name: string;
  readonly namespace: string;
  readonly hosts: readonly string[];
  /** `mesh` or `namespace/name`; never empty. */
  readonly gateways: readonly string[];
  /** Delegates merged; hosts, destinations and gateways (those of matches too) resolved. */
  readonly spec: SpecOf<'VirtualService'>;
}

/**
 * Argument `namespace|gateway`: the VirtualServices of that gateway (`mesh` or `namespace/name`) that a proxy of the namespace sees:
 * private ones, then those exported to the namespace by name, then the public ones; each by creation time, name, namespace.
 */
export const virtualServicesFor: Query<string, readonly ResolvedVirtualService[]> = {
  name: 'select/virtualServicesFor',
  run: () => [],
};
