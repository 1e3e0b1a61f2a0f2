// Metadata: the part that is kept, and the part that an object needs for a place in a table.
//
// Names and namespaces become parts of keys and of resource names, so they are held to Kubernetes' syntax here, once.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { keysOf, objectOf, sortedKeysOf } from '../base/keys.ts';
import { type Problem, problem } from '../base/problem.ts';
import { parseTimestamp } from '../base/time.ts';
import type { RawObject } from '../event.ts';
import type { Obj } from '../model/object.ts';
import { makeDecoder } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import type { KeepMeta, KindDefinition } from './definition.ts';
import { shapeProblem } from './limits.ts';
import { checked, quoted, type Report } from './report.ts';
import {
  checkAnnotationKey,
  checkLabels,
  isAnnotationKey,
  isLabelKey,
  isLabelValue,
  LABELS_MAX,
} from './validate/labels.ts';
import { isDns1123Label, isDns1123Subdomain, NAME_LENGTH_MAX, NAMESPACE_LENGTH_MAX } from './validate/names.ts';

/** The members of `Obj` that come from an object's metadata. */
export type ObjectMeta = Pick<
  Obj,
  'namespace' | 'name' | 'labels' | 'annotations' | 'creationTime' | 'resourceVersion' | 'uid' | 'generation'
>;

interface DecodedMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: Json;
  readonly resourceVersion?: Json;
  readonly uid?: Json;
  readonly generation?: Json;
}

const schema: Schema = {
  messages: {
    ObjectMeta: [
      { name: 'name', type: 'string' },
      { name: 'namespace', type: 'string' },
      { name: 'labels', type: 'string', map: 'string' },
      { name: 'annotations', type: 'string', map: 'string' },
      { name: 'creationTimestamp', type: 'value' },
      { name: 'resourceVersion', type: 'value' },
      { name: 'uid', type: 'value' },
      { name: 'generation', type: 'value' },
    ],
  },
  enums: {},
};
const decodeObjectMeta = makeDecoder<{ readonly ObjectMeta: DecodedMeta }>(schema);

/** The namespace of an object that names none, as kubectl has it. */
export const DEFAULT_NAMESPACE = 'default';

/**
 * The metadata of an object, or all that is wrong with it. Total for any JSON. Reads only the projection of the kind
 * and whether the whole is within the limits, so two such versions that differ elsewhere have equal metadata.
 */
export function decodeMeta(raw: RawObject, kind: MetaRules): Either<NonEmptyArray<Problem>, ObjectMeta> {
  const shape = shapeProblem(raw);
  if (shape !== undefined) return left([shape]);
  const keep = keptMembers(kind.keepMeta, raw);
  const sound = soundMeta(raw.metadata, kind, keep);
  return sound === undefined ? examineMeta(raw.metadata, kind, keep) : right(sound);
}

/** The further members of metadata that matter for the object. */
export function keptMembers(keepMeta: KeepMeta | undefined, raw: RawObject): readonly string[] {
  return typeof keepMeta === 'function' ? keepMeta(raw) : (keepMeta ?? []);
}

/**
 * The name of an object whose metadata is wrong elsewhere, say in a label; undefined if the name is wrong too, or the
 * object exceeds the limits.
 */
export function soundName(
  raw: RawObject,
  { clusterScoped }: MetaRules,
): Pick<ObjectMeta, 'namespace' | 'name'> | undefined {
  if (shapeProblem(raw) !== undefined || !isObject(raw.metadata)) return undefined;
  const { name, namespace } = raw.metadata;
  if (typeof name !== 'string' || !isDns1123Subdomain(name)) return undefined;
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') return undefined;
  const owner = namespaceOf(namespace ?? undefined, clusterScoped);
  return owner !== '' && !isDns1123Label(owner) ? undefined : { namespace: owner, name };
}

type MetaRules = Pick<KindDefinition, 'clusterScoped' | 'keepMeta'>;

const NOTHING: Readonly<Record<string, string>> = {};

/**
 * The metadata of a sound object, straight away; undefined when there is more to say. Its results are a subset of
 * examineMeta's.
 */
function soundMeta(
  metadata: Json | undefined,
  { clusterScoped }: MetaRules,
  keep: readonly string[],
): ObjectMeta | undefined {
  if (!isObject(metadata)) return undefined;
  const { name, namespace, creationTimestamp, resourceVersion, uid, generation } = metadata;
  if (typeof name !== 'string' || !isDns1123Subdomain(name)) return undefined;
  if (namespace !== undefined && typeof namespace !== 'string') return undefined;
  const owner = namespaceOf(namespace, clusterScoped);
  if (owner !== '' && !isDns1123Label(owner)) return undefined;
  const labels = soundTexts(metadata.labels, isLabel, LABELS_MAX);
  if (labels === undefined) return undefined;
  const annotations = soundTexts(keptAnnotations(metadata.annotations, keep), isAnnotationKey);
  if (annotations === undefined) return undefined;
  return {
    namespace: owner,
    name,
    labels,
    annotations,
    creationTime: typeof creationTimestamp === 'string' ? (parseTimestamp(creationTimestamp) ?? 0) : 0,
    resourceVersion: typeof resourceVersion === 'string' && keep.includes('resourceVersion') ? resourceVersion : '',
    uid: typeof uid === 'string' && keep.includes('uid') ? uid : '',
    ...(typeof generation === 'number' && keep.includes('generation') ? { generation } : {}),
  };
}

function isLabel(key: string, value: string): boolean {
  return isLabelKey(key) && isLabelValue(value);
}

