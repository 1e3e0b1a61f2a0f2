// What the core says of an object: nothing when it is accepted, else every problem as its author sees it.

import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { showProblem } from '../../../../src/core/base/problem.ts';
import { decodeMeta } from '../../../../src/core/kinds/meta.ts';
import { definitionOf, definitions } from '../../../../src/core/kinds/registry.ts';
import type { KindName, KindSpecs } from '../../../../src/core/model/kind.ts';

export function problemsOf(object: JsonObject): readonly string[] {
  const definition = definitionOf(object.apiVersion, object.kind);
  if (definition === undefined) return ['unknown kind'];
  const meta = decodeMeta(object, definition);
  const decoded = definition.decode(object);
  return [...(isLeft(meta) ? meta.left : []), ...(isLeft(decoded) ? decoded.left : [])].map(showProblem);
}

/** An object of a kind with this spec, in namespace `prod`, named `a`. */
export function withSpec(kind: KindName, spec: JsonObject): JsonObject {
  const { group, versions, objectKind } = definitions[kind];
  const apiVersion = group === '' ? `${versions[0]}` : `${group}/${versions[0]}`;
  return { apiVersion, kind: objectKind ?? kind, metadata: { name: 'a', namespace: 'prod' }, spec };
}

export function decodedOf<K extends KindName>(kind: K, object: JsonObject): KindSpecs[K] {
  const decoded = definitions[kind].decode(object);
  if (isRight(decoded)) return decoded.right as KindSpecs[K];
  throw new Error(`refused: ${decoded.left.map(showProblem).join('; ')}`);
}
