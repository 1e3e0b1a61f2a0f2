// The controller side of a config store: whoever wants to know of changes registers a handler for a kind and is called for each change of
// an object in force, in the order of the journal. A change is what differs between two states, so an object that a filter, or a source
// with precedence, takes away is a delete like any other.

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

  /** `sources`: those that must have said everything before all is in sync, e.g. `file/Kubernetes`. */
  constructor(world: Pick<World, 'state' | 'listen'>, sources: readonly string[]) {
    this.#world = world;
    this.#sources = sources;
    world.listen({
      // While events of a gap in the journal are folded once more, states come that the handlers are past already: only the last counts.
      onEvent: (before, event, after) => {
        if (this.#seen === before) this.#follow(after, event);
      },
      onFolded: state => this.#follow(state, undefined),
    });
  }

  /** The objects in force right now, for reading; writes are recorded through the world. */
  get store(): ConfigStore {
    return readOnly(aggregateStore(this.#world.state, `runtime/${this.#world.state.settings.clusterId}`));
  }

  /** Before `run`; a handler registered later knows nothing of what was there before. */
  registerEventHandler(kind: KindName, handler: ConfigEventHandler): void {
    this.#handlers.set(kind, [...(this.#handlers.get(kind) ?? []), handler]);
  }

  /** Calls the handlers for all that is there, as adds in the order of kinds and keys, and from now on for every change. Idempotent. */
  run(): void {
    if (this.#seen !== undefined) return;
    this.#seen = this.#world.state;
    for (const kind of this.#kinds()) {
      for (const obj of this.#seen.objects[kind].values()) this.#call(kind, undefined, obj);
    }
  }

  /** Whether the source, or every source, has said all it had at the start. */
  hasSynced(source?: string): boolean {
    const { synced } = this.#world.state;
    return (source === undefined ? this.#sources : [source]).every(name => synced.has(name));
  }

  /** `event`: the one that led from the state that the handlers know to this one. Without one, as after a gap in the journal, all is compared. */
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

/** Keys under which another object is in force, in their order. */
function changedKeys(before: State, after: State, kind: KindName, event: Event | undefined): readonly string[] {
  const own = event === undefined ? undefined : keyOfEvent(event);
  // An event of the kind changes its own object; events of other kinds let objects in or out of the filters.
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
