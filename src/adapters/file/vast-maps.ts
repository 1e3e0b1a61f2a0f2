// Maps with tens of thousands of members, which take longer to parse than a turn of the event loop should: they are cut
// out of their object and put back part by part.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { keepSorted, put } from '../../core/base/keys.ts';

/** Members of one part; a map with more is cut out. */
export const MEMBERS_PER_PART = 8_192;

/** From the object down. */
type Path = readonly (string | number)[];

interface VastMap {
  readonly path: Path;
  readonly members: JsonObject;
}

/** Some members of the map at the path. */
export interface Members {
  readonly path: Path;
  readonly keys: readonly string[];
  readonly values: readonly Json[];
}

/** The value with an empty map in place of each vast one, and those, of which none lies in another. */
export function withoutVastMaps(json: Json): { readonly rest: Json; readonly maps: readonly VastMap[] } {
  const maps: VastMap[] = [];
  const visit = (value: Json, path: Path): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value as readonly Json[];
      const visited = items.map((item, i) => visit(item, [...path, i]));
      return visited.every((item, i) => item === items[i]) ? value : visited;
    }
    const keys = Object.keys(value);
    if (keys.length > MEMBERS_PER_PART) {
      maps.push({ path, members: value as JsonObject });
      return {};
    }
    const visited = keys.map(key => visit((value as JsonObject)[key]!, [...path, key]));
    if (visited.every((member, i) => member === (value as JsonObject)[keys[i]!])) return value;
    return Object.fromEntries(keys.map((key, i) => [key, visited[i]!]));
  };
  return { rest: visit(json, []), maps };
}

/** The members of each map, in order of their keys. */
export function* membersOf(maps: readonly VastMap[]): Generator<Members> {
  for (const { path, members } of maps) {
    const all = Object.keys(members).sort();
    for (let from = 0; from < all.length; from += MEMBERS_PER_PART) {
      const keys = all.slice(from, from + MEMBERS_PER_PART);
      yield { path, keys, values: keys.map(key => members[key]!) };
    }
  }
}

/** Puts the members of maps back into one object after the other. */
export class MapFiller {
  #map: { [key: string]: Json } | undefined;
  #keys: string[] = [];

  /** `members`: the next ones, of the map of the last call or of another one. */
  fill(object: JsonObject, { path, keys, values }: Members): void {
    const map = at(object, path) as { [key: string]: Json };
    if (map !== this.#map) {
      this.#map = map;
      this.#keys = [];
    }
    keys.forEach((key, i) => {
      put(map, key, values[i]!);
    });
    this.#keys.push(...keys);
    keepSorted(map, this.#keys);
  }
}

function at(object: JsonObject, path: Path): Json {
  let found: Json = object;
  for (const step of path) found = (found as { readonly [key: string | number]: Json })[step]!;
  return found;
}
