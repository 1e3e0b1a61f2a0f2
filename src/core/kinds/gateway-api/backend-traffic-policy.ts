// XBackendTrafficPolicy: retry budget and session persistence of a backend (experimental).

import type { XBackendTrafficPolicySpec } from '../../schema/gateway-api-types.gen.ts';
import { gatewayKind } from './gateway-kind.ts';
import { targetReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly XBackendTrafficPolicy: { readonly spec: XBackendTrafficPolicySpec; readonly push: 'config' };
  }
}

export const backendTrafficPolicy = gatewayKind({
  kind: 'XBackendTrafficPolicy',
  group: 'gateway.networking.x-k8s.io',
  versions: ['v1alpha1'],
  push: 'config',
  references: targetReferences,
});
