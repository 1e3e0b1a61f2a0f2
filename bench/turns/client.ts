// A proxy of the bench over a real connection: asks for what an Envoy or ztunnel asks for, acknowledges everything at
// once, follows clusters to their endpoints and listeners to their routes, and counts bytes. Responses are walked
// through and not decoded, so that those of a hundred megabytes leave the machine to the server.

import { Client, type ClientDuplexStream, credentials, type ServiceError } from '@grpc/grpc-js';
import { isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { adsService } from '../../src/xds/grpc/server.ts';
import { CDS, EDS, LDS, NDS, RDS, WORKLOAD_ADDRESS, WORKLOAD_AUTHORIZATION } from '../../src/xds/session/types.ts';
import type { Asks, ProxyCase } from './mesh.ts';

export const URLS: Readonly<Record<Asks, string>> = {
  clusters: CDS,
  listeners: LDS,
  names: NDS,
  addresses: WORKLOAD_ADDRESS,
  authorizations: WORKLOAD_AUTHORIZATION,
};
/** A server refuses a client that names more resources of one type. */
const NAMES_MAX = 65_536;
const EVERYTHING: readonly Asks[] = ['addresses', 'authorizations'];

/** Numbers of fields: envoy/service/discovery/v3/discovery.proto. */
const DELTA = { node: 1, url: 2, names: 3, nonce: 6 };
const WHOLE = { version: 1, node: 2, names: 3, url: 4, nonce: 5 };
const RESPONSE = { version: 1, resources: 2, url: 4, nonce: 5 };
/** Of Resource and of Any. */
const CONTENT = 2;
const CLUSTER_NAME = 1;
const CLUSTER_TYPE = 2;
const CLUSTER_TYPE_EDS = 3;
const RDS_OF_MANAGER = 3;
const RDS_NAME = 2;
const MANAGER = Buffer.from('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager');

export class TurnClient {
  bytes = 0;
  /** Why the stream has ended. */
  ended: string | undefined;
  readonly #proxy: ProxyCase;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  /** Names asked for, by type. */
  readonly #asked = new Map<string, ReadonlySet<string>>();
  #node: Buffer;

  constructor(proxy: ProxyCase, port: number) {
    this.#proxy = proxy;
    this.#node = Buffer.concat([field(1, proxy.id), field(2, proxy.cluster), field(3, struct(proxy.metadata))]);
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
    const { path } = proxy.delta ? adsService.deltaAggregatedResources : adsService.streamAggregatedResources;
    const same = (bytes: Buffer): Buffer => bytes;
    this.#stream = this.#client.makeBidiStreamRequest(path, same, same);
    this.#stream.on('data', (bytes: Buffer) => this.#receive(bytes));
    this.#stream.on('error', (error: ServiceError) => {
      this.ended = `${error.code} ${error.details}`;
    });
    this.#stream.on('end', () => {
      this.ended ??= 'ended';
    });
    for (const what of proxy.asks) this.#ask(URLS[what], EVERYTHING.includes(what) ? ['*'] : []);
  }

  close(): void {
    this.#stream.removeAllListeners('error').on('error', () => undefined);
    this.#stream.cancel();
    this.#client.close();
  }

  #ask(url: string, names: readonly string[], nonce = '', version = ''): void {
    const parts = this.#proxy.delta
      ? [field(DELTA.node, this.#node), field(DELTA.url, url), ...names.map(name => field(DELTA.names, name))]
      : [
          ...(version === '' ? [] : [field(WHOLE.version, version)]),
          field(WHOLE.node, this.#node),
          ...names.map(name => field(WHOLE.names, name)),
          field(WHOLE.url, url),
        ];
    const last = nonce === '' ? [] : [field(this.#proxy.delta ? DELTA.nonce : WHOLE.nonce, nonce)];
    this.#stream.write(Buffer.concat([...parts, ...last]));
    this.#node = Buffer.alloc(0);
  }

  #receive(bytes: Buffer): void {
    this.bytes += bytes.length;
    const { delta } = this.#proxy;
    const texts = new Map<number, string>();
    const resources: Buffer[] = [];
    for (const [number, value] of fieldsOf(bytes)) {
      if (typeof value === 'number') continue;
      if (number === RESPONSE.resources) resources.push(value);
      else if (number === RESPONSE.url || number === RESPONSE.nonce || (number === RESPONSE.version && !delta)) {
        texts.set(number, value.toString());
      }
    }
    const url = texts.get(RESPONSE.url) ?? '';
    const names = delta ? [] : [...(this.#asked.get(url) ?? [])];
    this.#ask(url, names, texts.get(RESPONSE.nonce), texts.get(RESPONSE.version));
    if (url === CDS)
      this.#follow(
        EDS,
        resources.flatMap(one => endpointsOf(contentOf(one, delta))),
      );
    if (url === LDS)
      this.#follow(
        RDS,
        resources.flatMap(one => routesOf(contentOf(one, delta))),
      );
  }

  #follow(url: string, names: readonly string[]): void {
    const before = this.#asked.get(url) ?? new Set<string>();
    const { delta } = this.#proxy;
    const now = new Set([...(delta ? before : []), ...names].slice(0, NAMES_MAX));
    this.#asked.set(url, now);
    const asked = delta ? [...now].filter(name => !before.has(name)) : [...now];
    if (asked.length > 0) this.#ask(url, asked);
  }
}

function contentOf(resource: Buffer, delta: boolean): Buffer {
  const any = delta ? bytesIn(resource, CONTENT) : resource;
  return bytesIn(any, CONTENT);
}

function bytesIn(message: Buffer, number: number): Buffer {
  for (const [at, value] of fieldsOf(message)) if (at === number && typeof value !== 'number') return value;
  return Buffer.alloc(0);
}

/** The name of a cluster whose endpoints are asked for. */
function endpointsOf(cluster: Buffer): readonly string[] {
  let name = '';
  for (const [number, value] of fieldsOf(cluster)) {
    if (number === CLUSTER_NAME && typeof value !== 'number') name = value.toString();
    if (number === CLUSTER_TYPE) return value === CLUSTER_TYPE_EDS ? [name] : [];
    if (number > CLUSTER_TYPE) return [];
  }
  return [];
}

/** Names of routes, by the managers of a listener, wherever they lie in it. */
function routesOf(listener: Buffer): readonly string[] {
  const names: string[] = [];
  for (let at = listener.indexOf(MANAGER); at >= 0; at = listener.indexOf(MANAGER, at)) {
    at += MANAGER.length;
    if (listener[at] !== 0x12) continue;
    const reader = new Reader(listener, at + 1);
    const name = bytesIn(bytesIn(reader.bytes(), RDS_OF_MANAGER), RDS_NAME);
    if (name.length > 0) names.push(name.toString());
  }
  return names;
}

class Reader {
  at: number;
  readonly #from: Buffer;

  constructor(from: Buffer, at: number) {
    this.#from = from;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.#from.length;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#from[this.at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  bytes(): Buffer {
    const length = this.varint();
    this.at += length;
    return this.#from.subarray(this.at - length, this.at);
  }
}

function* fieldsOf(message: Buffer): Iterable<readonly [number, Buffer | number]> {
  const reader = new Reader(message, 0);
  while (!reader.done) {
    const tag = reader.varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield [number, reader.varint()];
    else if (wire === 2) yield [number, reader.bytes()];
    else reader.at += wire === 1 ? 8 : 4;
  }
}

function field(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** google.protobuf.Struct, of texts and objects. */
function struct(object: JsonObject): Buffer {
  return Buffer.concat(
    Object.entries(object).map(([key, value]) =>
      field(1, Buffer.concat([field(1, key), field(2, structValue(value!))])),
    ),
  );
}

function structValue(value: Json): Buffer {
  return isObject(value) ? field(5, struct(value)) : field(3, String(value));
}
