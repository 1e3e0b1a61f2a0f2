// The controller side of a config store, as Istio's model.ConfigStoreController: handlers are registered by kind and
// called for each change of an object in force, in journal order. A change is a difference between two states, so an
// object that a filter or a source of higher precedence removes is a delete like any other.

import { sameContent } from '../core/base/equal.ts';
import type { Event } from '../core/event.ts';
import { rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import type { KindName } from '../core/model/kind.ts';
import type { Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import type { ConfigStore } from '../core/stores/config-store.ts';
import { aggregateStore, readOnly } from '../core/stores/state-store.ts';
import type { World } from './world.ts';

export type ConfigEvent = 'add' | 'update' | 'delete';
export type ConfigEventHandler = (old: Obj | undefined, now: Obj | undefined, event: ConfigEvent) => void;

export class ConfigStoreController {
  readonly #world: Pick<World, 'state' | 'listen'>;
  readonly #sources: readonly string[];
  readonly #handlers = new Map<KindName, ConfigEventHandler[]>();
  /** The state that the handlers know; undefined before `run`. */
  #seen: State | undefined;

  /** `sources`: the sources that have to be listed before the store is in sync, e.g. `file/Kubernetes`. */
  constructor(world: Pick<World, 'state' | 'listen'>, sources: readonly string[]) {
    this.#world = world;
    this.#sources = sources;
    world.listen({
      // While the events of a journal gap are folded again, older states than the handlers' come by: only the last one
      // counts.
      onEvent: (before, event, after) => {
        if (this.#seen === before) this.#follow(after, event);
      },
      onFolded: state => this.#follow(state, undefined),
    });
  }

  /** The objects in force, read-only; writes go through the world. */
  get store(): ConfigStore {
    return readOnly(aggregateStore(this.#world.state, `runtime/${this.#world.state.settings.clusterId}`));
  }

  /** Call it before `run`: a later handler does not get the objects that existed before. */
  registerEventHandler(kind: KindName, handler: ConfigEventHandler): void {
    this.#handlers.set(kind, [...(this.#handlers.get(kind) ?? []), handler]);
  }

  /**
   * Calls the handlers with every object as an add, in the order of kinds and keys, and from then on for every change.
   * Idempotent.
   */
  run(): void {
    if (this.#seen !== undefined) return;
    this.#seen = this.#world.state;
    for (const kind of this.#kinds()) {
      for (const obj of this.#seen.objects[kind].values()) this.#call(kind, undefined, obj);
    }
  }

  /** True once the source (or every source) has been listed. */
  hasSynced(source?: string): boolean {
    const { synced } = this.#world.state;
    return (source === undefined ? this.#sources : [source]).every(name => synced.has(name));
  }

  /** `event` led from the handlers' state to this one. Without it, as after a journal gap, all objects are compared. */
  #follow(state: State, event: Event | undefined): void {
    const seen = this.#seen;
    if (seen === undefined || seen === state) return;
    this.#seen = state;
    for (const kind of this.#kinds()) {
      if (seen.objects[kind] === state.objects[kind]) continue;
      for (const key of changedKeys(seen, state, kind, event)) {
        this.#call(kind, seen.objects[kind].get(key), state.objects[kind].get(key));
      }
    }
  }

  #kinds(): readonly KindName[] {
    return [...this.#handlers.keys()].sort();
  }

  #call(kind: KindName, old: Obj | undefined, now: Obj | undefined): void {
    const event = old === undefined ? 'add' : now === undefined ? 'delete' : 'update';
    for (const handler of this.#handlers.get(kind) ?? []) handler(old, now, event);
  }
}

/** Sorted keys under which another object is in force now. */
function changedKeys(before: State, after: State, kind: KindName, event: Event | undefined): readonly string[] {
  const own = event === undefined ? undefined : keyOfEvent(event);
  // An event of the kind changes one object; events of other kinds (Namespace, mesh config) can change which objects
  // filters admit.
  if (own?.kind === kind)
    return before.objects[kind].get(own.key) === after.objects[kind].get(own.key) ? [] : [own.key];
  const keys: string[] = [];
  for (const [key, obj] of after.objects[kind].entries()) {
    if (!sameContent(before.objects[kind].get(key), obj)) keys.push(key);
  }
  for (const key of before.objects[kind].keys()) if (!after.objects[kind].has(key)) keys.push(key);
  return keys.sort();
}

function keyOfEvent(event: Event): { readonly kind: string; readonly key: string } | undefined {
  const isObjectEvent = event.kind === 'Add' || event.kind === 'Update' || event.kind === 'Delete';
  if (!isObjectEvent) return undefined;
  const record = recordKeyOf(event.source, event.kind === 'Delete' ? event.ref : rawRef(event.object));
  const [kind, key] = record?.split('|') ?? [];
  return kind === undefined || key === undefined ? undefined : { kind, key };
}
