// Stores over a state: of one source, of all of them together (of equal keys the object in force, by the precedence of
// in-force.ts), and either of them for reading only.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { selects } from '../base/labels.ts';
import { mergePatch } from '../base/merge-patch.ts';
import { problem } from '../base/problem.ts';
import type { RawObject, Unrecorded } from '../event.ts';
import { clusterOf, keyFor } from '../fold/record.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { decodeMeta, namespaceOf } from '../kinds/meta.ts';
import { definitionOf, definitions, kindNames } from '../kinds/registry.ts';
import type { KindName } from '../model/kind.ts';
import type { ObjectRecord } from '../model/object.ts';
import type { State } from '../state.ts';
import type { ConfigStore, ListOptions, ObjectName, Stored, StoreError, StoreSchema, Written } from './config-store.ts';

export const storeSchemas: readonly StoreSchema[] = kindNames.map(kind => {
  const { group, versions, clusterScoped } = definitions[kind];
  return { kind, group, versions, clusterScoped };
});

/** What one source, e.g. `file/Kubernetes`, says; filtered or not, in force or not. Writes are facts of that source. */
export function sourceStore(state: State, source: string): ConfigStore {
  return new StateStore(state, source, record => record.source === source);
}

/**
 * The objects in force, of all sources. Writes are facts of the source `writer`; they show only where it has
 * precedence.
 */
export function aggregateStore(state: State, writer: string): ConfigStore {
  return new StateStore(
    state,
    writer,
    ({ kind, key, accepted }) => accepted !== undefined && state.objects[kind].get(key) === accepted,
  );
}

/** The same objects; every write is refused. */
export function readOnly(store: ConfigStore): ConfigStore {
  const refuse = (object: string): Written => left({ kind: 'ReadOnly', object });
  const refuseRaw = (raw: RawObject): Written => refuse(shownRaw(raw));
  return {
    schemas: store.schemas,
    get: name => store.get(name),
    list: (kind, options) => store.list(kind, options),
    create: refuseRaw,
    update: refuseRaw,
    updateStatus: refuseRaw,
    patch: name => refuse(shown(name)),
    delete: name => refuse(shown(name)),
  };
}

class StateStore implements ConfigStore {
  readonly schemas = storeSchemas;
  readonly #state: State;
  readonly #source: string;
  readonly #visible: (record: ObjectRecord) => boolean;

  constructor(state: State, source: string, visible: (record: ObjectRecord) => boolean) {
    this.#state = state;
    this.#source = source;
    this.#visible = visible;
  }

  get(name: ObjectName): Stored | undefined {
    const key = this.#keyOf(name);
    return this.#stored(`${name.kind}|${key}|`)[0];
  }

