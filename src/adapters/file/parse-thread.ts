// The thread that parses what may be slow to parse. It keeps nothing between two tasks, so it may be ended at any time
// and another one started.
//
// Objects and documents go back as text in parts: the main thread takes each part in a turn of its own. Members of a
// map that has tens of thousands follow their object in parts of their own (vast-maps.ts).

import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { WIDE_MIN } from '../../core/base/keys.ts';
import { objectsOf } from '../../core/base/yaml-objects.ts';
import { DEPTH_MAX } from '../../core/kinds/limits.ts';
import { Locator, type Place, type Position } from './locate.ts';
import { type ParsedFile, type ParsedObject, type ParsedText, parseDocuments, parseFile } from './parse.ts';
import { membersOf, withoutVastMaps } from './vast-maps.ts';

export type ParseTask =
  | { readonly kind: 'file'; readonly file: string; readonly bytes: Uint8Array }
  | { readonly kind: 'documents'; readonly file: string; readonly text: string }
  | { readonly kind: 'objects'; readonly text: string }
  | { readonly kind: 'places'; readonly text: string; readonly places: readonly Place[] };

/**
 * JSON of a list of ParsedObject, of the ParsedText, or of `YamlObjects`; `members`: of `Members` of the last object of
 * the last list.
 */
export type ParsePart = { readonly kind: 'part' | 'members'; readonly json: string };

/** Parts come first, then one of the others. */
export type ParseAnswer =
  | ParsePart
  | { readonly kind: 'file'; readonly rest: Omit<ParsedFile, 'objects'> }
  | { readonly kind: 'documents' | 'objects' }
  | { readonly kind: 'places'; readonly positions: readonly (Position | undefined)[] };

/** Characters of a part, or one object. */
const PART_CHARS = 256 * 1024;

function run(task: ParseTask, say: (answer: ParseAnswer) => void): void {
  if (task.kind === 'file') {
    const { objects, ...rest } = parseFile(task.file, task.bytes);
    for (const part of partsOf(objects)) say(part);
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

function* partsOf(objects: readonly ParsedObject[]): Generator<ParsePart> {
  let part: string[] = [];
  let chars = 0;
  const ended = (): ParsePart => {
    const json = `[${part.join(',')}]`;
    [part, chars] = [[], 0];
    return { kind: 'part', json };
  };
  for (const object of objects) {
    const { rest, maps } = withoutVastMaps(inOrder(object.object));
    const json = JSON.stringify({ ...object, object: rest });
    part.push(json);
    chars += json.length;
    if (chars < PART_CHARS && maps.length === 0) continue;
    yield ended();
    for (const members of membersOf(maps)) yield { kind: 'members', json: JSON.stringify(members) };
  }
  if (part.length > 0) yield ended();
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
