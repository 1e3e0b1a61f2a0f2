// Secrets, and ConfigMaps that hold a CA: an incremental push, because only SDS resources derive from them,
// and the pull secrets of Wasm modules (ECDS).
// Source: Istio pilot/pkg/bootstrap/server.go (initSDSServer).

import { objectName } from '../model/object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import { meshConfigMapName } from '../registry/clusters.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';

const IGNORED_TYPES: readonly string[] = ['helm.sh/release.v1', 'kubernetes.io/service-account-token'];
/** Keys of a ConfigMap that may hold a CA root. */
const CA_KEYS: readonly string[] = ['ca.crt', 'cacert'];

export function secretHandler(change: Change): PushRequest | undefined {
  const counts = versionsOf<'Secret'>(change).some(({ spec }) => !IGNORED_TYPES.includes(spec.type));
  return counts ? incremental(change) : undefined;
}

/** The mesh configuration of a remote cluster names its trust domain, so a change concerns every identity there. */
export function configMapHandler(state: State, change: Change): PushRequest | undefined {
  const { clusterId, systemNamespace, revision } = state.settings;
  const [{ cluster, namespace, name }] = versionsOf(change);
  if (cluster !== clusterId && namespace === systemNamespace && name === meshConfigMapName(revision)) {
    return trustHandler(change);
  }
  const holdsCa = versionsOf<'ConfigMap'>(change).some(
    ({ spec }) => cluster === clusterId && CA_KEYS.some(key => Object.hasOwn(spec.data, key)),
  );
  return holdsCa ? incremental(change) : undefined;
}

/** A proxy's own certificate, or its right to read Secrets: only SDS resources derive from them. */
export function certificateHandler(change: Change): PushRequest {
  return incremental(change);
}

/**
 * Roots of the mesh: agents receive them too, and a stock Envoy takes part in mTLS only if there are any. Rule: Istio
 * trustbundle.go.
 */
export function trustHandler(change: Change): PushRequest {
  return pushRequest(change.seq, 'global', [objectName(versionsOf(change)[0])], { full: true, forced: true });
}

function incremental(change: Change): PushRequest {
  return pushRequest(change.seq, 'secret', [objectName(versionsOf(change)[0])], { full: false });
}
