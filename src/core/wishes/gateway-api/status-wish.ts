// A wish for the status of an object of the Gateway API: by whom it is written, and of which generation it is. Gateways
// of another revision get none: that control plane writes it.
// Source: Istio pilot/pkg/status, pilot/pkg/config/kube/gateway/controller.go.

import type { JsonObject } from '../../base/json.ts';
import type { KindName } from '../../model/kind.ts';
import type { Obj } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import { oneOf } from '../../translate/derived.ts';
import type { StatusRule } from '../status.ts';
import { MANAGER, type Wish } from '../wish.ts';
import { isOurs } from './ours.ts';

const ELECTION = 'istio-gateway-status-leader';

/** Undefined: no status is written for the object. */
export function statusWish(reader: Reader, obj: Obj, status: JsonObject, statusRule: StatusRule): Wish | undefined {
  if (!writesStatuses(reader) || !isOurs(reader, obj)) return undefined;
  const { kind, namespace, name, generation } = obj;
  return oneOf<Wish>(reader, {
    cluster: reader.setting('clusterId'),
    kind: kind as KindName,
    namespace,
    name,
    subresource: 'status',
    manager: MANAGER,
    fields: { status },
    verb: 'merge',
    gate: ELECTION,
    statusRule,
    ...(generation ? { precondition: { generation } } : {}),
  });
}

export function writesStatuses(reader: Reader): boolean {
  return reader.feature('PILOT_ENABLE_GATEWAY_API') && reader.feature('PILOT_ENABLE_GATEWAY_API_STATUS');
}
