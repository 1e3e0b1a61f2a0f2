// An API server in memory: the list/watch protocol with versions, pages, bookmarks and compaction, discovery and
// definitions, and every way we know of in which real ones misbehave. It stands where HTTP would be; nothing of the
// adapter is used but its interface.

import { setMaxListeners } from 'node:events';
import type {
  Api,
  GetOptions,
  Query,
  RequestLimits,
  WatchStream,
  WriteApi,
  WriteRequest,
} from '../../src/adapters/kube/api.ts';
import { DEFINITIONS_PATH } from '../../src/adapters/kube/custom-resources.ts';
import { KubeFault } from '../../src/adapters/kube/failure.ts';
import { builtInKinds, customKinds, pathOf } from '../../src/adapters/kube/resource.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { RawObject } from '../../src/core/event.ts';
import type { KindDefinition } from '../../src/core/kinds/definition.ts';
import { written } from './fake-writes.ts';
import type { VirtualTime } from './virtual-time.ts';

const BOOKMARK_MS = 60_000;
const MODIFIED = 'MODIFIED';

interface Change {
  readonly version: number;
  readonly type: string;
  readonly collection: string;
  readonly object: JsonObject;
}

class Stream implements WatchStream {
  readonly collection: string;
  readonly seen: string[] = [];
  #lines: string[] = [];
  #waiting: (() => void) | undefined;
  #end: 'no' | 'ended' | 'broken' = 'no';
  #muted = false;

  constructor(collection: string) {
    this.collection = collection;
  }

  /** The peer is gone and the network does not say so. */
  mute(): void {
    this.#muted = true;
  }

