// One hash over what the world log decides of a state: equal on every replica at the same position, whatever proxies
// it serves and whatever numbers its own journal gave the events.

import { createHash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { snapshotOf } from '../core/fold/snapshot.ts';
import type { State } from '../core/state.ts';
import { isLocalSource } from './which-log.ts';

const WORLD_FACTS: ReadonlySet<string> = new Set([
  'WorldLog',
  'Engine',
  'MeshConfig',
  'MeshNetworks',
  'Object',
  'Synced',
  'Malformed',
]);
/** Numbers of the replica's own journal. */
const LOCAL_FIELDS: ReadonlySet<string> = new Set(['at', 'writtenAt']);

/** Hex sha256. Reads the whole state. */
export function worldDigest(state: State): string {
  const hash = createHash('sha256');
  for (const { source, fact } of snapshotOf(state)) {
    if (!WORLD_FACTS.has(String(fact.kind)) || isLocalSource(source)) continue;
    hash.update(`${source} ${canonicalJson(withoutLocal(fact))}\n`);
  }
  return hash.digest('hex');
}

function withoutLocal(fact: JsonObject): JsonObject {
  const kept: [string, Json | undefined][] = [];
  for (const [name, value] of Object.entries(fact)) {
    if (LOCAL_FIELDS.has(name)) continue;
    kept.push([name, name === 'refused' && isObject(value) ? withoutLocal(value) : value]);
  }
  return Object.fromEntries(kept);
}