/** Sound labels or annotations, sorted by key; the very object if it is. */
function soundTexts(
  texts: Json | undefined,
  isSound: (key: string, value: string) => boolean,
  max = Number.POSITIVE_INFINITY,
): Readonly<Record<string, string>> | undefined {
  if (texts === undefined) return NOTHING;
  if (!isObject(texts)) return undefined;
  const keys = keysOf(texts);
  if (keys.length > max) return undefined;
  let sorted = true;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = texts[key];
    if (typeof value !== 'string' || !isSound(key, value)) return undefined;
    if (i > 0 && keys[i - 1]! > key) sorted = false;
  }
  if (sorted) return texts as Readonly<Record<string, string>>;
  return objectOf(sortedKeysOf(texts), key => texts[key] as string);
}

function examineMeta(
  given: Json | undefined,
  kind: MetaRules,
  keep: readonly string[],
): Either<NonEmptyArray<Problem>, ObjectMeta> {
  const metadata = projectMeta(given, keep);
  if (!isObject(metadata)) return left([problem('metadata', 'is missing; expected an object with a name')]);
  const decoded = decodeObjectMeta('ObjectMeta', metadata, 'metadata', { ignoreUnknown: true });
  if (isLeft(decoded)) return decoded;
  const meta = decoded.right;
  const value: ObjectMeta = {
    namespace: namespaceOf(meta.namespace, kind.clusterScoped),
    name: meta.name ?? '',
    labels: meta.labels ?? NOTHING,
    annotations: meta.annotations ?? NOTHING,
    creationTime: typeof meta.creationTimestamp === 'string' ? (parseTimestamp(meta.creationTimestamp) ?? 0) : 0,
    resourceVersion: typeof meta.resourceVersion === 'string' ? meta.resourceVersion : '',
    uid: typeof meta.uid === 'string' ? meta.uid : '',
    ...(typeof meta.generation === 'number' ? { generation: meta.generation } : {}),
  };
  return checked(value, checkMeta);
}

export function namespaceOf(namespace: string | undefined, clusterScoped: boolean): string {
  if (clusterScoped) return '';
  return namespace === undefined || namespace === '' ? DEFAULT_NAMESPACE : namespace;
}

/** The namespace of a namespaced object whose metadata may be anything. */
export function namespaceOfRaw(raw: RawObject): string {
  const namespace = isObject(raw.metadata) ? raw.metadata.namespace : undefined;
  return namespaceOf(typeof namespace === 'string' ? namespace : undefined, false);
}

function checkMeta(meta: ObjectMeta, report: Report): void {
  if (meta.name === '') report('metadata.name', 'is missing');
  else if (meta.name.length > NAME_LENGTH_MAX) {
    report('metadata.name', `is ${meta.name.length} characters long; at most ${NAME_LENGTH_MAX} are allowed`);
  } else if (!isDns1123Subdomain(meta.name)) {
    report('metadata.name', `${quoted(meta.name)} is not a name: expected lower case letters, digits, "-" and "."`);
  }
  if (meta.namespace !== '' && !isDns1123Label(meta.namespace)) {
    const expected = `expected at most ${NAMESPACE_LENGTH_MAX} lower case letters, digits and "-"`;
    report('metadata.namespace', `${quoted(meta.namespace)} is not a namespace: ${expected}`);
  }
  checkLabels(meta.labels, 'metadata.labels', report);
  for (const key of keysOf(meta.annotations)) checkAnnotationKey(key, 'metadata.annotations', report);
}

/**
 * The metadata that counts as a change: identity, labels, age, and of the annotations those of Istio and the Gateway
 * API. `keep` names further members that matter for the kind.
 */
export function projectMeta(metadata: Json | undefined, keep: readonly string[] = []): Json | undefined {
  if (!isObject(metadata)) return metadata;
  const kept: { [key: string]: Json | undefined } = {};
  for (const key of ['name', 'namespace', 'labels', 'creationTimestamp', ...keep]) {
    if (metadata[key] !== undefined) kept[key] = metadata[key];
  }
  const annotations = keptAnnotations(metadata.annotations, keep);
  if (annotations !== undefined) kept.annotations = annotations;
  return kept;
}

/** Undefined: none that matters. */
function keptAnnotations(annotations: Json | undefined, keep: readonly string[]): Json | undefined {
  if (!isObject(annotations)) return annotations;
  return keep.includes('annotations') ? withoutLastApplied(annotations) : projectAnnotations(annotations);
}

/** Of a kind whose annotations go elsewhere, all but kubectl's own copy of the object. */
function withoutLastApplied(annotations: JsonObject): JsonObject {
  if (!Object.hasOwn(annotations, LAST_APPLIED)) return annotations;
  const { [LAST_APPLIED]: _, ...rest } = annotations;
  return rest;
}

/** The very object if all matter. */
function projectAnnotations(annotations: JsonObject): JsonObject | undefined {
  const keys = keysOf(annotations);
  const meaningful = keys.filter(isMeaningful);
  if (meaningful.length === 0) return undefined;
  if (meaningful.length === keys.length) return annotations;
  return Object.fromEntries(meaningful.map(key => [key, annotations[key]]));
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const MEANINGFUL =
  /istio\.io\/|openshift\.io\/sa\.scc\.|gateway\.networking\.k8s\.io\/|kubernetes\.io\/ingress\.class|ingressclass\.kubernetes\.io\//;

function isMeaningful(annotation: string): boolean {
  return MEANINGFUL.test(annotation);
}
