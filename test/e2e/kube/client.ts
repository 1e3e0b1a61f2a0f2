// Writes to the API server, as kubectl would; nothing of the adapter is used here.

import { Agent, request } from 'node:https';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { definitionOf } from '../../../src/core/kinds/registry.ts';
import { pluralOf } from './custom-resource-definitions.ts';

export interface ClientOptions {
  readonly server: string;
  readonly token: string;
  readonly ca: string;
  readonly serverName: string;
}

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const PARALLEL = 32;
const MERGE_PATCH = 'application/merge-patch+json';

export class KubeClient {
  readonly #options: ClientOptions;
  readonly #agent: Agent;

  constructor(options: ClientOptions) {
    this.#options = options;
    const { ca, serverName } = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: PARALLEL, ca, servername: serverName });
  }

  async text(path: string): Promise<string> {
    return this.#send('GET', path);
  }

  async get(path: string): Promise<JsonObject> {
    return JSON.parse(await this.#send('GET', path)) as JsonObject;
  }

  /** Creates the object, or replaces what is there. Status is written too, where the server keeps it apart. */
  async put(object: JsonObject): Promise<JsonObject> {
    const collection = collectionOf(object);
    const path = pathOf(object);
    const written = await this.#createOrReplace(collection, path, object);
    if (object.status === undefined) return written;
    const status = { metadata: { resourceVersion: undefined }, status: object.status } as JsonObject;
    return JSON.parse(await this.#send('PATCH', `${path}/status`, status, MERGE_PATCH)) as JsonObject;
  }

  async putAll(objects: readonly JsonObject[]): Promise<void> {
    await inParallel(objects, object => this.put(object));
  }

  async patch(object: JsonObject, patch: JsonObject): Promise<JsonObject> {
    return JSON.parse(await this.#send('PATCH', pathOf(object), patch, MERGE_PATCH)) as JsonObject;
  }

  /** Deleting what is not there is no error. */
  async remove(object: JsonObject): Promise<void> {
    await this.#send('DELETE', `${pathOf(object)}?gracePeriodSeconds=0`).catch(ignore(404));
  }

  async post(path: string, body: JsonObject): Promise<JsonObject> {
    return JSON.parse(await this.#send('POST', path, body)) as JsonObject;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #createOrReplace(collection: string, path: string, object: JsonObject): Promise<JsonObject> {
    const known = await this.get(path).catch(ignore(404));
    if (known === undefined) return this.post(collection, object);
    const { resourceVersion } = known.metadata as { readonly resourceVersion: string };
    const metadata = { ...(object.metadata as JsonObject), resourceVersion };
    return JSON.parse(await this.#send('PUT', path, { ...object, metadata })) as JsonObject;
  }

  #send(method: string, path: string, body?: Json, contentType = 'application/json'): Promise<string> {
    const { server, token } = this.#options;
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
    return new Promise((resolve, reject) => {
      const sent = request(`${server}${path}`, { method, headers, agent: this.#agent }, response => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const status = response.statusCode ?? 0;
          if (status >= 200 && status < 300) resolve(text);
          else reject(new ApiError(status, `${method} ${path}: ${status} ${text.slice(0, 400)}`));
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const work = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

function ignore(status: number) {
  return (error: unknown): undefined => {
    if (!(error instanceof ApiError) || error.status !== status) throw error;
  };
}

/** Kinds that tests write and Periplus does not know. */
const others: Readonly<Record<string, boolean>> = { ClusterRole: true, ClusterRoleBinding: true };

function collectionOf(object: JsonObject): string {
  const { apiVersion, kind, metadata } = object;
  const base = String(apiVersion).includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const clusterScoped = others[String(kind)] ?? definitionOf(apiVersion, kind)?.clusterScoped ?? false;
  const namespace = (metadata as { readonly namespace?: string }).namespace ?? 'default';
  const plural = pluralOf(String(kind));
  return clusterScoped ? `${base}/${plural}` : `${base}/namespaces/${namespace}/${plural}`;
}

function pathOf(object: JsonObject): string {
  return `${collectionOf(object)}/${(object.metadata as { readonly name: string }).name}`;
}
