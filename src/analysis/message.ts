// A message of an analyzer: the mistake, the object, the place in it. Pure data; the commands and the debug page
// print it.
//
// The order and the text are istioctl's: sorted by cluster, level, code, object and text, each text once.
// Source: Istio pkg/config/analysis/diag/message.go, messages.go.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { Origin } from '../core/base/problem.ts';
import { compareText } from '../core/model/object.ts';
import { fullName, type Item } from './objects.ts';

export type Level = 'Error' | 'Warning' | 'Info';
export const LEVELS: readonly Level[] = ['Error', 'Warning', 'Info'];

/** A kind of message and the text of one. */
export interface Wording {
  readonly code: string;
  readonly name: string;
  readonly level: Level;
  readonly text: string;
}

/** Documents that are no objects come last. */
const NO_CLUSTER = '\uffff';

/** The object that a message is about. */
export type Subject = Pick<Item, 'cluster' | 'namespace' | 'name' | 'annotations' | 'raw' | 'source' | 'origin'> & {
  readonly kind: string;
};

export interface Message extends Wording {
  /** Absent for a document that is no object. */
  readonly item?: Subject;
  /** Where a document stands that is no object. */
  readonly origin?: Origin;
  /** Inside the object, e.g. `spec.http[0].timeout`; absent for the whole object. */
  readonly path?: string;
}

/** How an analyzer says something. */
export type Report = (item: Item, wording: Wording, path?: string) => void;

/** `Kind namespace/name`, as istioctl calls an object. */
export function friendlyName({ kind, ...named }: Subject): string {
  return `${kind === 'KubernetesGateway' ? 'Gateway' : kind} ${fullName(named)}`;
}

const DOCUMENTATION = 'https://istio.io/v1.30/docs/reference/config/analysis';

/** Istio's page about a code; ours have none. `from`: who refers to it, for Istio's statistics. */
export function documentationOf(code: string, from = '?ref=istioctl-analyze'): string | undefined {
  return code.startsWith('IST') ? `${DOCUMENTATION}/${code.toLowerCase()}/${from}` : undefined;
}

export function isAtLeast(level: Level, least: Level): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(least);
}

/**
 * Sorted, each text once a place. A place is a line that istioctl knows: that of a scalar; a text about two objects or
 * lists inside an object is one message, as istioctl has it.
 */
export function inOrder(messages: readonly Message[]): readonly Message[] {
  const sorted = [...messages].sort(
    (a, b) =>
      compareText(a.item?.cluster ?? NO_CLUSTER, b.item?.cluster ?? NO_CLUSTER) ||
      LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) ||
      compareText(a.code, b.code) ||
      compareText(comparator(a), comparator(b)) ||
      compareText(a.text, b.text) ||
      compareText(a.path ?? '', b.path ?? ''),
  );
  const said = new Set<string>();
  return sorted.filter(message => {
    const key = identity(message);
    if (said.has(key)) return false;
    said.add(key);
    return true;
  });
}

function comparator({ item }: Message): string {
  return item === undefined ? '' : `${item.kind}/${item.name}/${item.namespace}`;
}

function identity(message: Message): string {
  const { code, text, path = '', item } = message;
  const place = item !== undefined && isScalarAt(item.raw, path) ? path : '';
  const { file, line } = item?.origin ?? message.origin ?? {};
  return [code, item?.cluster, file, line, comparator(message), place, text].join('|');
}

/** Segments of `a.b[0].c[key]`. */
const SEGMENT = /[^.[\]]+|\[([^\]]{0,2048})\]/g;

/** A longer path is of no field. */
const PATH_CHARS_MAX = 2_048;

function isScalarAt(object: JsonObject, path: string): boolean {
  if (path.length > PATH_CHARS_MAX) return false;
  let found: Json | undefined = object;
  for (const [whole, inBrackets] of path.matchAll(SEGMENT)) {
    const key = inBrackets ?? whole;
    if (Array.isArray(found)) found = (found as readonly Json[])[Number(key)];
    else found = isObject(found) ? found[key] : undefined;
  }
  return found !== undefined && typeof found !== 'object';
}
