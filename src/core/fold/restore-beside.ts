// Restores a snapshot beside a state of the same journal that is known already: what both have in common is not
// decoded, judged and indexed again, and keeps its identity, so that what was generated of it stays valid.
//
// Invariant: `finish` returns the state that `restore` returns for the same facts (law 6). A record is taken over only
// if the fact says of it, value by value, what it holds. Where mesh or settings differ, which decide what is in force,
// everything is restored anew.

import { isObject, type JsonObject, jsonEqual } from '../base/json.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { definitionOf } from '../kinds/registry.ts';
import type { Applied } from '../mesh/mesh-config.ts';
import { settingsToJson } from '../mesh/settings.ts';
import type { KindName } from '../model/kind.ts';
import type { ObjectRecord } from '../model/object.ts';
import { emptyState, type State } from '../state.ts';
import { settleAll } from './in-force.ts';
import { clusterOf, keyFor, presumedName, recordKey, sameObjects, type Version } from './record.ts';
import { Restoring } from './restore.ts';
import { restoredObjects, restoreFact } from './snapshot.ts';
import { recordAfterAll } from './versions.ts';

interface Place {
  readonly definition: KindDefinition;
  /** As in `State.records`. */
  readonly key: string;
}

export class RestoringBeside {
  readonly #near: State;
  /** Without objects and records. */
  #state: State = emptyState;
  readonly #records = new Map<string, ObjectRecord>();
  /** Everything is restored anew. Undefined until the first object: what stands before it decides. */
  #anew: Restoring | undefined;
  #isDecided = false;

  constructor(near: State) {
    this.#near = near;
  }

  /** Facts in the order of `snapshotOf`. */
  fact(source: string, fact: JsonObject): void {
    if (fact.kind === 'Object' && !this.#isDecided) {
      this.#isDecided = true;
      if (!isAlike(this.#state, this.#near)) this.#anew = new Restoring(this.#state);
    }
    if (this.#anew !== undefined) this.#anew.fact(source, fact);
    else if (fact.kind === 'Object') this.#object(source, fact);
    else this.#state = restoreFact(this.#state, source, fact);
  }

  /** Throws as `Restoring` does. */
  finish(): State {
    if (this.#anew !== undefined) return this.#anew.finish();
    const isUsable = isAlike(this.#state, this.#near);
    const near = isUsable ? this.#near : emptyState;
    const keys = new Map<KindName, Set<string>>();
    const note = ({ kind, key }: ObjectRecord): void => {
      const ofKind = keys.get(kind);
      if (ofKind === undefined) keys.set(kind, new Set([key]));
      else ofKind.add(key);
    };
    const gone: string[] = [];
    for (const [key, record] of near.records.entries()) {
      if (this.#records.has(key)) continue;
      gone.push(key);
      note(record);
    }
    const put: [string, ObjectRecord][] = [];
    for (const [key, record] of this.#records) {
      const before = near.records.get(key);
      if (before === record) continue;
      put.push([key, record]);
      note(record);
    }
    put.sort(([a], [b]) => (a < b ? -1 : 1));
    const { mesh, networks, settings, objects, indexes } = near;
    const common = isUsable ? { mesh, settings } : {};
    const sameNetworks = isSame(networks, this.#state.networks) ? { networks } : {};
    const records = near.records.changed(gone, put);
    return settleAll({ ...this.#state, ...common, ...sameNetworks, objects, indexes, records }, keys);
  }

  #object(source: string, fact: JsonObject): void {
    const { writtenAt } = fact;
    for (const version of restoredObjects(source, fact)) {
      const place = placeOf(version);
      if (place === undefined) continue;
      const { definition, key } = place;
      const near = this.#near.records.get(key);
      if (near !== undefined && saysOf(near, fact)) {
        this.#records.set(key, near);
        return;
      }
      const record = recordAfterAll(this.#records.get(key), definition, [version]);
      if (record === undefined) continue;
      const isWritten = typeof writtenAt === 'number' && record.accepted !== undefined;
      this.#records.set(key, withAcceptedOf(near, isWritten ? { ...record, writtenAt } : record));
    }
  }
}

function placeOf(version: Version): Place | undefined {
  const { object, source } = version;
  const definition = isObject(object) ? definitionOf(object.apiVersion, object.kind) : undefined;
  const name = definition && presumedName(definition, version);
  if (definition === undefined || name === undefined) return undefined;
  const slash = name.indexOf('/');
  const key = keyFor(definition, clusterOf(source), name.slice(0, slash), name.slice(slash + 1));
  return { definition, key: recordKey(definition.kind, key, source) };
}

/** Refused versions are judged anew. */
function saysOf(record: ObjectRecord, { object, at, writtenAt, origin, refused }: JsonObject): boolean {
  if (refused !== undefined || record.refused !== undefined || record.accepted === undefined) return false;
  if (record.acceptedAt !== at || record.writtenAt !== writtenAt) return false;
  return jsonEqual(record.raw, object) && jsonEqual(record.origin as never, origin);
}

/** Identity is version: what is equal stays the same object. */
function withAcceptedOf(near: ObjectRecord | undefined, record: ObjectRecord): ObjectRecord {
  const [known, accepted] = [near?.accepted, record.accepted];
  if (known === undefined || accepted === undefined || !sameObjects(known, accepted)) return record;
  return { ...record, accepted: known };
}

/** Mesh and settings, by which objects are filtered and judged. */
function isAlike(a: State, b: State): boolean {
  return isSame(a.mesh, b.mesh) && jsonEqual(settingsToJson(a.settings), settingsToJson(b.settings));
}

function isSame<T extends object>(a: Applied<T>, b: Applied<T>): boolean {
  const said = ({ at, raw, refused, others }: Applied<T>): readonly unknown[] => [at, raw, refused, others];
  return jsonEqual(said(a) as never, said(b) as never);
}
