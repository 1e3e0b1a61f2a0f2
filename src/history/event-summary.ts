// The one thing that tells an event from the next, as one line: the object, the file, the connection. Of an event as
// it is stored, so that listing a journal parses each event once and unseals none.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { rulesOf } from '../xds/session/types.ts';
import { managerOf } from './last-change.ts';
import { refusalReason } from './refusal-reason.ts';

const TEXT_MAX = 80;

export interface StoredBody {
  readonly body: string;
}

/** `Kind namespace/name` of an object's event, else undefined. */
export function objectOfBody(body: JsonObject): string | undefined {
  if (isObject(body.object)) {
    const meta = isObject(body.object.metadata) ? body.object.metadata : {};
    return `${String(body.object.kind)} ${[meta.namespace, meta.name].filter(part => part !== undefined).join('/')}`;
  }
  if (!isObject(body.ref)) return undefined;
  const { kind, namespace, name } = body.ref;
  return `${String(kind)} ${[namespace, name].filter(part => part !== undefined && part !== '').join('/')}`;
}

export function eventSummary(body: JsonObject): string {
  const object = objectOfBody(body);
  if (object !== undefined) {
    const manager = isObject(body.object) ? managerOf(body.object) : '';
    return manager === '' ? object : `${object}, by ${manager}`;
  }
  if (isObject(body.origin)) return String(body.origin.file);
  const type = typeof body.typeUrl === 'string' ? rulesOf(body.typeUrl).short : undefined;
  if (Array.isArray(body.connections)) return receiptSummary(type ?? '', body.connections, body.stateSeq);
  return [body.connection, type, body.digest, body.name, body.reason, messageOf(body)]
    .filter(part => typeof part === 'string')
    .map(part => part.slice(0, TEXT_MAX))
    .join(' ');
}

/** Of a refusal the reason: a line has no room for the resource that Envoy prints before it. */
function messageOf({ message }: JsonObject): Json | undefined {
  return typeof message === 'string' ? refusalReason(message) : undefined;
}

/** `EDS to 3 proxies, of the state at 112`; of one proxy its connection. */
function receiptSummary(type: string, connections: readonly Json[], stateSeq: Json | undefined): string {
  const [first] = connections;
  const whom = connections.length === 1 ? String(first).slice(0, TEXT_MAX) : `${connections.length} proxies`;
  return `${type} to ${whom}, of the state at ${String(stateSeq)}`;
}
