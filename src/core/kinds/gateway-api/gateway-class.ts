// GatewayClass: which controller acts on the Gateways of a class.

import type { Obj } from '../../model/object.ts';
import type { GatewayClassSpec } from '../../schema/gateway-api-types.gen.ts';
import type { Reference } from '../references.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { named } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly GatewayClass: { readonly spec: GatewayClassSpec; readonly push: 'config' };
  }
}

export const gatewayClass = gatewayKind({
  kind: 'GatewayClass',
  group: GATEWAY_API,
  versions: ['v1', 'v1beta1'],
  clusterScoped: true,
  push: 'config',
  references: gatewayClassReferences,
});

function gatewayClassReferences({ spec: { parametersRef } }: Obj<'GatewayClass'>): readonly Reference[] {
  return parametersRef === undefined ? [] : named('')('spec.parametersRef', parametersRef);
}
