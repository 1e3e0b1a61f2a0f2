// Adds a version to a source's record of an object: accepted, refused beside the accepted one, or dropped if it has no
// valid name.
//
// A verdict depends on the version alone, never on earlier ones; the record keeps the old accepted object when the new
// one is equal.

import { isLeft } from 'fp-ts/lib/Either.js';
import { canonicalJson, isObject, jsonEqual } from '../base/json.ts';
import { discreet, type Origin, type Problem, problem } from '../base/problem.ts';
import { atOnce, type Steps } from '../base/steps.ts';
import type { ObjectRef, RawObject } from '../event.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { isLongerThan } from '../kinds/limits.ts';
import { decodeMeta, namespaceOf, type ObjectMeta, soundName } from '../kinds/meta.ts';
import { definitionOf } from '../kinds/registry.ts';
import { configKey, kubernetesKey, type Obj, type ObjectRecord } from '../model/object.ts';

/** An object as a source gave it, at a seq. Its event has the same members, so an event fits here. */
export interface Version {
  readonly source: string;
  readonly object: RawObject;
  readonly origin?: Origin | undefined;
  readonly seq: number;
}

/** A version not yet examined: `object` and `origin` are parsed on first use. */
export interface UnreadVersion extends Version {
  readonly kind: 'Unread';
  readonly time: number;
  /** The identity in `object` itself; the namespace is empty if absent. */
  readonly ref: ObjectRef;
}

interface Refused {
  readonly outcome: 'refused';
  readonly key: string;
  readonly problems: readonly Problem[];
}
export type Judged =
  | { readonly outcome: 'unnamed'; readonly problems: readonly Problem[] }
  | Refused
  | { readonly outcome: 'accepted'; readonly key: string; readonly object: Obj };
export type JudgedNamed = Exclude<Judged, { readonly outcome: 'unnamed' }>;

export interface DecodedRecord {
  readonly record: ObjectRecord;
  readonly definition: KindDefinition;
  readonly before: ObjectRecord | undefined;
}
interface Undecodable {
  readonly object: string;
  readonly problems: readonly Problem[];
}

/** `known`: by record key. */
export function decodeRecord(
  known: (key: string) => ObjectRecord | undefined,
  version: Version,
): DecodedRecord | Undecodable {
  const { object: raw, source } = version;
  if (!isObject(raw))
    return { object: 'object', problems: [problem('', 'expected an object with apiVersion and kind')] };
  const definition = definitionOf(raw.apiVersion, raw.kind);
  if (definition === undefined) return unknownKind(raw);
  const judged = judge(definition, version);
  if (judged.outcome === 'unnamed') return { object: definition.kind, problems: judged.problems };
  const before = known(recordKey(definition.kind, judged.key, source));
  return { record: recordAfter(before, definition, version, judged), definition, before };
}

/** The verdict on a version of a kind. What it says of a Secret quotes no value of it. */
export function judge(definition: KindDefinition, version: Version): Judged {
  return judgedAhead.get(version) ?? atOnce(judging(definition, version));
}

/** Verdicts on large versions, which were made in steps. */
const judgedAhead = new WeakMap<Version, Judged>();
/** Characters of an object whose verdict takes some milliseconds. */
const LARGE_CHARS = 64 * 1024;

/** Judges a large version in steps; `judge` then has its verdict at once. */
export function* judgeAhead(version: Version): Steps<void> {
  const { object: raw } = version;
  if (!isObject(raw)) return;
  const definition = definitionOf(raw.apiVersion, raw.kind);
  if (definition === undefined || !isLongerThan(raw, LARGE_CHARS)) return;
  yield;
  const judged = yield* judging(definition, version);
  judgedAhead.set(version, judged);
  yield;
}

function* judging(definition: KindDefinition, version: Version): Steps<Judged> {
  const judged = yield* verdictOn(definition, version);
  const isPrivate = definition.kind === 'Secret' && judged.outcome !== 'accepted';
  return isPrivate ? { ...judged, problems: judged.problems.map(discreet) } : judged;
}

function* verdictOn(definition: KindDefinition, { source, object: raw }: Version): Steps<Judged> {
  const meta = decodeMeta(raw, definition);
  const cluster = clusterOf(source);
  if (isLeft(meta)) {
    const named = soundName(raw, definition);
    if (named === undefined) return { outcome: 'unnamed', problems: meta.left };
    yield;
    const decoded = yield* definition.decoding(raw);
    const problems = isLeft(decoded) ? [...meta.left, ...decoded.left] : meta.left;
    return { outcome: 'refused', key: keyFor(definition, cluster, named.namespace, named.name), problems };
  }
  const key = keyFor(definition, cluster, meta.right.namespace, meta.right.name);
  yield;
  const decoded = yield* definition.decoding(raw);
  if (isLeft(decoded)) return { outcome: 'refused', key, problems: decoded.left };
  return { outcome: 'accepted', key, object: makeObject(definition, cluster, meta.right, decoded.right) };
}

