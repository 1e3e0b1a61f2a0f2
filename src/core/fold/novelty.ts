// Drops facts that change nothing: equal values, changes outside the projection of a kind, deletions of absent objects.
// An object of an unknown kind or without a name is never dropped, nor is one that moved to another file. The facts of
// every adapter pass here first, so the dropped ones are neither journalled nor folded. Pure, so that any source can be
// replayed through it.
//
// Invariants: folding what is left gives the same objects in force, from the same files, as folding everything; a
// complete list deletes only objects of its own source, after the news of the list, and none that may stand in a part
// that could not be read; the private key of the mesh's authority is removed before anything is compared, so it never
// leaves here.

import { append } from '../base/append.ts';
import { isObject, type Json, jsonEqual } from '../base/json.ts';
import type { Fact, ObjectRef, RawObject } from '../event.ts';
import { withoutAuthorityKeys } from '../kinds/kubernetes/authority-secret.ts';
import { shapeProblem } from '../kinds/limits.ts';
import { definitionOf } from '../kinds/registry.ts';
import type { LayerRecord } from '../mesh/mesh-config.ts';
import type { KindName } from '../model/kind.ts';
import type { ObjectRecord } from '../model/object.ts';
import type { State } from '../state.ts';
import { layerRecordOf } from './apply-mesh.ts';
import { clusterOf, keyFor } from './record.ts';

/** The facts of a batch that change something, given the state and the earlier facts of the batch. */
export function newsOf(state: State, source: string, batch: readonly Fact[]): readonly Fact[] {
  return factsOf(newsIn(state, source, batch));
}

/**
 * As `newsOf`, piece by piece: the caller may yield between pieces if the state does not change. Undefined: a step that
 * gave no fact.
 */
export function* newsIn(state: State, source: string, batch: readonly Fact[]): Pieces {
  const ahead: Ahead = { objects: new Map(), others: new Map() };
  for (const received of batch) {
    const fact = withoutKeys(state, received);
    yield isNews(state, source, fact, ahead) ? trimmed(fact) : undefined;
  }
}

/** The last version of an object, and the file that it stands in. */
interface Known {
  readonly raw: RawObject;
  readonly file: string | undefined;
}

/** What the earlier facts of a batch said last; an undefined object was deleted. */
interface Ahead {
  readonly objects: Map<string, Known | undefined>;
  /** Mesh layers and problems of files. */
  readonly others: Map<string, Json>;
}

type Pieces<R = void> = Generator<Fact | undefined, R>;

/**
 * The facts of a complete list of a source: its news, and a Delete for every object of this source in the state that is
 * not in the list, unless it came from a file, or from below a folder, in `unreadable`.
 */
export function newsOfList(
  state: State,
  source: string,
  all: readonly Fact[],
  unreadable: readonly string[],
): readonly Fact[] {
  return factsOf(newsInList(state, source, all, unreadable));
}

/** As `newsOfList`, in pieces as those of `newsIn`. Objects of `kept` stay. */
export function* newsInList(
  state: State,
  source: string,
  all: readonly Fact[],
  unreadable: readonly string[],
  kept: readonly ObjectRef[] = [],
): Pieces {
  const listed = yield* keysListed(source, all);
  for (const ref of kept) listed.add(recordKeyOf(source, ref) ?? '');
  const hidden: ReadonlySet<string> = new Set(unreadable);
  const gone = yield* unlisted(state.records.values(), source, listed, hidden);
  const files = new Set(all.flatMap(fact => (fact.kind === 'Malformed' ? [fact.origin.file] : [])));
  for (const [key, { origin }] of state.malformed.entries()) {
    if (!key.startsWith(`${source}|`) || files.has(origin.file) || isBelow(origin.file, hidden)) continue;
    gone.push({ kind: 'Malformed', origin, reasons: [] });
  }
  yield* newsIn(state, source, all);
  yield* gone;
}

