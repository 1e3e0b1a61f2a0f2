// A state as canonical facts, and back: positions, settings and mesh, interned values and lists of names, proxies,
// accepted objects as received and refused newer versions beside them.
//
// Not a dump of State: restoring decodes and validates again, so a snapshot survives releases, and it contains no index
// and no derived value. Invariant: two states are equal if and only if their snapshots are equal, line by line in
// canonical JSON. A state hash covers those lines. So a field of State that does not follow from others is in
// `snapshotOf` and in `restoreFact`, and an absent member is left out (`compact`), since JSON knows no undefined.

import { assert } from '../base/assert.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import type { Origin } from '../base/problem.ts';
import { settingsFromJson, settingsToJson } from '../mesh/settings.ts';
import type { Proof } from '../model/caller.ts';
import type { ProxyRecord, Subscription } from '../model/proxy.ts';
import type { WorldPosition } from '../model/world-position.ts';
import type { MalformedFile, State } from '../state.ts';
import { restoreMesh, restoreNetworks } from './apply-mesh.ts';
import { connectProxy } from './apply-proxy.ts';
import { withSettings } from './apply-settings.ts';
import { withList, withUse } from './name-lists.ts';
import type { Version } from './record.ts';

/** Raised when a fact changes its meaning. Restoring supports every format ever written. */
export const SNAPSHOT_FORMAT = 1;

export interface SourcedFact {
  readonly source: string;
  readonly fact: JsonObject;
}

/**
 * The facts in the order that restoring needs (`Engine`, `Interned` and `Names` before `Proxy`), lazily: the caller may
 * pause between two.
 */
export function* snapshotOf(state: State): IterableIterator<SourcedFact> {
  const ours = (fact: JsonObject): SourcedFact => ({ source: 'runtime', fact });
  yield ours({ kind: 'Position', seq: state.seq, time: state.time });
  if (state.worldLog !== undefined) yield ours({ kind: 'WorldLog', ...state.worldLog });
  yield ours({ kind: 'Engine', settings: settingsToJson(state.settings) });
  for (const [kind, value] of [
    ['MeshConfig', state.mesh],
    ['MeshNetworks', state.networks],
  ] as const) {
    yield ours(compact({ kind, at: value.at, value: value.raw, refused: value.refused as unknown as Json }));
    for (const layer of ['configMap', 'shared'] as const) {
      const layerRecord = value.others?.[layer];
      if (layerRecord === undefined) continue;
      const { at, raw, refused } = layerRecord;
      yield ours(compact({ kind, layer, at, value: raw, refused: refused as unknown as Json }));
    }
  }
  for (const record of state.records.values()) {
    yield {
      source: record.source,
      fact: compact({
        kind: 'Object',
        object: record.raw,
        origin: record.origin as unknown as Json,
        at: record.acceptedAt,
        writtenAt: record.writtenAt,
        refused: record.refused as unknown as Json,
      }),
    };
  }
  for (const [source, at] of state.synced.entries()) yield { source, fact: { kind: 'Synced', at } };
  for (const [key, value] of state.malformed.entries()) {
    yield {
      source: key.slice(0, key.indexOf('|')),
      fact: compact({ kind: 'Malformed', ...(value as unknown as JsonObject) }),
    };
  }
  for (const [digest, value] of state.interned.entries()) yield ours({ kind: 'Interned', digest, value });
  for (const [digest, { names }] of state.nameLists.entries()) yield ours({ kind: 'Names', digest, names });
  for (const proxy of state.proxies.values()) yield { source: 'xds', fact: proxyFact(proxy) };
  for (const [seq, reason] of state.rejected.entries()) yield ours({ kind: 'Rejected', seq, reason });
}

