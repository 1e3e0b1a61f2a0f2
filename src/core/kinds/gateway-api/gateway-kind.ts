// What the kinds of the Gateway API have in common: schema, constraints and defaults generated from the CRDs
// (scripts/crd/gateway-api.mjs).
//
// Objects of a file get the defaults that the API server gives to objects of a cluster, and are held to the same
// constraints. Fields that the schema does not name are left out, as the API server leaves them out: a cluster may have
// a newer bundle of CRDs. They stay in the projection, because a later release may read them and must find them in old
// journals.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { assert } from '../../base/assert.ts';
import type { JsonObject } from '../../base/json.ts';
import { type Problem, problem } from '../../base/problem.ts';
import type { Steps } from '../../base/steps.ts';
import type { RawObject } from '../../event.ts';
import type { KindName, KindSpecs } from '../../model/kind.ts';
import { checkConstraint, type SpecConstraint } from '../../schema/constraints.ts';
import { asStored } from '../../schema/defaults.ts';
import { gatewayApiConstraints } from '../../schema/gateway-api-constraints.gen.ts';
import { projectConfig } from '../config-kind.ts';
import { type Declaration, declared, decodedBy, type KindDefinition } from '../definition.ts';
import { checked } from '../report.ts';
import type { StatusList } from '../status.ts';

export type GatewayKind<K extends KindName> = Declaration<K> & {
  readonly objectKind?: string;
  readonly clusterScoped?: true;
  readonly keepMeta?: readonly string[];
  /** The part of the status that generation reads. */
  readonly status?: StatusList;
};

export const GATEWAY_API = 'gateway.networking.k8s.io';
/** A status says of which generation it is. */
const KEPT: readonly string[] = ['generation'];
export const NOT_YET = 'no proxy is sent anything of it';

export function gatewayKind<K extends KindName>(from: GatewayKind<K>): KindDefinition<K> {
  const { kind, objectKind, clusterScoped = false, keepMeta = [], status } = from;
  const kept = [...keepMeta, ...KEPT];
  const constraint = gatewayApiConstraints[objectKind ?? kind];
  assert(constraint !== undefined, `no CRD of ${kind}`);
  return {
    ...declared(from),
    clusterScoped,
    store: 'config',
    ...decodedBy(raw => decodeObject(status, constraint, raw) as Steps<Either<NonEmptyArray<Problem>, KindSpecs[K]>>),
    project: raw => projected(status, raw, projectConfig(raw, kept)),
    keepMeta: kept,
    ...(objectKind === undefined ? {} : { objectKind }),
  };
}

function* decodeObject(
  status: StatusList | undefined,
  constraint: SpecConstraint,
  raw: RawObject,
): Steps<Either<NonEmptyArray<Problem>, unknown>> {
  return withStatus(status, raw, yield* decodeSpec(constraint, raw));
}

function* decodeSpec(
  { required, spec, versions }: SpecConstraint,
  raw: RawObject,
): Steps<Either<NonEmptyArray<Problem>, unknown>> {
  if (raw.spec === undefined || raw.spec === null) {
    return required ? left([problem('spec', 'is missing')]) : right({});
  }
  const version = typeof raw.apiVersion === 'string' ? raw.apiVersion.slice(raw.apiVersion.indexOf('/') + 1) : '';
  const constraint = (Object.hasOwn(versions ?? {}, version) ? versions?.[version] : undefined) ?? spec;
  const stored = asStored(constraint, raw.spec);
  yield;
  return checked(stored, (value, report) => checkConstraint(constraint, value, 'spec', report));
}

function withStatus(
  status: StatusList | undefined,
  raw: RawObject,
  spec: Either<NonEmptyArray<Problem>, unknown>,
): Either<NonEmptyArray<Problem>, unknown> {
  if (isLeft(spec) || status === undefined || raw.status === undefined || raw.status === null) return spec;
  const decoded = status.decode(raw.status);
  if (isLeft(decoded)) return decoded;
  return decoded.right === undefined ? spec : right({ ...(spec.right as object), status: decoded.right });
}

function projected(status: StatusList | undefined, raw: RawObject, projection: JsonObject): JsonObject {
  const kept = status === undefined || raw.status === undefined ? undefined : status.project(raw.status);
  return kept === undefined ? projection : { ...projection, status: kept };
}
