// BackendTLSPolicy: TLS between a gateway and a backend, and the roots that the gateway trusts.

import type { Obj } from '../../model/object.ts';
import type { BackendTLSPolicySpec } from '../../schema/gateway-api-types.gen.ts';
import { each, type Reference } from '../references.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { named, targetReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly BackendTLSPolicy: { readonly spec: BackendTLSPolicySpec; readonly push: 'config' };
  }
}

export const backendTlsPolicy = gatewayKind({
  kind: 'BackendTLSPolicy',
  group: GATEWAY_API,
  versions: ['v1', 'v1alpha3'],
  push: 'config',
  references: backendTlsPolicyReferences,
});

function backendTlsPolicyReferences(obj: Obj<'BackendTLSPolicy'>): readonly Reference[] {
  const { caCertificateRefs } = obj.spec.validation;
  return [
    ...targetReferences(obj),
    ...each('spec.validation.caCertificateRefs', caCertificateRefs, named(obj.namespace)),
  ];
}
