// What the kinds of Istio have in common: a `spec` that the generated schema decodes, rules of its own, and one store,
// the config cluster.
//
// Fields that the schema does not have are refused, as `kubectl apply` refuses them: a misspelt field that is silently
// dropped is a route that silently does something else. So is all that the API server would refuse by the CRD.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { assert } from '../../base/assert.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { type Problem, problem } from '../../base/problem.ts';
import type { Steps } from '../../base/steps.ts';
import type { RawObject } from '../../event.ts';
import type { KindName, KindSpecs } from '../../model/kind.ts';
import { checkConstraint } from '../../schema/constraints.ts';
import { PROBLEMS_MAX } from '../../schema/decode.ts';
import { decodeIstio } from '../../schema/istio.ts';
import { istioConstraints } from '../../schema/istio-constraints.gen.ts';
import type { IstioTypeMap } from '../../schema/istio-types.gen.ts';
import {
  type Declaration,
  declared,
  decodedBy,
  type KeepMeta,
  type KindDefinition,
  type StandIn,
} from '../definition.ts';
import { keptMembers, projectMeta } from '../meta.ts';
import { checked, type Report } from '../report.ts';
import { checkIstioAnnotations } from './validate/annotations.ts';

export type IstioKind<K extends KindName, T extends keyof IstioTypeMap> = Declaration<K> & {
  /** Full name of the spec's message. */
  readonly type: T;
  /** The rules beyond the schema; `raw` is for the few that look at metadata. */
  readonly rules?: (spec: IstioTypeMap[T], report: Report, raw: RawObject) => void;
  /** The part of the status that generation reads, decoded; undefined when there is none. */
  readonly status?: { readonly project: (status: Json) => Json | undefined; readonly decode: StatusDecoder };
  /** Members of metadata that matter for this kind alone. */
  readonly keepMeta?: KeepMeta;
  readonly standIn?: StandIn<KindSpecs[K]>;
};
type StatusDecoder = (status: Json) => Either<NonEmptyArray<Problem>, JsonObject | undefined>;

/** The members of an object. */
const MEMBERS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

export const NETWORKING = 'networking.istio.io';
export const SECURITY = 'security.istio.io';
export const NETWORKING_VERSIONS: readonly string[] = ['v1', 'v1beta1', 'v1alpha3'];
export const SECURITY_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

export function istioKind<K extends KindName, T extends keyof IstioTypeMap>(from: IstioKind<K, T>): KindDefinition<K> {
  return {
    ...declared(from),
    clusterScoped: false,
    store: 'config',
    ...(from.keepMeta === undefined ? {} : { keepMeta: from.keepMeta }),
    ...decodedBy(raw => decodeIstioObject(from, raw) as Steps<Either<NonEmptyArray<Problem>, KindSpecs[K]>>),
    project: raw => projectIstioObject(from, raw),
    ...(from.standIn === undefined ? {} : { standIn: from.standIn }),
  };
}

function* decodeIstioObject<K extends KindName, T extends keyof IstioTypeMap>(
  from: IstioKind<K, T>,
  raw: RawObject,
): Steps<Either<NonEmptyArray<Problem>, unknown>> {
  const unknown = unknownMembers(raw);
  if (unknown !== undefined) return left(unknown);
  const spec = decodeIstio(from.type, raw.spec, 'spec');
  yield;
  const ruled = isLeft(spec) ? spec : checked(spec.right, (value, report) => checkRules(from, value, report, raw));
  yield;
  const isFull = isLeft(ruled) && ruled.left.length >= PROBLEMS_MAX;
  const sound = isFull ? ruled : withMore(ruled, constraintProblems(from.kind, raw.spec));
  if (isLeft(sound) || from.status === undefined || raw.status === undefined || raw.status === null) return sound;
  const status = from.status.decode(raw.status);
  if (isLeft(status)) return status;
  return status.right === undefined ? sound : right({ ...sound.right, status: status.right });
}

function unknownMembers(raw: RawObject): NonEmptyArray<Problem> | undefined {
  const problems: Problem[] = [];
  for (const key in raw) {
    if (!MEMBERS.includes(key)) problems.push(problem(key, `unknown field; expected one of ${MEMBERS.join(', ')}`));
  }
  return problems.length === 0 ? undefined : (problems as unknown as NonEmptyArray<Problem>);
}

/** Problems for which the API server refuses the object by its CRD. */
function constraintProblems(kind: KindName, spec: Json | undefined): readonly Problem[] {
  const constraint = istioConstraints[kind];
  assert(constraint !== undefined, `no constraints of ${kind}`);
  if (spec === undefined) return constraint.required ? [problem('spec', 'is missing')] : [];
  const sound = checked(spec, (value, report) => checkConstraint(constraint.spec, value, 'spec', report));
  return isLeft(sound) ? sound.left : [];
}

/**
 * Of two equal problems the first is kept: its check is the more specific one, often about a member of the value in the
 * other.
 */
function withMore<T>(
  decoded: Either<NonEmptyArray<Problem>, T>,
  more: readonly Problem[],
): Either<NonEmptyArray<Problem>, T> {
  if (more.length === 0) return decoded;
  const known: readonly Problem[] = isLeft(decoded) ? decoded.left : [];
  const news = more.filter(({ path }) => !known.some(earlier => isAtOrIn(earlier.path, path)));
  const [first, ...rest] = [...known, ...news].slice(0, PROBLEMS_MAX);
  return first === undefined ? decoded : left([first, ...rest]);
}

/** Is `path` the outer one, or that of a member or element of it? */
function isAtOrIn(path: string, outer: string): boolean {
  return path.startsWith(outer) && /^(\[\d+\])?\.?[^.]*$/.test(path.slice(outer.length));
}

function checkRules<K extends KindName, T extends keyof IstioTypeMap>(
  from: IstioKind<K, T>,
  spec: IstioTypeMap[T],
  report: Report,
  raw: RawObject,
): void {
  checkIstioAnnotations(from.kind, spec, raw, report);
  from.rules?.(spec, report, raw);
}

function projectIstioObject<K extends KindName, T extends keyof IstioTypeMap>(
  from: IstioKind<K, T>,
  raw: RawObject,
): JsonObject {
  const projection: { [key: string]: Json | undefined } = {};
  for (const key of ['apiVersion', 'kind']) if (raw[key] !== undefined) projection[key] = raw[key];
  if (raw.metadata !== undefined) projection.metadata = projectMeta(raw.metadata, keptMembers(from.keepMeta, raw));
  if (raw.spec !== undefined) projection.spec = raw.spec;
  const status = raw.status === undefined || from.status === undefined ? undefined : from.status.project(raw.status);
  if (status !== undefined) projection.status = status;
  return projection;
}
