// Secrets, and ConfigMaps that hold a CA: an incremental push, for only the secrets that proxies fetch are made of them.
// Rules: spec-events-pushes-protocol §2.3 (C8, C9).

import type { Obj } from '../object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';

const IGNORED_TYPES: readonly string[] = ['helm.sh/release.v1', 'kubernetes.io/service-account-token'];
/** Where a CA root may stand. */
const CA_KEYS: readonly string[] = ['ca.crt', 'cacert'];

export function secretHandler(change: Change): PushRequest | undefined {
  const secrets = [change.before, change.after] as readonly (Obj<'Secret'> | undefined)[];
  const counts = secrets.some(secret => secret !== undefined && !IGNORED_TYPES.includes(secret.spec.type));
  return counts ? incremental(change) : undefined;
}

export function configMapHandler(state: State, change: Change): PushRequest | undefined {
  const maps = [change.before, change.after] as readonly (Obj<'ConfigMap'> | undefined)[];
  const holdsCa = maps.some(
    map =>
      map !== undefined &&
      map.cluster === state.settings.clusterId &&
      CA_KEYS.some(key => Object.hasOwn(map.spec.data, key)),
  );
  return holdsCa ? incremental(change) : undefined;
}

function incremental(change: Change): PushRequest | undefined {
  const obj = change.after ?? change.before;
  if (obj === undefined) return undefined;
  return pushRequest(change.seq, 'secret', [`${obj.kind}/${obj.namespace}/${obj.name}`], { full: false });
}
