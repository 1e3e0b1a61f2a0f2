// A client as pilot-agent and stock Envoys are: TLS, a bearer token or a client certificate, signing requests and ADS.

import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { CSR_METHOD } from '../../src/identity/csr-service.ts';
import { decodeCertificateResponse, encodeCertificateRequest } from '../../src/identity/csr-wire.ts';
import { adsService } from '../../src/xds/grpc/server.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';

export interface ClientOptions {
  readonly port: number;
  /** Default: the loopback address of IPv4. */
  readonly host?: string;
  /** PEM; absent: in the clear. */
  readonly roots?: string;
  readonly token?: string;
  readonly certificate?: { readonly chain: string; readonly key: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly serverName?: string;
}

const identity = (bytes: Buffer): Buffer => bytes;
const SERVER_NAME = 'istiod.istio-system.svc';

export class TestClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(options: ClientOptions) {
    const { port, host = '127.0.0.1', roots, token, certificate, headers = {}, serverName = SERVER_NAME } = options;
    const channel =
      roots === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(
            Buffer.from(roots),
            certificate === undefined ? null : Buffer.from(certificate.key),
            certificate === undefined ? null : Buffer.from(certificate.chain),
          );
    this.#client = new Client(`${host}:${port}`, channel, {
      'grpc.ssl_target_name_override': serverName,
      'grpc.max_receive_message_length': -1,
      'grpc.enable_retries': 0,
      'grpc.use_local_subchannel_pool': 1,
    });
    if (token !== undefined) this.#metadata.set('authorization', `Bearer ${token}`);
    for (const [name, value] of Object.entries(headers)) this.#metadata.set(name, value);
  }

  /** The chain, or `CODE message`. */
  sign(
    csr: string,
    more: {
      readonly seconds?: number;
      readonly impersonated?: string;
      readonly signer?: string;
      readonly deadlineMs?: number;
    } = {},
  ): Promise<readonly string[] | string> {
    const { seconds: validitySeconds = 0, impersonated = '', signer = '', deadlineMs = 20_000 } = more;
    const request = encodeCertificateRequest({ csr, validitySeconds, impersonated, signer });
    return new Promise(resolve => {
      this.#client.makeUnaryRequest(
        CSR_METHOD,
        identity,
        identity,
        request,
        this.#metadata,
        { deadline: Date.now() + deadlineMs },
        (error, answer) => {
          resolve(
            error === null ? decodeCertificateResponse(answer ?? Buffer.alloc(0)) : `${error.code} ${error.details}`,
          );
        },
      );
    });
  }

  stream(): TestStream {
    const { path } = adsService.streamAggregatedResources;
    return new TestStream(this.#client.makeBidiStreamRequest(path, identity, identity, this.#metadata));
  }

  close(): void {
    this.#client.close();
  }
}

export interface TestResource {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

export interface TestResponse {
  readonly typeUrl: string;
  readonly versionInfo: string;
  readonly nonce: string;
  readonly resources: readonly TestResource[];
}

export class TestStream {
  readonly responses: TestResponse[] = [];
  /** `CODE message` when it has ended. */
  ended: string | undefined;
  /** False: responses are not acknowledged. */
  answers = true;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;

  constructor(call: ClientDuplexStream<Buffer, Buffer>) {
    this.#call = call;
    call.on('data', (bytes: Buffer) => {
      const message = typeOf('envoy.service.discovery.v3.DiscoveryResponse').decode(bytes) as unknown as TestResponse;
      this.responses.push(message);
      if (this.answers) this.acknowledge();
    });
    call.on('error', (error: ServiceError) => {
      this.ended = `${error.code} ${error.details}`;
    });
    call.on('end', () => {
      this.ended ??= '0 ended';
    });
  }

  #names = new Map<string, readonly string[]>();

  ask(typeUrl: string, names?: readonly string[], more: Readonly<Record<string, unknown>> = {}): void {
    if (this.ended !== undefined) return;
    if (names !== undefined) this.#names.set(typeUrl, names);
    const type = typeOf('envoy.service.discovery.v3.DiscoveryRequest');
    const message = type.fromObject({ typeUrl, resourceNames: this.#names.get(typeUrl) ?? [], ...more });
    this.#call.write(Buffer.from(type.encode(message).finish()));
  }

  /** The last response. */
  acknowledge(): void {
    const last = this.responses.at(-1);
    if (last !== undefined) {
      this.ask(last.typeUrl, undefined, { versionInfo: last.versionInfo, responseNonce: last.nonce });
    }
  }

  cancel(): void {
    this.#call.cancel();
  }
}