/** As above for some kinds of a source: objects of other kinds and of `kept` stay, and files are not affected. */
export function newsOfKinds(
  state: State,
  source: string,
  kinds: readonly KindName[],
  all: readonly Fact[],
  kept: readonly ObjectRef[] = [],
): readonly Fact[] {
  return factsOf(newsInKinds(state, source, kinds, all, kept));
}

/** As `newsOfKinds`, in pieces as those of `newsIn`. */
export function* newsInKinds(
  state: State,
  source: string,
  kinds: readonly KindName[],
  all: readonly Fact[],
  kept: readonly ObjectRef[] = [],
): Pieces {
  const listed = yield* keysListed(source, all);
  for (const ref of kept) listed.add(recordKeyOf(source, ref) ?? '');
  const gone: Fact[] = [];
  for (const kind of kinds) append(gone, yield* unlisted(state.records.range(`${kind}|`), source, listed, noFiles));
  yield* newsIn(state, source, all);
  yield* gone;
}

function factsOf(pieces: Pieces): readonly Fact[] {
  return [...pieces].filter(fact => fact !== undefined);
}

function* keysListed(source: string, all: readonly Fact[]): Pieces<Set<string>> {
  const listed = new Set<string>();
  for (const fact of all) {
    yield undefined;
    if (fact.kind !== 'Add' && fact.kind !== 'Update') continue;
    const key = recordKeyOf(source, rawRef(fact.object));
    if (key !== undefined) listed.add(key);
  }
  return listed;
}

const noFiles: ReadonlySet<string> = new Set();

/** True if the file, or a folder that it is in, is one of `paths`. */
export function isBelow(file: string, paths: ReadonlySet<string>): boolean {
  if (paths.size === 0) return false;
  for (let end = file.length; end > 0; end = file.lastIndexOf('/', end - 1)) {
    if (paths.has(file.slice(0, end))) return true;
  }
  return false;
}

/** True if the file of the mesh configuration or of the networks has content. */
export function holdsMesh(state: State, mesh: 'MeshConfig' | 'MeshNetworks'): boolean {
  return lastValue(layerRecordOf(mesh === 'MeshConfig' ? state.mesh : state.networks, undefined)) !== null;
}

/**
 * True if the state has objects of the source from the file `path`, or from below the folder `path`. Linear in the
 * records.
 */
export function holdsFrom(state: State, source: string, path: string): boolean {
  const paths = new Set([path]);
  for (const record of state.records.values()) {
    const origin = record.refused?.origin ?? record.origin;
    if (record.source === source && origin !== undefined && isBelow(origin.file, paths)) return true;
  }
  return false;
}

/** A Delete for each record of the source that is not listed. */
function* unlisted(
  records: Iterable<ObjectRecord>,
  source: string,
  listed: ReadonlySet<string>,
  unreadable: ReadonlySet<string>,
): Pieces<Fact[]> {
  const gone: Fact[] = [];
  for (const record of records) {
    yield undefined;
    if (record.source !== source || listed.has(`${record.kind}|${record.key}|${source}`)) continue;
    const origin = record.refused?.origin ?? record.origin;
    if (origin !== undefined && isBelow(origin.file, unreadable)) continue;
    const ref = rawRef(record.raw ?? record.refused?.raw ?? {});
    if (ref !== undefined) gone.push({ kind: 'Delete', ref });
  }
  return gone;
}

