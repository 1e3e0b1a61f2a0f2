// Objects of a cluster, read and written as those of other stores (core/stores/config-store.ts), by its API server:
// each write is one request, and its result is in the state once the watch has shown it.
//
// Two writers are kept apart by the server's resourceVersion. `get` asks the server, because the state holds
// projections only: an update made of one would remove what Periplus does not read. Failures that are no answer to the
// write (no right, no connection, 5xx) reject with a KubeFault.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { mergePatch } from '../../../core/base/merge-patch.ts';
import { problem } from '../../../core/base/problem.ts';
import type { RawObject } from '../../../core/event.ts';
import { definitionOf, definitions } from '../../../core/kinds/registry.ts';
import type { KindName } from '../../../core/model/kind.ts';
import type { State } from '../../../core/state.ts';
import type { ConfigStore, ObjectName, StoreError } from '../../../core/stores/config-store.ts';
import { readOnly, sourceStore } from '../../../core/stores/state-store.ts';
import { MANAGER } from '../../../core/wishes/wish.ts';
import type { Api, WriteApi, WriteRequest } from '../api.ts';
import { CONFLICT, failureOf, NOT_FOUND } from '../failure.ts';
import { WRITE_ANSWER_BYTES_MAX } from '../limits.ts';
import { pathOf, type Resource } from '../resource.ts';
import type { ClusterConfigStore, ClusterWritten } from './cluster-config-store.ts';
import { deleteOptions, MERGE_PATCH, objectPath } from './requests.ts';

const INVALID: readonly number[] = [400, 422];

export interface ClusterStoreOptions {
  readonly cluster: string;
  readonly api: Pick<Api, 'get'> & WriteApi;
  /** Undefined: the kind is not served, or not found yet. */
  readonly resource: (kind: KindName) => Resource | undefined;
}

export class ClusterStore implements ClusterConfigStore {
  readonly #options: ClusterStoreOptions;
  readonly #signal = new AbortController().signal;

  constructor(options: ClusterStoreOptions) {
    this.#options = options;
  }

  /** The objects as the watches have shown them, read-only. */
  observed(state: State): ConfigStore {
    return readOnly(sourceStore(state, `kube/${this.#options.cluster}`));
  }

  /** As the server has it now. */
  async get(name: ObjectName): Promise<Either<StoreError, RawObject>> {
    const path = this.#pathOf(name);
    if (path === undefined) return left(notServed(name));
    try {
      const options = { signal: this.#signal, bytesMax: WRITE_ANSWER_BYTES_MAX };
      return right((await this.#options.api.get(path, {}, options)) as RawObject);
    } catch (error) {
      if (failureOf(error).status === NOT_FOUND) return left({ kind: 'NotFound', object: shown(name) });
      throw error;
    }
  }

  async create(object: RawObject): ClusterWritten {
    const name = nameOf(object);
    const collection = name === undefined ? undefined : this.#pathOf({ ...name, name: '' }, object);
    if (name === undefined || collection === undefined) return left(unknown(object));
    return this.#write(name, { method: 'POST', path: collection, body: object });
  }

  /** Everything but the status, as a whole. `metadata.resourceVersion`, if given, must be the current one. */
  async update(object: RawObject): ClusterWritten {
    return this.#replace(object, '');
  }

  /** The status alone. */
  async updateStatus(object: RawObject): ClusterWritten {
    return this.#replace(object, 'status');
  }

  /** A JSON merge patch (RFC 7386); a `metadata.resourceVersion` in it is a precondition. */
  async patch(name: ObjectName, patch: Json): ClusterWritten {
    const path = this.#pathOf(name);
    if (path === undefined) return left(notServed(name));
    return this.#write(name, { method: 'PATCH', path, body: patch, contentType: MERGE_PATCH });
  }

  /** `resourceVersion`, if given, must be the current one. */
  async delete(name: ObjectName, resourceVersion = ''): ClusterWritten {
    const path = this.#pathOf(name);
    if (path === undefined) return left(notServed(name));
    const written = await this.#write(name, { method: 'DELETE', path, body: deleteOptions({ resourceVersion }) });
    return written._tag === 'Left' ? written : right(undefined);
  }

  /** Without a version the newest is replaced, whatever it is: the server asks for one of custom resources. */
  async #replace(object: RawObject, subresource: '' | 'status'): ClusterWritten {
    const name = nameOf(object);
    const path = name === undefined ? undefined : this.#pathOf(name, object, subresource);
    if (name === undefined || path === undefined) return left(unknown(object));
    let body = object;
    if (versionOf(object) === '') {
      const current = await this.get(name);
      if (current._tag === 'Left') return current;
      body = mergePatch(object, { metadata: { resourceVersion: versionOf(current.right) } }) as JsonObject;
    }
    return this.#write(name, { method: 'PUT', path, body });
  }

  async #write(name: ObjectName, request: WriteRequest): ClusterWritten {
    try {
      const query = request.method === 'DELETE' ? {} : { fieldManager: MANAGER };
      return right((await this.#options.api.write({ ...request, query }, { signal: this.#signal })) as RawObject);
    } catch (error) {
      const { status, reason, message } = failureOf(error);
      const object = shown(name);
      if (status === NOT_FOUND) return left({ kind: 'NotFound', object });
      if (INVALID.includes(status)) return left({ kind: 'Invalid', object, problems: [problem('', message)] });
      if (status !== CONFLICT) throw error;
      if (request.method === 'POST' && reason !== 'Conflict') return left({ kind: 'AlreadyExists', object });
      const current = await this.get(name);
      if (current._tag === 'Left') return current;
      return left({ kind: 'Conflict', object, given: givenVersion(request), current: versionOf(current.right) });
    }
  }

  /** In the version of `object`, if there is one, else in the one that is watched. */
  #pathOf({ kind, namespace, name }: ObjectName, object?: RawObject, subresource = ''): string | undefined {
    const resource = this.#options.resource(kind);
    if (resource === undefined) return undefined;
    const plural = resource.path.slice(resource.path.lastIndexOf('/') + 1);
    const version = typeof object?.apiVersion === 'string' ? object.apiVersion.split('/').at(-1) : undefined;
    const path = version === undefined ? resource.path : `${pathOf(definitions[kind].group, version)}/${plural}`;
    return objectPath({ path }, namespace, name, subresource);
  }
}

function nameOf(object: RawObject): ObjectName | undefined {
  const definition = definitionOf(object.apiVersion, object.kind);
  const { name, namespace } = isObject(object.metadata) ? object.metadata : {};
  if (definition === undefined || typeof name !== 'string') return undefined;
  const owner = definition.clusterScoped
    ? ''
    : typeof namespace === 'string' && namespace !== ''
      ? namespace
      : 'default';
  return { kind: definition.kind, namespace: owner, name };
}

function versionOf(object: Json | undefined): string {
  const metadata = isObject(object) && isObject(object.metadata) ? object.metadata : {};
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '';
}

function givenVersion({ method, body }: WriteRequest): string {
  if (method !== 'DELETE') return versionOf(body);
  const preconditions = isObject(body) && isObject(body.preconditions) ? body.preconditions : {};
  return typeof preconditions.resourceVersion === 'string' ? preconditions.resourceVersion : '';
}

function unknown(object: RawObject): StoreError {
  const what = `${String(object.kind)} of ${String(object.apiVersion)}`;
  return { kind: 'Invalid', object: what, problems: [problem('', 'has no name, or is of a kind that is not served')] };
}

function notServed(name: ObjectName): StoreError {
  return { kind: 'NotFound', object: shown(name) };
}

function shown({ kind, namespace, name }: ObjectName): string {
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
