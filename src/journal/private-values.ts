// Which values of a fact are private, and where they stand. One walk serves sealing, unsealing and redacting, so that
// the three can never disagree about a place.
//
// Private are, in any object of kind Secret at any depth: the members of `data` and `stringData`, members that a Secret
// does not have (`Data`, say), annotations that may quote the whole object (kubectl's last-applied-configuration and
// its many cousins), and what managed fields quote; and whatever the caller marks. A plain string that already looks
// sealed is treated as private too: so in stored form every string with the prefix is ours, and unsealing needs no
// guess.

import type { Json, JsonObject } from '../core/base/json.ts';
import { isObject } from '../core/base/json.ts';
import { listKeys } from '../core/base/keys.ts';
import { JournalFault } from './fault.ts';

export const SEALED_PREFIX = 'sealed:v1:';

/** An annotation of a Secret up to this length and without a brace cannot quote an object worth hiding. */
export const PLAIN_ANNOTATION_CHARS_MAX = 128;

/**
 * `data`, `stringData`, `annotations` and `managedFields` of a Secret with more members are sealed as one value each:
 * sealing each member of a Secret of a megabyte takes a second. Both forms are opened, so this may change.
 */
export const SEALED_APART_MAX = 1_024;

/** What a Secret is made of: whatever else stands in one may be a value under a wrong name. */
const MEMBERS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'type',
  'immutable',
  'data',
  'stringData',
]);

/**
 * Members by which a Secret is recognised and its values are bound to it: sealing them would hide who they belong to.
 */
const NEVER_PRIVATE = new Set(['apiVersion', 'kind', 'name', 'namespace']);

/** A path inside a fact, e.g. `['value', 'token']`. */
export type MarkedPath = readonly string[];

/**
 * Called with each private value, and with every other string that has the prefix. `place` names the value within its
 * object; it is the same before and after sealing.
 */
export type Replace = (value: Json, place: string) => Json;

interface Spot {
  readonly path: string;
  readonly place: string;
}

/**
 * A copy with the private values replaced. `__proto__` and other odd keys stay ordinary members. `apartMax`: for
 * sealing, members of one part of a Secret that are replaced one by one; if there are more, the part is.
 */
export function mapPrivate(
  root: JsonObject,
  marked: readonly MarkedPath[],
  replace: Replace,
  apartMax = Number.POSITIVE_INFINITY,
): JsonObject {
  const marks = new Set(marked.map(markKey));
  const isTogether = (part: JsonObject | readonly Json[]): boolean =>
    apartMax !== Number.POSITIVE_INFINITY && sizeOf(part) > apartMax;
  const visit = (value: Json, spot: Spot): Json => {
    if (typeof value === 'string') return value.startsWith(SEALED_PREFIX) ? replace(value, spot.place) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: Json, index) => member(item, spot, String(index), false));
    return object(value as JsonObject, spot);
  };
  const member = (value: Json, spot: Spot, key: string, isPrivate: boolean): Json => {
    const below = step(spot, key);
    return isPrivate || marks.has(below.path) ? replace(value, below.place) : visit(value, below);
  };
  const object = (value: JsonObject, spot: Spot): JsonObject => {
    if (isSecret(value)) return secret(value, { path: spot.path, place: secretPlace(value) });
    return mapMembers(value, (item, key) => member(item, spot, key, false));
  };
  const secret = (value: JsonObject, spot: Spot): JsonObject =>
    mapMembers(value, (item, key) => {
      if (key === 'metadata' && isObject(item)) return metadata(item, step(spot, key));
      if (key !== 'data' && key !== 'stringData') {
        const known = MEMBERS.has(key) || (isReference(value) && NEVER_PRIVATE.has(key));
        return member(item, spot, key, value.kind === 'Secret' && !known && item !== null);
      }
      const below = step(spot, key);
      if (!isObject(item) || isTogether(item)) return item === null ? null : replace(item, below.place);
      return mapMembers(item, (inner, name) => member(inner, below, name, true));
    });
  const metadata = (value: JsonObject, spot: Spot): JsonObject =>
    mapMembers(value, (item, key) => {
      const below = step(spot, key);
      if (key === 'managedFields' && Array.isArray(item)) {
        if (isTogether(item)) return replace(item, below.place);
        return item.map((entry, i) => managed(entry, below, `${i}`));
      }
      if (key !== 'annotations' || !isObject(item)) return member(item, spot, key, false);
      if (isTogether(item)) return replace(item, below.place);
      return mapMembers(item, (text, name) => member(text, below, name, !isPlainAnnotation(text)));
    });
  const managed = (entry: Json, list: Spot, index: string): Json => {
    const spot = step(list, index);
    if (!isObject(entry)) return member(entry, list, index, false);
    return mapMembers(entry, (item, key) => member(item, spot, key, key === 'fieldsV1'));
  };
  return object(root, { path: '', place: '' });
}

function sizeOf(part: JsonObject | readonly Json[]): number {
  return Array.isArray(part) ? part.length : listKeys(part).length;
}

export function isSecret(value: JsonObject): boolean {
  return value.kind === 'Secret' || value.kind === 'JwksDocument';
}

/** The reference of a Delete names an object and holds nothing of it. */
function isReference(value: JsonObject): boolean {
  return value.metadata === undefined;
}

function isPlainAnnotation(text: Json): boolean {
  return typeof text === 'string' && text.length <= PLAIN_ANNOTATION_CHARS_MAX && !text.includes('{');
}

function mapMembers(value: JsonObject, map: (item: Json, key: string) => Json): JsonObject {
  const members: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item !== undefined) members.push([key, map(item, key)]);
  }
  return Object.fromEntries(members);
}

/**
 * Binds the values of a Secret to its name. A name that looks sealed is replaced by the walk, so it cannot be part of
 * the place.
 */
function secretPlace(secret: JsonObject): string {
  const metadata = isObject(secret.metadata) ? secret.metadata : {};
  const part = (value: Json | undefined) =>
    typeof value === 'string' && !value.startsWith(SEALED_PREFIX) ? escapeKey(value) : '';
  return `Secret/${part(metadata.namespace)}/${part(metadata.name)}:`;
}

function step(spot: Spot, key: string): Spot {
  const part = `/${escapeKey(key)}`;
  return { path: spot.path + part, place: spot.place + part };
}

/** As in JSON Pointer (RFC 6901 §3). */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function markKey(path: MarkedPath): string {
  const last = path.at(-1);
  if (last === undefined || NEVER_PRIVATE.has(last)) {
    throw new JournalFault('unfit-fact', `a path marked as private must not end in "${last ?? ''}"`);
  }
  return path.map(key => `/${escapeKey(key)}`).join('');
}
