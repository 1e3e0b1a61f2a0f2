// ConfigDistribution: how many of the connected proxies have accepted a version of an object of Istio's, as an object
// of the source that counts (docs/adr/0009), so that the status that is written from it follows from the journal alone.
//
//     {apiVersion: periplus.internal/v1, kind: ConfigDistribution,
//      metadata: {namespace: shop, name: virtualservice.reviews},
//      spec: {kind: VirtualService, name: reviews, generation: 3, acked: 9, total: 10}}

import type { JsonObject } from '../../base/json.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';
import { ABOUT_API, nameAbout } from './about-object.ts';

export interface ConfigDistributionData {
  readonly kind: string;
  readonly name: string;
  /** metadata.generation of the version that is counted. */
  readonly generation: number;
  /** Proxies that accepted it, of those that are connected. */
  readonly acked: number;
  readonly total: number;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ConfigDistribution: { readonly spec: ConfigDistributionData; readonly push: 'none' };
  }
}

const texts = ['kind', 'name'].map(name => ({ name, type: 'string' as const }));
const counts = ['generation', 'acked', 'total'].map(name => ({ name, type: 'int32' as const }));

export const configDistribution = kubernetesKind<
  'ConfigDistribution',
  { readonly spec?: Partial<ConfigDistributionData> }
>({
  kind: 'ConfigDistribution',
  group: 'periplus.internal',
  versions: ['v1'],
  push: 'none',
  messages: { Object: [{ name: 'spec', type: { message: 'Spec' } }], Spec: [...texts, ...counts] },
  flatten: ({ spec }) => ({ kind: '', name: '', generation: 0, acked: 0, total: 0, ...spec }),
});

/** The object as its source says it. */
export function distributionObject(namespace: string, spec: ConfigDistributionData): JsonObject {
  const metadata = { namespace, name: nameAbout(spec.kind, spec.name) };
  return { apiVersion: ABOUT_API, kind: 'ConfigDistribution', metadata, spec: { ...spec } };
}
