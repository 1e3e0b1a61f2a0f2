// The cases: for every kind and every field that may grow one object in which it has grown, with valid elements and with
// wrong ones; a field with a limit also as many objects at that limit; two lists of one object that grow together; and
// each kind as many small objects. Each case is made at any size in bytes.

import { isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import type { Constraint } from '../../src/core/schema/constraints.ts';
import { type Field, fieldsOf, pathText } from './fields.ts';
import { type Growing, grown, type Sort } from './grow.ts';
import { constraintOf, type KindCase, kindCases } from './kinds.ts';
import { fillObject, spoilt } from './template.ts';

export type Variant = Sort | 'at-limit' | 'equal-names' | 'one-host' | 'deep';

export interface TurnCase {
  readonly id: string;
  readonly kind: string;
  /** `spec.http[].match[]`; two of them with `+` between; `*`: many small objects. */
  readonly field: string;
  readonly variant: Variant;
  /** What is tried first is what is likeliest to be met: lists and maps, then wrong ones, pairs, texts, metadata. */
  readonly rank: number;
  /** As JSON they have about `bytes`. */
  readonly objects: (bytes: number) => readonly JsonObject[];
}

/** A Kubernetes object has at most 1.5 MiB, a file 4 MiB. */
export const OBJECT_BYTES = 1_400_000;
export const FILE_BYTES = 4_000_000;
const LIMIT_MAX = 4_096;
const SAMPLE = 64;
const NAMESPACE = 'a';
const SORTS: readonly Sort[] = ['valid', 'wrong-type', 'wrong-value'];

const METADATA: Constraint = {
  type: 'object',
  properties: {
    labels: { type: 'object', values: { type: 'string' } },
    annotations: { type: 'object', values: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' } },
    ownerReferences: { type: 'array', items: { type: 'object', required: ['apiVersion', 'kind', 'name', 'uid'] } },
    managedFields: { type: 'array', items: { type: 'object', required: ['manager'] } },
  },
};
const METADATA_ELEMENTS = {
  'labels{}': 'example.com/k%',
  labels: 'v',
  'annotations{}': 'k%.istio.io/x',
  annotations: 'v',
  finalizers: 'example.com/f%',
  ownerReferences: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x%', uid: 'u%', controller: false },
  managedFields: { manager: 'm%', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:x': {} } },
};
const CONDITIONS: Constraint = {
  type: 'object',
  properties: { conditions: { type: 'array', items: { type: 'object', required: ['type'] } } },
};

export function allCases(): readonly TurnCase[] {
  return kindCases.flatMap(casesOf);
}

export function casesOf(from: KindCase): readonly TurnCase[] {
  const fields = fieldsOf(constraintOf(from), []);
  const many = fields.filter(({ grows }) => grows === 'list' || grows === 'map');
  return [
    ...wholes(from),
    ...fields.flatMap(field => fieldCases(from, field)),
    ...many.flatMap(field => limitCases(from, field)),
    ...pairs(from, many),
    ...metadataCases(from),
    deepCase(from),
  ].map(one => ({ ...one, id: `${one.kind}/${one.field}/${one.variant}` }));
}

type Unnamed = Omit<TurnCase, 'id'>;

function wholes(from: KindCase): readonly Unnamed[] {
  const { kind } = from;
  const many = (variant: Variant, of: (i: number) => JsonObject): Unnamed => ({
    kind,
    field: '*',
    variant,
    rank: variant === 'valid' ? 0 : 2,
    objects: bytes => Array.from({ length: countFor(bytes, of) }, (_, i) => of(i)),
  });
  const body = (i: number): JsonObject => fillObject(from.object, i);
  const spoiltBody = (how: 'type' | 'value', i: number): JsonObject => {
    const { apiVersion, kind: objectKind, ...members } = from.object;
    return { apiVersion, kind: objectKind, ...(fillObject(spoilt(members, how) as JsonObject, i) as JsonObject) };
  };
  return [
    many('valid', i => named(from, body(i), i)),
    many('wrong-type', i => named(from, spoiltBody('type', i), i)),
    many('wrong-value', i => named(from, spoiltBody('value', i), i)),
    many('equal-names', i => named(from, body(i), 0)),
    many('one-host', i => named(from, body(0), i)),
  ];
}

function fieldCases(from: KindCase, field: Field): readonly Unnamed[] {
  const growing = growingOf(from);
  const isText = field.grows === 'text';
  return SORTS.filter(sort => !isText || sort !== 'wrong-type').map(sort => ({
    kind: from.kind,
    field: pathText(field.path),
    variant: sort,
    rank: isText ? (sort === 'valid' ? 4 : 6) : sort === 'valid' ? 1 : 3,
    objects: bytes =>
      sized(bytes, wanted => {
        const size = sort === 'valid' ? Math.min(wanted, from.most?.[pathText(field.path)] ?? wanted) : wanted;
        return named(from, { ...typeOf(from), ...body(grown(growing, field, sort, size)) }, 0);
      }),
  }));
}

/** Many objects whose field is as large as it may be, where that is far from the size of an object. */
function limitCases(from: KindCase, field: Field): readonly Unnamed[] {
  const limit = field.constraint.maxItems ?? field.constraint.maxProperties ?? Number.POSITIVE_INFINITY;
  if (limit > LIMIT_MAX) return [];
  const growing = growingOf(from);
  const of = (i: number): JsonObject =>
    named(from, { ...typeOf(from), ...body(grown(growing, field, 'valid', limit)) }, i);
  return [
    {
      kind: from.kind,
      field: pathText(field.path),
      variant: 'at-limit',
      rank: 5,
      objects: bytes => Array.from({ length: countFor(bytes, of) }, (_, i) => of(i)),
    },
  ];
}

/** Two lists or maps of one message that grow together: what is made of both may grow with their product. */
function pairs(from: KindCase, fields: readonly Field[]): readonly Unnamed[] {
  const growing = growingOf(from);
  return fields.flatMap((one, i) =>
    fields.slice(i + 1).flatMap(other => {
      const parent = pathText(one.path.slice(0, -1));
      if (one.path.length > 4 || pathText(other.path.slice(0, -1)) !== parent) return [];
      const made = (size: number): Json => {
        const first = grown(growing, one, 'valid', size);
        return grown({ ...growing, example: first }, other, 'valid', size);
      };
      return [
        {
          kind: from.kind,
          field: `${pathText(one.path)}+${pathText(other.path)}`,
          variant: 'valid' as const,
          rank: 3,
          objects: (bytes: number) => sized(bytes, size => named(from, { ...typeOf(from), ...body(made(size)) }, 0)),
        },
      ];
    }),
  );
}

function metadataCases(from: KindCase): readonly Unnamed[] {
  const example: Json = {};
  const parts: readonly (readonly [string, Constraint])[] = [
    ['metadata', METADATA],
    ['status', CONDITIONS],
  ];
  return parts.flatMap(([member, constraint]) =>
    fieldsOf(constraint, []).flatMap((field): readonly Unnamed[] => {
      if (field.grows === 'free' || field.path.length > 2) return [];
      const growing: Growing = {
        constraint,
        example,
        elements: { ...METADATA_ELEMENTS, conditions: { type: 'x%', status: 'True', message: 'm' } },
      };
      if (member === 'status' && from.object.status !== undefined) return [];
      return SORTS.filter(sort => field.grows !== 'text' || sort === 'valid').map(sort => ({
        kind: from.kind,
        field: `${member}.${pathText(field.path)}`,
        variant: sort,
        rank: sort === 'valid' ? 4 : 6,
        objects: bytes =>
          sized(bytes, size => {
            const object = named(from, body(fillObject(from.object, 0)), 0);
            const given = object[member];
            const more = body(grown(growing, field, sort, size));
            return { ...object, [member]: { ...(isObject(given) ? given : {}), ...more } };
          }),
      }));
    }),
  );
}

/** Lists in lists, under a member that no kind has. */
function deepCase(from: KindCase): Unnamed {
  const deep = (size: number): Json => {
    let json: Json = 'x';
    for (let i = 0; i < size; i++) json = [json];
    return json;
  };
  return {
    kind: from.kind,
    field: 'spec.nesting',
    variant: 'deep',
    rank: 5,
    objects: bytes => {
      const object = named(from, fillObject(from.object, 0), 0);
      // As text: what makes JSON of a value is recursive.
      return [{ ...object, nesting: deep(Math.min(bytes, DEEP_MAX)) }];
    },
  };
}
const DEEP_MAX = 5_000;

function growingOf(from: KindCase): Growing {
  const { apiVersion: _, kind: __, ...example } = from.object;
  return {
    constraint: constraintOf(from),
    example,
    ...(from.exclusive === undefined ? {} : { exclusive: from.exclusive }),
    ...(from.elements === undefined ? {} : { elements: from.elements }),
  };
}

function body(json: Json): JsonObject {
  return fillObject(json as JsonObject, 0);
}

function typeOf({ object: { apiVersion, kind } }: KindCase): JsonObject {
  return { apiVersion, kind };
}

function named({ name = 'x%', clusterScoped, labels }: KindCase, object: JsonObject, i: number): JsonObject {
  const { apiVersion, kind, ...members } = object;
  const metadata = {
    ...fillObject({ name: name.includes('%') || i === 0 ? name : `${name}-%` }, i),
    ...(clusterScoped ? {} : { namespace: NAMESPACE }),
    ...(labels === undefined ? {} : { labels }),
  };
  return { apiVersion, kind, metadata, ...members };
}

function countFor(bytes: number, of: (i: number) => JsonObject): number {
  const sample = Array.from({ length: 8 }, (_, i) => JSON.stringify(of(1_000 + i)).length + SEPARATOR);
  const count = Math.round((bytes * sample.length) / sample.reduce((sum, one) => sum + one, 0));
  return Math.min(Math.max(1, count), DOCUMENTS_MAX);
}
const SEPARATOR = 5;
/** A file has at most 10,000 documents. */
const DOCUMENTS_MAX = 9_990;

/** One object of about `bytes`. Elements get longer with their number, so the size is corrected. */
function sized(bytes: number, of: (size: number) => JsonObject): readonly JsonObject[] {
  const length = (size: number): number => JSON.stringify(of(size)).length;
  const [small, large] = [length(SAMPLE), length(2 * SAMPLE)];
  let each = Math.max(0.5, (large - small) / SAMPLE);
  let size = Math.max(1, Math.floor((bytes - small) / each) + SAMPLE);
  for (let i = 0; i < 2; i++) {
    const made = length(size);
    if (Math.abs(made - bytes) < bytes / 50) break;
    each = Math.max(0.5, (made - small) / Math.max(1, size - SAMPLE));
    size = Math.max(1, Math.floor((bytes - small) / each) + SAMPLE);
  }
  return [of(size)];
}