export function recordAfter(
  before: ObjectRecord | undefined,
  definition: KindDefinition,
  version: Version,
  judged: JudgedNamed,
): ObjectRecord {
  if (judged.outcome === 'refused') return refusedAfter(before, definition, version, judged);
  const { kind } = definition;
  const { source, object: raw, origin, seq: at } = version;
  const { key } = judged;
  const accepted = sameObject(before?.accepted, judged.object);
  if (before === undefined || accepted !== before.accepted) {
    return { source, kind, key, accepted, raw, acceptedAt: at, origin };
  }
  const same = { source, kind, key, accepted, raw, acceptedAt: before.acceptedAt, origin };
  const writtenAt = jsonEqual(raw, before.raw ?? null) ? before.writtenAt : at;
  return writtenAt === undefined ? same : { ...same, writtenAt };
}

/** A refused version beside the accepted one; without an accepted one, the substitute of the kind. */
export function refusedAfter(
  before: ObjectRecord | undefined,
  definition: KindDefinition,
  version: Version,
  { key, problems }: Refused,
): ObjectRecord {
  const { source, object: raw, origin, seq: at } = version;
  const refused = { at, raw, problems, origin };
  if (before?.accepted !== undefined) return { ...before, refused };
  const record = { source, kind: definition.kind, key, acceptedAt: 0, refused };
  const made = standInOf(definition, version);
  if (made === undefined) return record;
  return { ...record, standIn: sameObject(before?.standIn, made) };
}

/** Metadata that is itself refused counts as far as the name. */
function standInOf(definition: KindDefinition, { source, object: raw }: Version): Obj | undefined {
  const spec = definition.standIn?.specOf(raw);
  const named = spec === undefined ? undefined : soundName(raw, definition);
  if (spec === undefined || named === undefined) return undefined;
  const meta = decodeMeta(raw, definition);
  const nothing = { labels: {}, annotations: {}, creationTime: 0, resourceVersion: '', uid: '' };
  return makeObject(definition, clusterOf(source), isLeft(meta) ? { ...nothing, ...named } : meta.right, spec);
}

/**
 * `namespace/name` of a version of a kind that has a name, without judging it; undefined if it cannot have one. The
 * verdict has either no name or this one.
 */
export function presumedName({ clusterScoped }: KindDefinition, { object }: Version): string | undefined {
  const { metadata } = object;
  if (!isObject(metadata)) return undefined;
  const { name, namespace } = metadata;
  if (typeof name !== 'string') return undefined;
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') return undefined;
  return `${namespaceOf(namespace ?? undefined, clusterScoped)}/${name}`;
}

/** As in `State.records`. */
export function recordKey(kind: string, key: string, source: string): string {
  return `${kind}|${key}|${source}`;
}

/** The table key of an object. */
export function keyFor(definition: KindDefinition, cluster: string, namespace: string, name: string): string {
  return definition.store === 'config' ? configKey(namespace, name) : kubernetesKey(cluster, namespace, name);
}

/** The part after the first slash of a source, e.g. `Kubernetes` of `file/Kubernetes`. */
export function clusterOf(source: string): string {
  const slash = source.indexOf('/');
  return slash < 0 ? '' : source.slice(slash + 1);
}

function makeObject(definition: KindDefinition, cluster: string, meta: ObjectMeta, spec: Obj['spec']): Obj {
  return { kind: definition.kind, cluster, ...meta, spec };
}

/** Identity is version: the old record when the new one is equal. */
function sameObject(old: Obj | undefined, now: Obj): Obj {
  return old !== undefined && sameObjects(old, now) ? old : now;
}

export function sameObjects(a: Obj, b: Obj): boolean {
  return jsonEqual(a as never, b as never);
}

function unknownKind(raw: RawObject): Undecodable {
  // Either may be anything, even an object that cannot be made a text.
  const object = [raw.apiVersion, raw.kind]
    .map(part => (typeof part === 'string' ? part : canonicalJson(part ?? null)))
    .join(' ');
  return { object, problems: [problem('', `${object} is not a kind that Periplus knows; the object is ignored`)] };
}
