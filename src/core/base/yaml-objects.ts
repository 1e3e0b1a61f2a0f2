// YAML text as objects, as sigs.k8s.io/yaml reads it: YAML 1.1, the last of two equal keys counts.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from './json.ts';
import { composedDocuments, documentValue } from './yaml.ts';

/** yaml-value.ts reports a repeated key, and keeps the last value. */
const REPEATED_KEY = 'Map keys must be unique';

/** The documents that are objects; empty ones are left out. Left: why the text cannot be read. */
export type YamlObjects = Either<string, readonly JsonObject[]>;

export function objectsOf(text: string): YamlObjects {
  const objects: JsonObject[] = [];
  try {
    for (const document of composedDocuments(text)) {
      const { value, errors } = documentValue(document);
      const wrong = errors.find(({ reason }) => reason !== REPEATED_KEY);
      if (wrong !== undefined) return left(`error converting YAML to JSON: offset ${wrong.offset}: ${wrong.reason}`);
      if (isObject(value)) objects.push(value);
      else if (value !== null) return left(`expected an object, found ${typeof (value as Json)}`);
    }
  } catch (error) {
    return left(error instanceof Error ? error.message : String(error));
  }
  return right(objects);
}
