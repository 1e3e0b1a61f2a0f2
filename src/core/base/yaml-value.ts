// The value of one composed YAML document as JSON: anchors, merge keys and keys of maps, in one pass over the nodes.
//
// Cost follows what is written: an alias shares the value of its anchor and only its size is added up, a merge costs
// the keys it copies, keys are compared through a map. The parser's own conversion looks for the anchor of each alias
// among all nodes, and compares each key with every other.

import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import { isObject, type Json } from './json.ts';

/** Collections inside collections. */
export const YAML_DEPTH_MAX = 64;
/** Characters of a document once its anchors are expanded. */
export const YAML_EXPANDED_MAX = 4 * 1024 * 1024;
/** Problems reported for one document. */
export const YAML_ERRORS_MAX = 20;

/** A problem and its offset in the text. */
export interface YamlError {
  readonly offset: number;
  readonly reason: string;
}

export interface YamlValue {
  readonly value: Json;
  /** If there are any, the value is no use. At most YAML_ERRORS_MAX. */
  readonly errors: readonly YamlError[];
}

type MutableObject = { [key: string]: Json };

interface Anchored {
  readonly value: Json;
  readonly size: number;
  readonly depth: number;
}

/** Total, for nodes that nest no deeper than recursion can follow. */
export function yamlValue(contents: Node | null): YamlValue {
  const reader = new ValueReader();
  try {
    return { value: reader.read(contents, 0).value, errors: reader.errors };
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
    return { value: null, errors: [stop.error] };
  }
}

/** A mistake after which nothing more is read of the document. */
class Stop extends Error {
  readonly error: YamlError;

  constructor(node: Node | null, reason: string) {
    super(reason);
    this.error = { offset: offsetOf(node), reason };
  }
}

class ValueReader {
  readonly errors: YamlError[] = [];
  /** By name: the last one before the place that is being read. */
  readonly #anchors = new Map<string, Anchored | 'open'>();
  #expanded = 0;

  read(node: unknown, depth: number): Anchored {
    if (isAlias(node)) return this.#alias(node, node.source, depth);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, 'open');
    const read = this.#plain(node, depth);
    if (anchor !== undefined) this.#anchors.set(anchor, read);
    return read;
  }

  #plain(node: unknown, depth: number): Anchored {
    if (isMap(node)) return this.#map(node, this.#deeper(node, depth));
    if (isSeq(node)) return this.#list(node.items, this.#deeper(node, depth));
    if (isScalar(node)) return scalar(node);
    return { value: null, size: SCALAR_SIZE, depth: 0 };
  }

  #deeper(node: Node, depth: number): number {
    if (depth >= YAML_DEPTH_MAX) throw new Stop(node, TOO_DEEP);
    return depth + 1;
  }

  #list(items: readonly unknown[], depth: number): Anchored {
    let size = SCALAR_SIZE;
    let inner = 0;
    const value = items.map(item => {
      const read = this.read(item, depth);
      size += read.size;
      inner = Math.max(inner, read.depth);
      return read.value;
    });
    return { value, size, depth: inner + 1 };
  }

  #map(map: YAMLMap, depth: number): Anchored {
    const value: MutableObject = {};
    const own = new Set<string>();
    let size = SCALAR_SIZE;
    let inner = 0;
    for (const pair of map.items) {
      if (isScalar(pair.key) && isMerge(pair.key)) {
        const merged = this.#merge(value, pair.value, pair.key, depth);
        size += merged.size;
        inner = Math.max(inner, merged.depth);
        continue;
      }
      const key = this.#key(pair.key, depth);
      if (own.has(key)) this.#wrong(pair.key, 'Map keys must be unique');
      own.add(key);
      const read = this.read(pair.value, depth);
      put(value, key, read.value);
      size += key.length + read.size;
      inner = Math.max(inner, read.depth);
    }
    return { value, size, depth: inner + 1 };
  }

  /** The keys of other maps, except those that are there already. */
  #merge(into: MutableObject, source: unknown, at: Node, depth: number): Pick<Anchored, 'size' | 'depth'> {
    const read = this.read(source, depth);
    const maps: readonly Json[] = Array.isArray(read.value) ? read.value : [read.value];
    for (const map of maps) {
      if (!isObject(map)) throw new Stop(at, 'Merge sources must be maps or map aliases');
      this.#expand(read.size, at);
      for (const [key, value] of Object.entries(map)) {
        if (!Object.hasOwn(into, key) && value !== undefined) put(into, key, value);
      }
    }
    return read;
  }

  #alias(node: Node, name: string, depth: number): Anchored {
    const found = this.#anchors.get(name);
    if (found === undefined) throw new Stop(node, 'Unresolved alias (the anchor must be set before the alias)');
    if (found === 'open') throw new Stop(node, 'The anchor contains itself');
    this.#expand(found.size, node);
    if (depth + found.depth > YAML_DEPTH_MAX) throw new Stop(node, TOO_DEEP);
    return found;
  }

  #expand(size: number, node: Node): void {
    this.#expanded += size;
    if (this.#expanded > YAML_EXPANDED_MAX) throw new Stop(node, EXPANDED);
  }

  #key(key: unknown, depth: number): string {
    const { value } = this.read(key, depth);
    if (typeof value !== 'object') return String(value);
    if (value !== null) this.#wrong(key, 'A key must be text; found a map or a list');
    return '';
  }

  #wrong(node: unknown, reason: string): void {
    if (this.errors.length < YAML_ERRORS_MAX) this.errors.push({ offset: offsetOf(node as Node | null), reason });
  }
}

export const TOO_DEEP = `is nested more than ${YAML_DEPTH_MAX} levels deep`;
const EXPANDED = `anchors are expanded to more than ${YAML_EXPANDED_MAX / 1024 / 1024} MiB`;
/** Fixed cost of a value, added to the length of its text. */
const SCALAR_SIZE = 4;

function scalar({ value }: Scalar): Anchored {
  const json = typeof value === 'symbol' ? (value.description ?? '') : ((value ?? null) as Json);
  return { value: json, size: SCALAR_SIZE + (typeof json === 'string' ? json.length : 0), depth: 0 };
}

/** The parser gives a merge key a symbol for a value. */
function isMerge({ value }: Scalar): boolean {
  return typeof value === 'symbol';
}

function put(into: MutableObject, key: string, value: Json): void {
  if (key !== '__proto__') into[key] = value;
  else Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}
