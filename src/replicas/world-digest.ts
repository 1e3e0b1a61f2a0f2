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

/** Facts that are hashed in one tick of the event loop: a few milliseconds. */
const FACTS_A_TURN = 200;

/** Hex sha256. Reads the whole state. */
export function worldDigest(state: State): string {
  const hash = createHash('sha256');
  for (const line of linesOf(state)) if (line !== undefined) hash.update(line);
  return hash.digest('hex');
}

/** The same, beside other work. */
export async function worldDigestInTurns(state: State): Promise<string> {
  const hash = createHash('sha256');
  let facts = 0;
  for (const line of linesOf(state)) {
    if (line !== undefined) hash.update(line);
    if (++facts % FACTS_A_TURN === 0) await new Promise<void>(resolve => setImmediate(resolve));
  }
  return hash.digest('hex');
}

/** Undefined stands for a fact that is not the world's. */
function* linesOf(state: State): IterableIterator<string | undefined> {
  for (const { source, fact } of snapshotOf(state)) {
    const counts = WORLD_FACTS.has(String(fact.kind)) && !isLocalSource(source);
    yield counts ? `${source} ${canonicalJson(withoutLocal(fact))}\n` : undefined;
  }
}

function withoutLocal(fact: JsonObject): JsonObject {
  const kept: [string, Json | undefined][] = [];
  for (const [name, value] of Object.entries(fact)) {
    if (LOCAL_FIELDS.has(name)) continue;
    kept.push([name, name === 'refused' && isObject(value) ? withoutLocal(value) : value]);
  }
  return Object.fromEntries(kept);
}