  list(kind: KindName, { namespace, labels }: ListOptions = {}): readonly Stored[] {
    return this.#stored(`${kind}|`).filter(
      ({ obj }) => (namespace === undefined || obj.namespace === namespace) && selects(labels ?? {}, obj.labels),
    );
  }

  create(object: RawObject): Written {
    const read = readObject(object);
    if (isLeft(read)) return read;
    const { name } = read.right;
    if (this.get(name) !== undefined) return left({ kind: 'AlreadyExists', object: shown(name) });
    return this.#write('Add', object);
  }

  update(object: RawObject): Written {
    return this.#replace(object, (current, given) => withMember(given, 'status', current.status));
  }

  updateStatus(object: RawObject): Written {
    return this.#replace(object, (current, given) => withMember(current, 'status', given.status));
  }

  patch(name: ObjectName, patch: Json): Written {
    const current = this.get(name);
    if (current === undefined) return left({ kind: 'NotFound', object: shown(name) });
    const patched = mergePatch(current.object, patch);
    if (!isObject(patched)) return invalid(shown(name), 'the patch leaves no object');
    const read = readObject(patched);
    if (isLeft(read)) return read;
    if (shown(read.right.name) !== shown(name))
      return invalid(shown(name), 'the patch changes what the object is called');
    const conflict = conflictOf(name, read.right.resourceVersion, current);
    return conflict === undefined ? this.#write('Update', patched) : left(conflict);
  }

  delete(name: ObjectName, resourceVersion = ''): Written {
    const current = this.get(name);
    if (current === undefined) return left({ kind: 'NotFound', object: shown(name) });
    const conflict = conflictOf(name, resourceVersion, current);
    if (conflict !== undefined) return left(conflict);
    const { namespace, name: called } = name;
    const { apiVersion, kind } = current.object;
    const ref = { apiVersion: String(apiVersion), kind: String(kind), namespace, name: called };
    return right([{ source: this.#source, kind: 'Delete', ref }]);
  }

  #replace(object: RawObject, merge: (current: RawObject, given: RawObject) => RawObject): Written {
    const read = readObject(object);
    if (isLeft(read)) return read;
    const { name, resourceVersion } = read.right;
    const current = this.get(name);
    if (current === undefined) return left({ kind: 'NotFound', object: shown(name) });
    const conflict = conflictOf(name, resourceVersion, current);
    return conflict === undefined ? this.#write('Update', merge(current.object, object)) : left(conflict);
  }

  /** The fact holds no resourceVersion: the event that it becomes gives one. */
  #write(kind: 'Add' | 'Update', object: RawObject): Written {
    const definition = definitionOf(object.apiVersion, object.kind);
    const decoded = definition?.decode(object);
    if (decoded !== undefined && isLeft(decoded)) {
      return left({ kind: 'Invalid', object: shownRaw(object), problems: decoded.left });
    }
    const metadata = withMember(isObject(object.metadata) ? object.metadata : {}, 'resourceVersion', undefined);
    const fact: Unrecorded = { source: this.#source, kind, object: { ...object, metadata } };
    return right([fact]);
  }

  #stored(prefix: string): readonly Stored[] {
    return this.#state.records.range(prefix).flatMap(record => {
      const { accepted: obj, raw, source } = record;
      if (obj === undefined || raw === undefined || !this.#visible(record)) return [];
      const resourceVersion = versionOf(raw) || String(record.writtenAt ?? record.acceptedAt);
      const metadata = { ...(isObject(raw.metadata) ? raw.metadata : {}), resourceVersion };
      return [{ object: { ...raw, metadata }, obj, resourceVersion, source }];
    });
  }

  #keyOf({ kind, namespace, name }: ObjectName): string {
    const definition: KindDefinition = definitions[kind] as KindDefinition;
    return keyFor(definition, clusterOf(this.#source), namespaceOf(namespace, definition.clusterScoped), name);
  }
}

interface Read {
  readonly name: ObjectName;
  readonly resourceVersion: string;
}

function readObject(object: RawObject): Either<StoreError, Read> {
  const definition = definitionOf(object.apiVersion, object.kind);
  if (definition === undefined) return invalid(shownRaw(object), 'is of a kind that Periplus does not know');
  const meta = decodeMeta(object, definition);
  if (isLeft(meta)) return left({ kind: 'Invalid', object: shownRaw(object), problems: meta.left });
  const { namespace, name } = meta.right;
  return right({ name: { kind: definition.kind, namespace, name }, resourceVersion: versionOf(object) });
}

function conflictOf(name: ObjectName, given: string, current: Stored): StoreError | undefined {
  if (given === '' || given === current.resourceVersion) return undefined;
  return { kind: 'Conflict', object: shown(name), given, current: current.resourceVersion };
}

function versionOf(object: RawObject): string {
  const version = isObject(object.metadata) ? object.metadata.resourceVersion : undefined;
  return typeof version === 'string' ? version : '';
}

function withMember(object: JsonObject, member: string, value: Json | undefined): JsonObject {
  const { [member]: _, ...rest } = object;
  return value === undefined ? rest : { ...rest, [member]: value };
}

function invalid(object: string, message: string): Either<StoreError, never> {
  return left({ kind: 'Invalid', object, problems: [problem('', message)] });
}

function shown({ kind, namespace, name }: ObjectName): string {
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

function shownRaw(raw: RawObject): string {
  const { name, namespace } = isObject(raw.metadata) ? raw.metadata : {};
  return [raw.kind, namespace, name].filter(part => typeof part === 'string' && part !== '').join('/') || 'object';
}
