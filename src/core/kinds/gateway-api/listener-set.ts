// ListenerSet: more listeners of a Gateway, beside those of its own.

import type { Obj } from '../../model/object.ts';
import type { ListenerSetSpec } from '../../schema/gateway-api-types.gen.ts';
import { each, type Reference } from '../references.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { certificates, named } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ListenerSet: { readonly spec: ListenerSetSpec; readonly push: 'config' };
  }
}

export const listenerSet = gatewayKind({
  kind: 'ListenerSet',
  group: GATEWAY_API,
  versions: ['v1'],
  push: 'config',
  references: listenerSetReferences,
});

function listenerSetReferences({ namespace, spec }: Obj<'ListenerSet'>): readonly Reference[] {
  const parent = named(namespace)('spec.parentRef', spec.parentRef);
  return [...parent, ...each('spec.listeners', spec.listeners, certificates(namespace))];
}
