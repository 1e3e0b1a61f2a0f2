// Short names for the decoded Istio objects that the selectors hand out.

import type * as istio from '../schema/istio-types.gen.ts';
import type { KindName } from '../kinds/kinds.ts';
import type { Obj } from '../object.ts';

interface Specs {
  readonly VirtualService: istio.VirtualService;
  readonly DestinationRule: istio.DestinationRule;
  readonly Sidecar: istio.Sidecar;
  readonly PeerAuthentication: istio.PeerAuthentication;
}

/** The decoded content of a kind. */
export type SpecOf<K extends keyof Specs> = Specs[K];
/** An accepted object of a kind. */
export type ObjOf<K extends keyof Specs> = Omit<Obj, 'kind' | 'spec'> & { readonly kind: K; readonly spec: Specs[K] };
/** For readers until the kind has a decoder. */
export const kindOf = (kind: keyof Specs): KindName => kind as KindName;
