// The little of a status that generation reads: lists of small records. The rest of a status changes without meaning.

import { type Either, isLeft, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import { makeDecoder } from '../schema/decode.ts';

export interface StatusList {
  readonly project: (status: Json) => Json | undefined;
  /** Undefined: the list is absent or empty. */
  readonly decode: (status: Json) => Either<NonEmptyArray<Problem>, JsonObject | undefined>;
}

/**
 * `status.<list>`, of each element only the text members named, of the elements only those that `matters` (all when
 * absent).
 */
export function statusList(
  list: string,
  members: readonly string[],
  matters: (element: JsonObject) => boolean = () => true,
): StatusList {
  const decode = makeDecoder<{ readonly Status: Readonly<Record<string, readonly JsonObject[]>> }>({
    messages: {
      Status: [{ name: list, type: { message: 'Element' }, repeated: true }],
      Element: members.map(name => ({ name, type: 'string' })),
    },
    enums: {},
  });
  return {
    project: status => projectStatus(status, list, members, matters),
    decode: status => {
      const decoded = decode('Status', status, 'status', { ignoreUnknown: true });
      if (isLeft(decoded)) return decoded;
      const elements = (decoded.right[list] ?? []).filter(matters);
      return right(elements.length === 0 ? undefined : { [list]: elements });
    },
  };
}

/** A value of another type is kept; decoding reports it. */
function projectStatus(
  status: Json,
  list: string,
  members: readonly string[],
  matters: (element: JsonObject) => boolean,
): Json | undefined {
  if (!isObject(status)) return status;
  const elements = status[list];
  if (elements === undefined || elements === null) return undefined;
  if (!Array.isArray(elements)) return { [list]: elements };
  const kept = (elements as readonly Json[])
    .filter(element => !isObject(element) || matters(element))
    .map(element => (isObject(element) ? pick(element, members) : element));
  return kept.length === 0 ? undefined : { [list]: kept };
}

function pick(from: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => members.includes(key)));
}
