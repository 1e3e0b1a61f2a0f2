// The thread that parses what may be slow to parse. It keeps nothing between two tasks, so it may be ended at any time
// and another one started.
//
// Objects and documents go back as text in parts: the main thread takes each part in a turn of its own.

import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { WIDE_MIN } from '../../core/base/keys.ts';
import { objectsOf } from '../../core/base/yaml-objects.ts';
import { DEPTH_MAX } from '../../core/kinds/limits.ts';
import { Locator, type Place, type Position } from './locate.ts';
import { type ParsedFile, type ParsedObject, type ParsedText, parseDocuments, parseFile } from './parse.ts';

export type ParseTask =
  | { readonly kind: 'file'; readonly file: string; readonly bytes: Uint8Array }
  | { readonly kind: 'documents'; readonly file: string; readonly text: string }
  | { readonly kind: 'objects'; readonly text: string }
  | { readonly kind: 'places'; readonly text: string; readonly places: readonly Place[] };

/** Parts come first: JSON of a list of ParsedObject, of the ParsedText, or of `YamlObjects`; then one of the others. */
export type ParseAnswer =
  | { readonly kind: 'part'; readonly json: string }
  | { readonly kind: 'file'; readonly rest: Omit<ParsedFile, 'objects'> }
  | { readonly kind: 'documents' | 'objects' }
  | { readonly kind: 'places'; readonly positions: readonly (Position | undefined)[] };

/** Characters of a part, or one object. */
const PART_CHARS = 256 * 1024;

function run(task: ParseTask, say: (answer: ParseAnswer) => void): void {
  if (task.kind === 'file') {
    const { objects, ...rest } = parseFile(task.file, task.bytes);
    for (const json of partsOf(objects)) say({ kind: 'part', json });
    say({ kind: 'file', rest });
  } else if (task.kind === 'documents') {
    const parsed: ParsedText = parseDocuments(task.file, task.text);
    say({ kind: 'part', json: JSON.stringify(parsed) });
    say({ kind: 'documents' });
  } else if (task.kind === 'objects') {
    say({ kind: 'part', json: JSON.stringify(objectsOf(task.text)) });
    say({ kind: 'objects' });
  } else {
    const locator = new Locator(task.text);
    say({ kind: 'places', positions: task.places.map(place => locator.at(place)) });
  }
}

function* partsOf(objects: readonly ParsedObject[]): Generator<string> {
  let part: string[] = [];
  let chars = 0;
  for (const object of objects) {
    const json = JSON.stringify({ ...object, object: inOrder(object.object) });
    part.push(json);
    chars += json.length;
    if (chars < PART_CHARS) continue;
    yield `[${part.join(',')}]`;
    [part, chars] = [[], 0];
  }
  if (part.length > 0) yield `[${part.join(',')}]`;
}

/**
 * With the members of wide objects in order: the main thread has nothing to sort, and a map in order is decoded to
 * itself (core/schema/decode.ts).
 */
function inOrder(json: Json, depth = 0): Json {
  if (typeof json !== 'object' || json === null || depth > DEPTH_MAX) return json;
  if (Array.isArray(json)) {
    const items = json as readonly Json[];
    const ordered = items.map(item => inOrder(item, depth + 1));
    return ordered.every((item, i) => item === items[i]) ? json : ordered;
  }
  const keys = Object.keys(json);
  const isWide = keys.length >= WIDE_MIN;
  let isSame = !isWide;
  const members = (isWide ? keys.sort() : keys).map((key): [string, Json | undefined] => {
    const member = (json as JsonObject)[key];
    const ordered = member === undefined ? undefined : inOrder(member, depth + 1);
    isSame &&= ordered === member;
    return [key, ordered];
  });
  return isSame ? json : Object.fromEntries(members);
}

function serve(port: MessagePort): void {
  port.on('message', (task: ParseTask) => run(task, answer => port.postMessage(answer)));
}

if (parentPort !== null) serve(parentPort);
