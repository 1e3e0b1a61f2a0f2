// Small pools of names and values, so that objects of arbitrary worlds collide, refer to each other, and to things that
// do not exist.

import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';

export const NAMESPACES = ['istio-system', 'prod', 'test'] as const;
export const NAMES = ['alpha', 'beta', 'gamma'] as const;
export const PORTS = [
  { name: 'http', port: 80 },
  { name: 'tcp-db', port: 5432 },
  { name: 'grpc', port: 7070 },
  { name: 'plain', port: 9000 },
  { name: 'https', port: 443 },
  { name: 'mongo', port: 27_017 },
] as const;

export type Shape = Arbitrary<JsonObject>;
export type Value = Arbitrary<Json | undefined>;

export const namespace = fc.constantFrom(...NAMESPACES);
export const name = fc.constantFrom(...NAMES);
const serviceHost = fc.tuple(name, namespace).map(([n, ns]) => `${n}.${ns}.svc.cluster.local`);
export const host = fc.oneof(
  { weight: 4, arbitrary: serviceHost },
  { weight: 2, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom('api.example.com', '*.example.com', 'nowhere.example.org') },
);
export const subset = fc.constantFrom('v1', 'v2', 'none');
export const ip = fc.nat({ max: 11 }).map(n => `10.1.0.${n + 1}`);
export const portNumber = fc.constantFrom(...PORTS).map(({ port }) => port);
export const exportTo: Value = fc.constantFrom<Json | undefined>(undefined, undefined, ['.'], ['*'], ['test']);
export const labels: Shape = fc.record({ app: name, version: fc.constantFrom('v1', 'v2') });
export const workloadSelector: Value = fc.constantFrom<Json | undefined>(
  undefined,
  undefined,
  { labels: { app: 'alpha' } },
  { labels: { app: 'beta', version: 'v1' } },
);
export const matchSelector: Value = fc.constantFrom<Json | undefined>(
  undefined,
  undefined,
  { matchLabels: { app: 'alpha' } },
  { matchLabels: { app: 'beta', version: 'v1' } },
);
export const locality = fc.constantFrom('r1/r1-a/rack', 'r1/r1-b', 'r2');
export const duration = fc.constantFrom('0.250s', '1s', '5s', '1m', '0.75h');

/** Each member is there or not. */
export function some(fields: { readonly [field: string]: Value }): Shape {
  return fc.record(fields, { requiredKeys: [] }) as Shape;
}

/** Every member is there. */
export function all(fields: { readonly [field: string]: Value }): Shape {
  return fc.record(fields) as Shape;
}

export function list(value: Value, minLength: number, maxLength: number): Arbitrary<Json> {
  return fc.array(value as Arbitrary<Json>, { minLength, maxLength });
}

/** Exactly one of the members, as in a oneof. */
export function oneOf(fields: { readonly [field: string]: Value }): Shape {
  return fc.oneof(
    ...Object.entries(fields).map(([field, value]) => (value as Arbitrary<Json>).map(v => ({ [field]: v }))),
  );
}

export function both(...parts: readonly Shape[]): Shape {
  return fc.tuple(...parts).map(found => Object.assign({}, ...found) as JsonObject);
}

/** Sorted out of the few instants that make ties common; sometimes none at all. */
const creationTimestamp = fc.constantFrom<string | undefined>(
  undefined,
  '2026-01-01T00:00:00Z',
  '2026-01-02T00:00:00Z',
);

export function object(
  apiVersion: string,
  kind: string,
  rest: Shape,
  metadata: { readonly [field: string]: Value } = {},
): Shape {
  const meta = fc.record({ name, namespace, creationTimestamp, labels: fc.constant({}), ...metadata });
  return fc.tuple(meta, rest).map(([found, body]) => ({ apiVersion, kind, metadata: found as JsonObject, ...body }));
}

/** The same in no namespace. */
export function clusterWide(shape: Shape): Shape {
  return shape.map(
    ({ metadata, ...rest }): JsonObject => ({
      ...rest,
      metadata: { ...(metadata as JsonObject), namespace: undefined },
    }),
  );
}

export function istio(
  group: string,
  kind: string,
  spec: Shape,
  metadata: { readonly [field: string]: Value } = {},
): Shape {
  return object(
    `${group}.istio.io/v1`,
    kind,
    spec.map(value => ({ spec: value })),
    metadata,
  );
}