/** Applies a fact of any kind but `Object`; restore.ts handles those in bulk. */
export function restoreFact(state: State, source: string, fact: JsonObject): State {
  switch (fact.kind) {
    case 'Position':
      return { ...state, seq: Number(fact.seq), time: Number(fact.time) };
    case 'WorldLog': {
      const { kind: _, ...position } = fact;
      return { ...state, worldLog: position as unknown as WorldPosition };
    }
    case 'Engine':
      return withSettings(state, settingsFromJson(objectOf(fact.settings)));
    case 'MeshConfig':
      return restoreMesh(state, fact);
    case 'MeshNetworks':
      return restoreNetworks(state, fact);
    case 'Synced':
      return { ...state, synced: state.synced.with(source, Number(fact.at)) };
    case 'Malformed': {
      const { kind: _, ...value } = fact;
      const malformed = value as unknown as MalformedFile;
      return { ...state, malformed: state.malformed.with(`${source}|${malformed.origin.file}`, malformed) };
    }
    case 'Interned':
      return { ...state, interned: state.interned.with(String(fact.digest), fact.value ?? null) };
    case 'Names': {
      const names = Array.isArray(fact.names) ? fact.names.map(String) : [];
      return { ...state, nameLists: withList(state.nameLists, String(fact.digest), names) };
    }
    case 'Proxy':
      return restoreProxy(state, fact);
    case 'Rejected':
      return { ...state, rejected: state.rejected.with(String(fact.seq), String(fact.reason)) };
    default:
      return assertKnown(fact);
  }
}

/** The versions that a fact of kind `Object` holds: the accepted one, then the refused one. */
export function restoredObjects(source: string, fact: JsonObject): readonly Version[] {
  const { object, at, origin, refused } = fact;
  const found: Version[] = [];
  if (isObject(object))
    found.push({ source, object, seq: Number(at), origin: origin as unknown as Origin | undefined });
  if (isObject(refused) && isObject(refused.raw)) {
    const { raw, at: seq, origin: place } = refused;
    found.push({ source, object: raw, seq: Number(seq), origin: place as unknown as Origin | undefined });
  }
  return found;
}

function proxyFact(proxy: ProxyRecord): JsonObject {
  return compact({
    kind: 'Proxy',
    connection: proxy.connection,
    at: proxy.connectedAt,
    protocol: proxy.protocol,
    node: proxy.node,
    extensions: proxy.extensionsDigest,
    identities: proxy.identities,
    proof: proxy.proof as unknown as JsonObject | undefined,
    subscriptions: Object.fromEntries(
      Object.entries(proxy.subscriptions).map(([typeUrl, { wildcard, names, list }]) => [
        typeUrl,
        list === undefined ? { wildcard, names } : { wildcard, list },
      ]),
    ),
    nacks: proxy.nacks as unknown as JsonObject,
  });
}

function restoreProxy(state: State, fact: JsonObject): State {
  const connection = String(fact.connection);
  const [next] = connectProxy(state, {
    seq: Number(fact.at),
    time: state.time,
    source: 'xds',
    kind: 'ProxyConnected',
    connection,
    node: objectOf(fact.node),
    protocol: fact.protocol === 'delta' ? 'delta' : 'sotw',
    extensions: typeof fact.extensions === 'string' ? fact.extensions : undefined,
    identities: Array.isArray(fact.identities) ? fact.identities.map(String) : [],
    ...(isObject(fact.proof) ? { proof: fact.proof as unknown as Proof } : {}),
  });
  const proxy = next.proxies.get(connection);
  if (proxy === undefined) return next;
  let { nameLists } = next;
  const subscriptions: Record<string, Subscription> = {};
  for (const [typeUrl, subscription] of Object.entries(objectOf(fact.subscriptions))) {
    const { wildcard, names, list } = objectOf(subscription) as unknown as Subscription;
    const listed = list === undefined ? undefined : nameLists.get(list)?.names;
    subscriptions[typeUrl] = listed === undefined ? { wildcard, names } : { wildcard, names: listed, list };
    nameLists = withUse(nameLists, list);
  }
  const full: ProxyRecord = { ...proxy, subscriptions, nacks: objectOf(fact.nacks) as unknown as ProxyRecord['nacks'] };
  return { ...next, nameLists, proxies: next.proxies.with(connection, full) };
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Without undefined members, so that a fact equals itself after a trip through JSON. */
function compact(fact: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fact).filter(([, value]) => value !== undefined));
}

function assertKnown(fact: JsonObject): never {
  assert(false, `snapshot fact of unknown kind ${JSON.stringify(fact.kind)}: written by a newer release?`);
  throw new Error('unreachable');
}
