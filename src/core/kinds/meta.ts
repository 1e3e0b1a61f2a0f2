// Metadata: what is kept of it, and what an object must have to have a place in a table at all.
//
// Names and namespaces become parts of keys and of resource names, so they are held to Kubernetes' syntax here, once.

import { type Either, isLeft, left } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import type { RawObject } from '../event.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { type Problem, problem } from '../problem.ts';
import { makeDecoder } from '../schema/decode.ts';
import type { Schema } from '../schema/schema.ts';
import { shapeProblem } from './limits.ts';
import { checked, quoted, type Report } from './report.ts';
import { parseTimestamp } from './time.ts';
import { checkAnnotationKey, checkLabels } from './validate/labels.ts';
import { isDns1123Label, isDns1123Subdomain, NAME_LENGTH_MAX, NAMESPACE_LENGTH_MAX } from './validate/names.ts';

export interface ObjectMeta {
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; 0 if missing or unparsable. */
  readonly creationTime: number;
  readonly resourceVersion: string;
  readonly uid: string;
}

interface DecodedMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: Json;
  readonly resourceVersion?: Json;
  readonly uid?: Json;
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
    ],
  },
  enums: {},
};
const decodeObjectMeta = makeDecoder<{ readonly ObjectMeta: DecodedMeta }>(schema);

/** The namespace of an object that names none, as kubectl has it. */
export const DEFAULT_NAMESPACE = 'default';

/**
 * The metadata of an object, or all that is wrong with it. Total for any JSON. Only what the projection of its kind keeps is looked at,
 * so that two versions which differ elsewhere have equal metadata.
 */
export function decodeMeta(
  raw: RawObject,
  kind: { readonly clusterScoped: boolean; readonly project: (raw: RawObject) => JsonObject },
): Either<NonEmptyArray<Problem>, ObjectMeta> {
  const { clusterScoped } = kind;
  const shape = shapeProblem(raw);
  if (shape !== undefined) return left([shape]);
  const { apiVersion, kind: kindName } = raw;
  const { metadata } = kind.project({ apiVersion, kind: kindName, metadata: raw.metadata });
  if (!isObject(metadata)) return left([problem('metadata', 'is missing; expected an object with a name')]);
  const decoded = decodeObjectMeta('ObjectMeta', metadata, 'metadata', { ignoreUnknown: true });
  if (isLeft(decoded)) return decoded;
  const meta = decoded.right;
  const value: ObjectMeta = {
    namespace: namespaceOf(meta.namespace, clusterScoped),
    name: meta.name ?? '',
    labels: meta.labels ?? {},
    annotations: meta.annotations ?? {},
    creationTime: typeof meta.creationTimestamp === 'string' ? (parseTimestamp(meta.creationTimestamp) ?? 0) : 0,
    resourceVersion: typeof meta.resourceVersion === 'string' ? meta.resourceVersion : '',
    uid: typeof meta.uid === 'string' ? meta.uid : '',
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
  for (const key of Object.keys(meta.annotations)) checkAnnotationKey(key, 'metadata.annotations', report);
}

/**
 * The metadata that counts as a change: identity, labels, age, and of the annotations those of Istio and the Gateway API.
 * `keep` names further members that matter for the kind.
 */
export function projectMeta(metadata: Json | undefined, keep: readonly string[] = []): Json | undefined {
  if (!isObject(metadata)) return metadata;
  const kept: { [key: string]: Json | undefined } = {};
  for (const key of ['name', 'namespace', 'labels', 'creationTimestamp', ...keep]) {
    if (metadata[key] !== undefined) kept[key] = metadata[key];
  }
  const annotations = projectAnnotations(metadata.annotations);
  if (annotations !== undefined) kept.annotations = annotations;
  return kept;
}

function projectAnnotations(annotations: Json | undefined): Json | undefined {
  if (!isObject(annotations)) return annotations;
  const kept = Object.entries(annotations).filter(([key]) => isMeaningful(key));
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as JsonObject);
}

const MEANINGFUL: readonly string[] = [
  'istio.io/',
  'gateway.networking.k8s.io/',
  'kubernetes.io/ingress.class',
  'ingressclass.kubernetes.io/',
];

function isMeaningful(annotation: string): boolean {
  return MEANINGFUL.some(part => annotation.includes(part));
}
