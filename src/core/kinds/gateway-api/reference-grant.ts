// ReferenceGrant: which objects of other namespaces may refer to those of its own. The CRD accepts one without a spec.

import type { Obj } from '../../model/object.ts';
import type { ReferenceGrantSpec } from '../../schema/gateway-api-types.gen.ts';
import { each, type Reference } from '../references.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { named } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ReferenceGrant: { readonly spec: Partial<ReferenceGrantSpec>; readonly push: 'config' };
  }
}

export const referenceGrant = gatewayKind({
  kind: 'ReferenceGrant',
  group: GATEWAY_API,
  versions: ['v1beta1', 'v1'],
  push: 'config',
  references: referenceGrantReferences,
});

/** The objects that others may refer to, if it names them. */
function referenceGrantReferences({ namespace, spec }: Obj<'ReferenceGrant'>): readonly Reference[] {
  return each('spec.to', spec.to, named(namespace));
}
