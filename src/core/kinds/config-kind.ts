// What the kinds of configuration that are not Istio's have in common (Ingress): a hand-written schema of what Periplus
// reads of the spec. Unknown fields are accepted and kept in the projection, because a later release may read them from
// old journals; wrong types of known fields are problems.

import { type Either, isLeft, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import type { Json, JsonObject } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import type { Steps } from '../base/steps.ts';
import type { RawObject } from '../event.ts';
import type { KindName, KindSpecs } from '../model/kind.ts';
import { makeDecoder } from '../schema/decode.ts';
import type { SchemaMessage } from '../schema/schema.ts';
import { type Declaration, declared, decodedBy, type KindDefinition } from './definition.ts';
import { projectMeta } from './meta.ts';

export type ConfigKind<K extends KindName> = Declaration<K> & {
  readonly objectKind?: string;
  readonly clusterScoped?: boolean;
  /** `Spec` is the spec; the others are parts of it. */
  readonly messages: Readonly<Record<string, SchemaMessage>>;
};

export function configKind<K extends KindName>(from: ConfigKind<K>): KindDefinition<K> {
  const { objectKind, clusterScoped = false, messages } = from;
  const decode = makeDecoder<{ readonly Object: { readonly spec?: KindSpecs[K] } }>({
    messages: { ...messages, Object: [{ name: 'spec', type: { message: 'Spec' } }] },
    enums: {},
    strictNumbers: true,
  });
  function* decoding(raw: RawObject): Steps<Either<NonEmptyArray<Problem>, KindSpecs[K]>> {
    const decoded = decode('Object', raw, '', { ignoreUnknown: true });
    yield;
    return isLeft(decoded) ? decoded : right(decoded.right.spec ?? ({} as KindSpecs[K]));
  }
  return {
    ...declared(from),
    clusterScoped,
    store: 'config',
    ...decodedBy(decoding),
    project: raw => projectConfig(raw),
    ...(objectKind === undefined ? {} : { objectKind }),
  };
}

/** Names, metadata that matters, and the whole spec. `keepMeta`: further members of metadata. */
export function projectConfig(raw: RawObject, keepMeta: readonly string[] = []): JsonObject {
  const projection: { [key: string]: Json | undefined } = {};
  for (const key of ['apiVersion', 'kind', 'spec']) if (raw[key] !== undefined) projection[key] = raw[key];
  if (raw.metadata !== undefined) projection.metadata = projectMeta(raw.metadata, keepMeta);
  return projection;
}
