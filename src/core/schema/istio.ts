// The decoder of Istio's API kinds: `decodeIstio('istio.networking.v1alpha3.VirtualService', object.spec, 'spec')`.
//
// v1, v1beta1 and v1alpha3 of a kind are one message in istio.io/api, so there is one name per kind here too.

import { makeDecoder } from './decode.ts';
import { istioSchema } from './istio-schema.gen.ts';
import type { IstioTypeMap } from './istio-types.gen.ts';

export const decodeIstio = makeDecoder<IstioTypeMap>(istioSchema);