  say(line: string): void {
    if (this.#end !== 'no' || this.#muted) return;
    this.#lines.push(line);
    this.seen.push(line);
    this.#waiting?.();
  }

  finish(how: 'ended' | 'broken'): void {
    if (this.#muted) return;
    if (this.#end === 'no') this.#end = how;
    this.#waiting?.();
  }

  get open(): boolean {
    return this.#end === 'no';
  }

  async next(): Promise<readonly string[] | undefined> {
    for (;;) {
      if (this.#lines.length > 0) return this.#lines.splice(0);
      if (this.#end === 'ended') return undefined;
      if (this.#end === 'broken') throw new KubeFault({ status: 0, message: 'the connection was reset' });
      await new Promise<void>(resolve => {
        this.#waiting = resolve;
      });
    }
  }

  close(): void {
    this.#muted = false;
    this.finish('ended');
  }
}

export class FakeApiServer implements Api, WriteApi {
  readonly #time: VirtualTime;
  #version = 100;
  /** Versions up to here are forgotten. */
  #compacted = 0;
  #changes: Change[] = [];
  readonly #objects = new Map<string, { readonly collection: string; readonly object: JsonObject }>();
  readonly #streams = new Set<Stream>();
  readonly requests: string[] = [];
  /** Writes that were carried out: method, path and body. */
  readonly writes: string[] = [];
  /** Statuses of the next writes, instead of what they ask for. */
  readonly writeFailures: number[] = [];
  /** Answers to the next requests, instead of what they ask for. */
  readonly failures: number[] = [];
  /** Statuses by path, for every request there. */
  readonly refused = new Map<string, number>();
  #silent = false;
  #down = false;

  constructor(time: VirtualTime, kinds: readonly KindDefinition[] = customKinds) {
    this.#time = time;
    for (const kind of kinds) this.define(kind);
  }

  /** Watches are taken and nothing is ever said on them, nor on those that are open, also later. */
  set silent(silent: boolean) {
    this.#silent = silent;
    if (silent) for (const stream of this.#streams) stream.mute();
  }

  get silent(): boolean {
    return this.#silent;
  }

  /** No connection is possible, and those that are open break. */
  set down(down: boolean) {
    this.#down = down;
    if (down) this.drop('broken');
  }

  get down(): boolean {
    return this.#down;
  }

  /** For canaries: no real server does this. */
  setUnseen(object: RawObject): void {
    const streams = [...this.#streams];
    this.#streams.clear();
    this.set(object);
    for (const stream of streams) this.#streams.add(stream);
  }

  define(kind: KindDefinition, versions = kind.versions): void {
    const { group, objectKind = kind.kind } = kind;
    const plural = fakePlural(objectKind);
    this.set({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, names: { kind: objectKind, plural }, versions: versions.map(name => ({ name, served: true })) },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
  }

  /** The definition goes, and its objects before it. */
  undefine(kind: KindDefinition): void {
    const { group, objectKind = kind.kind } = kind;
    const plural = fakePlural(objectKind);
    for (const [key, { collection, object }] of [...this.#objects]) {
      if (collection === `${group}/${plural}`) this.#remove(key, collection, object);
    }
    this.remove({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
    });
  }

  set(given: RawObject): void {
    const { key, collection } = placeOf(given);
    const known = this.#objects.has(key);
    const version = ++this.#version;
    const object = { ...given, metadata: { ...(given.metadata as JsonObject), resourceVersion: String(version) } };
    this.#objects.set(key, { collection, object });
    this.#tell({ version, type: known ? MODIFIED : 'ADDED', collection, object });
  }

  remove(given: RawObject): void {
    const { key, collection } = placeOf(given);
    const known = this.#objects.get(key);
    if (known !== undefined) this.#remove(key, collection, known.object);
  }

  /** Forgets the history: an older watch or page is answered with 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#changes = [];
  }

  drop(how: 'ended' | 'broken'): void {
    for (const stream of this.#streams) stream.finish(how);
  }

  /** Every event of the open watches is sent again. */
  repeat(): void {
    for (const stream of this.#streams) for (const line of [...stream.seen]) stream.say(line);
  }

  /** The store is set back to a younger counter, as after a restore from a backup; the objects stay. */
  setBack(by: number): void {
    this.#version = Math.max(1, this.#version - by);
    this.#compacted = 0;
    this.#changes = [];
    this.drop('broken');
  }

  async get(path: string, query: Query, { signal }: GetOptions): Promise<Json> {
    this.#admit(path, query, signal);
    const document = documentAt(path);
    if (document !== undefined) return document;
    const one = splitPath(path);
    if (one.name !== '' && !path.startsWith(DEFINITIONS_PATH)) return this.object(path);
    if (path.startsWith(`${DEFINITIONS_PATH}/`)) return this.#definition(path.slice(DEFINITIONS_PATH.length + 1));
    return this.#list(this.#collectionAt(one.collection), query, one.namespace);
  }

  /** One object, as a GET has it. */
  object(path: string): JsonObject {
    const found = this.#objects.get(this.#keyAt(path));
    if (found === undefined) throw new KubeFault({ status: 404, message: `${path}: not found`, reason: 'NotFound' });
    return found.object;
  }

  async write(request: WriteRequest, { signal }: RequestLimits): Promise<Json> {
    const { method, path, body = {} } = request;
    if (signal.aborted) throw new KubeFault({ status: 0, message: 'given up' });
    if (this.#down) throw new KubeFault({ status: 0, message: 'connection refused' });
    const status = this.refused.get(`${method} ${path}`) ?? this.writeFailures.shift();
    if (status !== undefined) throw new KubeFault({ status, message: `${method} ${path}: ${status}` });
    const name = method === 'POST' ? String((body as { metadata?: JsonObject }).metadata?.name) : '';
    const key = this.#keyAt(name === '' ? path : `${path}/${name}`);
    const before = this.#objects.get(key);
    const after = written(request, before?.object);
    this.writes.push(`${method} ${path} ${JSON.stringify(body)}`);
    if (after === undefined) this.#remove(key, before!.collection, before!.object);
    else if (after !== before?.object) this.set(after);
    return this.#objects.get(key)?.object ?? { kind: 'Status', status: 'Success' };
  }

  #keyAt(path: string): string {
    const { collection, namespace, name } = splitPath(path);
    return `${this.#collectionAt(collection)}/${namespace}/${name}`;
  }

  async watch(path: string, query: Query, { signal }: RequestLimits): Promise<WatchStream> {
    this.#admit(path, { ...query, watch: 'true' }, signal);
    const collection = this.#collectionAt(splitPath(path).collection);
    const stream = new Stream(collection);
    // Those that have ended stay: as many as a test has watches.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => stream.close());
    if (this.#silent) {
      stream.mute();
      return stream;
    }
    const from = Number(query.resourceVersion);
    if (from < this.#compacted) {
      stream.say(line('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }));
      stream.finish('ended');
      return stream;
    }
    this.#streams.add(stream);
    for (const change of this.#changes) {
      if (change.version > from && change.collection === collection) stream.say(line(change.type, change.object));
    }
    const bookmark = (): void => {
      if (!stream.open) return;
      stream.say(line('BOOKMARK', { metadata: { resourceVersion: String(this.#version) } }));
      this.#time.after(BOOKMARK_MS, bookmark);
    };
    this.#time.after(BOOKMARK_MS, bookmark);
    this.#time.after(Number(query.timeoutSeconds) * 1_000, () => stream.finish('ended'));
    return stream;
  }

  #admit(path: string, query: Query, signal: AbortSignal): void {
    this.requests.push(`${path} ${JSON.stringify(query)}`);
    if (signal.aborted) throw new KubeFault({ status: 0, message: 'given up' });
    if (this.#down) throw new KubeFault({ status: 0, message: 'connection refused' });
    const status = this.refused.get(path) ?? this.failures.shift();
    if (status !== undefined) throw new KubeFault({ status, message: `${path}: ${status}` });
  }

  #list(collection: string, query: Query, namespace: string): JsonObject {
    const all = [...this.#objects.entries()]
      .filter(([key, entry]) => entry.collection === collection && key.startsWith(`${collection}/${namespace}`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { object }]) => object);
    // A token names the version of its list; after a compaction that is gone. (The pages of the fake are of the newest
    // state all the same, unless something was written in between: then the token is as good as expired.)
    const [version, offset] = (query.continue || `${this.#version}:0`).split(':').map(Number) as [number, number];
    if (version !== this.#version || version < this.#compacted) {
      throw new KubeFault({ status: 410, message: 'the continue token has expired' });
    }
    const limit = query.limit === undefined ? all.length : Number(query.limit);
    const next = offset + limit < all.length ? `${version}:${offset + limit}` : '';
    const items = all.slice(offset, offset + limit).map(({ apiVersion: _, kind: __, ...item }) => item);
    return { kind: 'List', metadata: { resourceVersion: String(version), continue: next }, items };
  }

  #definition(name: string): JsonObject {
    const found = this.#objects.get(`apiextensions.k8s.io/customresourcedefinitions//${name}`);
    if (found === undefined) throw new KubeFault({ status: 404, message: `${name} not found`, reason: 'NotFound' });
    return found.object;
  }

  #collectionAt(path: string): string {
    const [, , group, version, plural] = path.startsWith('/api/')
      ? `/apis//${path.slice(5)}`.split('/')
      : path.split('/');
    const collection = `${group}/${plural}`;
    const definition = this.#objects.get(`apiextensions.k8s.io/customresourcedefinitions//${plural}.${group}`);
    const versions = (definition?.object.spec as { versions?: readonly { name: string }[] } | undefined)?.versions;
    const builtIn =
      group === 'apiextensions.k8s.io' ||
      group === 'coordination.k8s.io' ||
      builtInKinds.some(kind => kind.group === group);
    const served = builtIn || versions?.some(({ name }) => name === version);
    if (!served) throw new KubeFault({ status: 404, message: `${path}: 404 page not found` });
    return collection;
  }

  #remove(key: string, collection: string, object: JsonObject): void {
    this.#objects.delete(key);
    const version = ++this.#version;
    const gone = { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(version) } };
    this.#tell({ version, type: 'DELETED', collection, object: gone });
  }

  #tell(change: Change): void {
    this.#changes.push(change);
    for (const stream of this.#streams) {
      if (stream.collection === change.collection) stream.say(line(change.type, change.object));
    }
  }
}

function fakePlural(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

function line(type: string, object: JsonObject): string {
  return JSON.stringify({ type, object });
}

function placeOf(object: RawObject): { readonly key: string; readonly collection: string } {
  const apiVersion = String(object.apiVersion);
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const collection = `${group}/${fakePlural(String(object.kind))}`;
  const { namespace = '', name } = object.metadata as { readonly namespace?: string; readonly name: string };
  return { key: `${collection}/${namespace}/${name}`, collection };
}

/** `/api/v1/namespaces/a/configmaps/b/status` → `/api/v1/configmaps`, `a`, `b`; the name is empty for a collection. */
function splitPath(path: string): { readonly collection: string; readonly namespace: string; readonly name: string } {
  const parts = path.split('/');
  const head = parts.slice(0, path.startsWith('/api/') ? 3 : 4);
  const rest = parts.slice(head.length);
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [plural = '', name = ''] = isNamespaced ? rest.slice(2) : rest;
  return { collection: [...head, plural].join('/'), namespace: isNamespaced ? rest[1]! : '', name };
}

function documentAt(path: string): JsonObject | undefined {
  const kinds = builtInKinds.filter(({ group, versions }) => versions.some(version => pathOf(group, version) === path));
  if (kinds.length === 0) return undefined;
  return {
    kind: 'APIResourceList',
    resources: kinds.map(({ kind, objectKind = kind }) => ({ name: fakePlural(objectKind), kind: objectKind })),
  };
}
