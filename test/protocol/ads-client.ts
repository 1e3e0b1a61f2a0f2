// A real grpc-js client of one ADS stream, that writes and reads decoded messages and answers nothing by itself.

import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { Client, type ClientDuplexStream, credentials, type ServiceError } from '@grpc/grpc-js';
import { adsService } from '../../src/xds/grpc/server.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';

export interface Received {
  readonly versionInfo: string;
  readonly systemVersionInfo: string;
  readonly typeUrl: string;
  readonly nonce: string;
  /** Names, in the order of the response: delta only. */
  readonly resources: readonly { readonly name: string; readonly version: string }[];
  readonly removedResources: readonly string[];
  /** Bytes of each resource, hex. */
  readonly bodies: readonly string[];
}

const WAIT_MS = 60_000;

export class AdsClient {
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Buffer, Buffer>;
  readonly #protocol: 'sotw' | 'delta';
  readonly #received: Received[] = [];
  readonly #ended: Promise<ServiceError | { readonly code: number; readonly details: string }>;
  #wake: () => void = () => undefined;

  /** `roots`: PEM that the server `localhost` is verified with; absent: in the clear. */
  constructor(port: number, protocol: 'sotw' | 'delta', roots?: string) {
    this.#protocol = protocol;
    const channel = roots === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(roots));
    this.#client = new Client(`127.0.0.1:${port}`, channel, {
      'grpc.use_local_subchannel_pool': 1,
      // As in Envoy: a response may be of any size.
      'grpc.max_receive_message_length': -1,
      ...(roots === undefined ? {} : { 'grpc.ssl_target_name_override': 'localhost' }),
    });
    const { path } = protocol === 'sotw' ? adsService.streamAggregatedResources : adsService.deltaAggregatedResources;
    const same = (bytes: Buffer): Buffer => bytes;
    this.#stream = this.#client.makeBidiStreamRequest(path, same, same);
    this.#stream.on('data', (bytes: Buffer) => {
      this.#received.push(this.#decode(bytes));
      this.#wake();
    });
    this.#ended = new Promise(resolve => {
      this.#stream.on('error', resolve);
      this.#stream.on('status', resolve);
    });
  }

  send(message: Readonly<Record<string, unknown>>): void {
    const name = this.#protocol === 'sotw' ? 'DiscoveryRequest' : 'DeltaDiscoveryRequest';
    const type = typeOf(`envoy.service.discovery.v3.${name}`);
    this.#stream.write(Buffer.from(type.encode(type.create(message)).finish()));
  }

  /** Bytes that need not be a message. */
  sendBytes(bytes: Buffer): void {
    this.#stream.write(bytes);
  }

  /** The next response. */
  async next(): Promise<Received> {
    const until = Date.now() + WAIT_MS;
    while (this.#received.length === 0) {
      if (Date.now() > until) throw new Error('no response');
      await new Promise<void>(resolve => {
        this.#wake = resolve;
        setTimeout(resolve, 50);
      });
    }
    return this.#received.shift()!;
  }

  /** Responses that have come and were not taken. */
  get waiting(): number {
    return this.#received.length;
  }

  /** The status that the server ended the stream with. */
  async ended(): Promise<{ readonly code: number; readonly details: string }> {
    return await this.#ended;
  }

  /** One more stream on the same connection, on which nothing is ever sent. */
  openSilently(): void {
    const { path } = adsService.deltaAggregatedResources;
    const same = (bytes: Buffer): Buffer => bytes;
    const stream = this.#client.makeBidiStreamRequest(path, same, same);
    stream.on('error', () => undefined);
    stream.on('data', () => undefined);
  }

  /** Sends nothing more, and goes on listening. */
  finish(): void {
    this.#stream.end();
  }

  close(): void {
    this.#stream.cancel();
    this.#client.close();
  }

  #decode(bytes: Buffer): Received {
    const name = this.#protocol === 'sotw' ? 'DiscoveryResponse' : 'DeltaDiscoveryResponse';
    const message = typeOf(`envoy.service.discovery.v3.${name}`).decode(bytes) as unknown as Record<string, unknown>;
    const resources = message.resources as readonly Record<string, unknown>[];
    const anys = this.#protocol === 'sotw' ? resources : resources.map(one => one.resource as Record<string, unknown>);
    return {
      versionInfo: String(message.versionInfo ?? ''),
      systemVersionInfo: String(message.systemVersionInfo ?? ''),
      typeUrl: String(message.typeUrl),
      nonce: String(message.nonce),
      resources:
        this.#protocol === 'sotw'
          ? []
          : resources.map(one => ({ name: String(one.name), version: String(one.version) })),
      removedResources: (message.removedResources ?? []) as readonly string[],
      bodies: anys.map(any => Buffer.from(any.value as Uint8Array).toString('hex')),
    };
  }
}

/**
 * A client that asks and does not read: what the server may have in flight is what HTTP/2 flow control lets through.
 */
export class DeafClient {
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;

  constructor(port: number, message: Readonly<Record<string, unknown>>) {
    this.#session = connect(`http://127.0.0.1:${port}`);
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': adsService.streamAggregatedResources.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const type = typeOf('envoy.service.discovery.v3.DiscoveryRequest');
    const body = type.encode(type.create(message)).finish();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(body.length, 1);
    this.#stream.write(Buffer.concat([head, body]));
  }

  /** Reads everything that is there and that comes, and forgets it. */
  listen(): void {
    this.#stream.resume();
  }

  close(): void {
    this.#stream.close();
    this.#session.close();
  }
}

export const node = {
  id: 'sidecar~10.0.0.1~web.ns~ns.svc.cluster.local',
  cluster: 'web.ns',
  extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http' }],
};
