// InferencePool: the pods of an inference model, and the endpoint picker that chooses among them.

import type { Obj } from '../../model/object.ts';
import type { InferencePoolSpec } from '../../schema/gateway-api-types.gen.ts';
import type { Reference } from '../references.ts';
import { gatewayKind } from './gateway-kind.ts';
import { named } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly InferencePool: { readonly spec: InferencePoolSpec; readonly push: 'config' };
  }
}

export const inferencePool = gatewayKind({
  kind: 'InferencePool',
  group: 'inference.networking.k8s.io',
  versions: ['v1'],
  push: 'config',
  // Owner of the Service that stands for it.
  keepMeta: ['uid'],
  references: inferencePoolReferences,
});

function inferencePoolReferences({ namespace, spec }: Obj<'InferencePool'>): readonly Reference[] {
  return named(namespace)('spec.endpointPickerRef', spec.endpointPickerRef);
}