function isNews(state: State, source: string, fact: Fact, ahead: Ahead): boolean {
  switch (fact.kind) {
    case 'Add':
    case 'Update': {
      const key = recordKeyOf(source, rawRef(fact.object));
      if (key === undefined) return true;
      const known = knownObject(state, key, ahead);
      const now: Known = { raw: fact.object, file: fact.origin?.file };
      ahead.objects.set(key, now);
      return known === undefined || known.file !== now.file || !sameProjection(known.raw, now.raw);
    }
    case 'Delete': {
      const key = recordKeyOf(source, fact.ref);
      if (key === undefined) return false;
      const known = knownObject(state, key, ahead);
      ahead.objects.set(key, undefined);
      return known !== undefined;
    }
    case 'Malformed': {
      const key = `${source}|${fact.origin.file}`;
      const known = state.malformed.get(key);
      const before = [known?.reasons ?? [], known?.ignored ?? []];
      return changes(ahead, `Malformed|${key}`, before, [fact.reasons, fact.ignored ?? []]);
    }
    case 'MeshConfig':
    case 'MeshNetworks': {
      const layers = fact.kind === 'MeshConfig' ? state.mesh : state.networks;
      const before = lastValue(layerRecordOf(layers, fact.layer));
      return changes(ahead, `${fact.kind}|${fact.layer ?? ''}`, before, fact.value);
    }
    default:
      return true;
  }
}

/** True if the value differs from that of the earlier facts of the batch, or else from `before`, that of the state. */
function changes({ others }: Ahead, key: string, before: Json, now: Json): boolean {
  const last = others.has(key) ? (others.get(key) as Json) : before;
  others.set(key, now);
  return !jsonEqual(last, now);
}

/** Removes the private key of the mesh's authority before anything is compared or recorded. */
function withoutKeys({ settings }: State, fact: Fact): Fact {
  if ((fact.kind !== 'Add' && fact.kind !== 'Update') || fact.object.kind !== 'Secret') return fact;
  return { ...fact, object: withoutAuthorityKeys(fact.object, settings.systemNamespace) };
}

/** Of kinds with `trim` only the projection is recorded. */
function trimmed(fact: Fact): Fact {
  if (fact.kind !== 'Add' && fact.kind !== 'Update') return fact;
  const definition = definitionOf(fact.object.apiVersion, fact.object.kind);
  return definition?.trim === undefined ? fact : { ...fact, object: definition.project(fact.object) };
}

function lastValue(layer: LayerRecord): Json {
  return layer.refused?.raw ?? layer.raw ?? null;
}

/** A version beyond the limits leaves no record: the one before it counts. */
function knownObject(state: State, key: string, { objects }: Ahead): Known | undefined {
  const earlier = objects.get(key);
  if (objects.has(key) && (earlier === undefined || shapeProblem(earlier.raw) === undefined)) return earlier;
  const record = state.records.get(key);
  if (record === undefined) return undefined;
  const { raw, origin } = record.refused ?? record;
  return raw === undefined ? undefined : { raw, file: origin?.file };
}

function sameProjection(a: RawObject, b: RawObject): boolean {
  const definition = definitionOf(b.apiVersion, b.kind);
  if (definition === undefined || a.apiVersion !== b.apiVersion) return jsonEqual(a, b);
  return jsonEqual(definition.project(a), definition.project(b));
}

/** `Kind|key|source`, as in `State.records`; undefined for a kind unknown to Periplus. */
export function recordKeyOf(source: string, ref: ObjectRef | undefined): string | undefined {
  const definition = ref === undefined ? undefined : definitionOf(ref.apiVersion, ref.kind);
  if (ref === undefined || definition === undefined) return undefined;
  const namespace = definition.clusterScoped ? '' : ref.namespace || 'default';
  return `${definition.kind}|${keyFor(definition, clusterOf(source), namespace, ref.name)}|${source}`;
}

/** The identity in an object's own text; undefined if incomplete. */
export function rawRef(raw: RawObject): ObjectRef | undefined {
  const meta = raw.metadata;
  if (typeof raw.apiVersion !== 'string' || typeof raw.kind !== 'string' || !isObject(meta)) return undefined;
  if (typeof meta.name !== 'string') return undefined;
  const namespace = typeof meta.namespace === 'string' ? meta.namespace : '';
  return { apiVersion: raw.apiVersion, kind: raw.kind, namespace, name: meta.name };
}
