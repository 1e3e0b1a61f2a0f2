// The one thing that tells an event from the next, as one line: the object, the file, the connection. Of an event as
// it is stored, so that listing a journal parses each event once and unseals none.

import { isObject, type JsonObject } from '../core/base/json.ts';
import { managerOf } from './last-change.ts';

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
  const parts = [body.connection, body.typeUrl, body.digest, body.name, body.reason, body.message];
  if (Array.isArray(body.connections)) parts.unshift(`${body.connections.length} proxies at ${String(body.stateSeq)}`);
  return parts
    .filter(part => typeof part === 'string')
    .map(part => part.replace('type.googleapis.com/', '').slice(0, TEXT_MAX))
    .join(' ');
}
