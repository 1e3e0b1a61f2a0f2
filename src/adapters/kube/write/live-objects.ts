// What the watches show of the objects that wishes may be about: metadata, and the parts that are written. The fold
// knows their projections, which leave out statuses and versions, because those mean nothing to a mesh; a writer needs
// them.
//
// Kept beside the fold: nothing here decides what is wished.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import type { Settings } from '../../../core/mesh/settings.ts';
import type { KindName } from '../../../core/model/kind.ts';
import type { Observed } from '../../../core/wishes/table.ts';
import type { WatchEvent } from '../reflector.ts';
import type { Resource } from '../resource.ts';

interface Kept {
  readonly parts: ReadonlySet<string>;
  /** undefined: any. */
  readonly names: ReadonlySet<string> | undefined;
  resource?: Resource;
  objects: Map<string, JsonObject>;
}

/** `namespace/name`, or the name of a cluster-scoped object. */
export function liveName(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

export class LiveObjects {
  readonly #kinds = new Map<KindName, Kept>();
  readonly #managers: ReadonlySet<string> | undefined;
  /** Called with what changed; undefined: perhaps every object of the kind. */
  onChange: (kind: KindName, name: string | undefined) => void = () => undefined;

  /** `managers`: whose entries of managedFields are kept; undefined: all. */
  constructor(observed: readonly Observed[], settings: Settings, managers?: readonly string[]) {
    this.#managers = managers === undefined ? undefined : new Set(managers);
    for (const { kind, parts, names } of observed) {
      const known = this.#kinds.get(kind);
      const namesNow = names?.(settings);
      const isAny = namesNow === undefined || (known !== undefined && known.names === undefined);
      this.#kinds.set(kind, {
        parts: new Set([...(known?.parts ?? []), ...parts]),
        names: isAny ? undefined : new Set([...(known?.names ?? []), ...(namesNow ?? [])]),
        objects: new Map(),
      });
    }
  }

  /** Undefined: the kind is not served, or not listed yet. */
  resource(kind: KindName): Resource | undefined {
    return this.#kinds.get(kind)?.resource;
  }

  get(kind: KindName, name: string): JsonObject | undefined {
    return this.#kinds.get(kind)?.objects.get(name);
  }

  replace(resource: Resource, objects: readonly JsonObject[]): void {
    const kept = this.#kinds.get(resource.kind);
    if (kept === undefined) return;
    kept.resource = resource;
    kept.objects = new Map();
    for (const object of objects) this.#put(kept, object);
    this.onChange(resource.kind, undefined);
  }

  change(resource: Resource, events: readonly WatchEvent[]): void {
    const kept = this.#kinds.get(resource.kind);
    if (kept === undefined) return;
    for (const { type, object } of events) {
      const name = nameOf(object);
      if (name === undefined) continue;
      if (type === 'DELETED') kept.objects.delete(name);
      else this.#put(kept, object);
      this.onChange(resource.kind, name);
    }
  }

  /** The kind is not served any more. */
  forget(kind: KindName): void {
    const kept = this.#kinds.get(kind);
    if (kept?.resource === undefined) return;
    kept.resource = undefined;
    kept.objects = new Map();
    this.onChange(kind, undefined);
  }

  #put(kept: Kept, object: JsonObject): void {
    const name = nameOf(object);
    const { metadata } = object;
    if (name === undefined || !isObject(metadata)) return;
    if (kept.names !== undefined && !kept.names.has(String(metadata.name))) return;
    const parts = Object.fromEntries([...kept.parts].map(part => [part, object[part]]));
    kept.objects.set(name, {
      ...parts,
      metadata: { ...metadata, managedFields: this.#managed(metadata.managedFields) },
    });
  }

  #managed(managedFields: Json | undefined): Json {
    if (!Array.isArray(managedFields)) return [];
    const entries = managedFields as readonly Json[];
    return entries.filter(
      entry => isObject(entry) && (this.#managers === undefined || this.#managers.has(String(entry.manager))),
    );
  }
}

function nameOf({ metadata }: JsonObject): string | undefined {
  if (!isObject(metadata) || typeof metadata.name !== 'string') return undefined;
  return liveName(typeof metadata.namespace === 'string' ? metadata.namespace : '', metadata.name);
}
