// Configuration of another control plane over xDS (`xds://` in configSources): the source `mcp/<host:port>`. One stream
// asks for each of Istio's kinds; an answer is all objects of its kind and becomes one batch. The last answers stay
// while the server is away, and an object that cannot be decoded stays as it was and is reported.
// Source: Istio pkg/adsc/adsc.go, which applies object by object and deletes what it cannot decode.

import { type ChannelCredentials, type ChannelOptions, Client, type ClientDuplexStream } from '@grpc/grpc-js';
import type { Fact } from '../../core/event.ts';
import { API_GENERATOR, type McpKind, mcpKindOf, mcpKinds, typeUrlOf } from '../../core/model/mcp-kinds.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus, Unreadable } from '../adapter.ts';
import { backoffMs } from '../kit/backoff.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import { Submissions } from '../kit/submissions.ts';
import * as limits from './limits.ts';
import { answerOf, decodeResponse, encodeRequest, type McpRequest, type McpResponse } from './messages.ts';

export interface McpOptions {
  /** `host:port` */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly channel?: ChannelOptions;
  /** Of this control plane, for the node that it says it is. */
  readonly namespace: string;
  readonly podName: string;
  readonly revision: string;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

const METHOD = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

type Stream = ClientDuplexStream<McpRequest, McpResponse>;

export class McpAdapter implements Adapter {
  readonly source: string;
  readonly mayBeOld = true;
  readonly #options: McpOptions;
  readonly #submissions: Submissions;
  readonly #stop = new AbortController();
  readonly #silent = new Set(mcpKinds.map(({ kind }) => kind as string));
  #client: Client | undefined;
  #stream: Stream | undefined;
  #running: Promise<void> = Promise.resolve();
  #unreadable: Unreadable | undefined;
  #onAnswered: () => void = () => undefined;
  #isSynced = false;
  #silentSince = 0;

  constructor(options: McpOptions) {
    this.#options = options;
    this.source = `mcp/${options.address}`;
    this.#submissions = new Submissions(`an answer of ${this.source}`, options.log);
  }

  /** Resolves when each kind was answered, or the server has been silent about some for too long. */
  async start(sink: Sink): Promise<void> {
    const { address, credentials, channel, chance, log } = this.#options;
    this.#silentSince = chance.now();
    this.#client = new Client(address, credentials, {
      'grpc.max_receive_message_length': limits.ANSWER_BYTES_MAX,
      'grpc.keepalive_time_ms': limits.KEEPALIVE_MS,
      'grpc.keepalive_timeout_ms': limits.KEEPALIVE_TIMEOUT_MS,
      ...channel,
    });
    await this.#submissions.open(sink, async () => undefined);
    this.#running = this.#streamAlways();
    await new Promise<void>((resolve, reject) => {
      this.#stop.signal.addEventListener('abort', () => reject(new Error(`stopped before ${this.source} answered`)));
      this.#onAnswered = resolve;
      const waitForSilent = (): void => {
        // Without any answer there is nothing to serve: a server that is away is waited for.
        const hasAnswered = this.#silent.size < mcpKinds.length;
        if (this.#silent.size > 0 && !hasAnswered) chance.after(limits.SILENT_MS_MAX, waitForSilent);
        else resolve();
      };
      chance.after(limits.SILENT_MS_MAX, waitForSilent);
    });
    if (this.#silent.size > 0) {
      log('warn', `${this.source} does not answer for ${[...this.#silent].join(', ')}; what was known of them stays`);
    }
    this.#submissions.submit([{ kind: 'Synced' }]);
    this.#isSynced = true;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stream?.cancel();
    await this.#running;
    this.#client?.close();
    await this.#submissions.close();
  }

  status(): SourceStatus {
    const silent = [...this.#silent].sort();
    const why = 'the server has not answered for it';
    const kinds = silent.map(kind => ({ what: `${this.source}/${kind}`, why, since: this.#silentSince }));
    const unreadable = [
      ...(this.#unreadable === undefined ? [] : [this.#unreadable]),
      ...(this.#isSynced ? kinds : []),
    ];
    const troubles = unreadable.map(one => `${one.what} cannot be read (${one.why}); what was known of it stays`);
    return { synced: this.#isSynced, waiting: this.#isSynced ? [] : silent, troubles, unreadable };
  }

  async #streamAlways(): Promise<void> {
    const { chance } = this.#options;
    const { signal } = this.#stop;
    const bounds = { minMs: limits.RETRY_MS_MIN, maxMs: limits.RETRY_MS_MAX };
    for (let failures = 0; !signal.aborted; ) {
      const { why, hasAnswered } = await this.#streamOnce();
      if (signal.aborted) return;
      failures = hasAnswered ? 1 : failures + 1;
      this.#lost(why);
      await sleep(chance, backoffMs(failures, chance.random(), bounds), signal);
    }
  }

  /** Resolves when the stream has ended. */
  #streamOnce(): Promise<{ readonly why: string; readonly hasAnswered: boolean }> {
    return new Promise(resolve => {
      const client = this.#client;
      if (client === undefined) return resolve({ why: 'not started', hasAnswered: false });
      let hasAnswered = false;
      const stream: Stream = client.makeBidiStreamRequest(METHOD, encodeRequest, decodeResponse);
      this.#stream = stream;
      stream.on('data', (response: McpResponse) => {
        hasAnswered = true;
        this.#found();
        this.#take(response);
        const { typeUrl, versionInfo, nonce: responseNonce } = response;
        stream.write({ typeUrl, versionInfo, responseNonce, node: this.#node() });
      });
      stream.on('error', (error: Error) => resolve({ why: error.message, hasAnswered }));
      stream.on('end', () => resolve({ why: 'the server ended the stream', hasAnswered }));
      for (const kind of mcpKinds) stream.write({ typeUrl: typeUrlOf(kind), node: this.#node() });
    });
  }

  #take(response: McpResponse): void {
    const kind = mcpKindOf(response.typeUrl);
    if (kind === undefined) return;
    this.#silent.delete(kind.kind);
    this.#submit(kind, response);
    if (this.#silent.size === 0) this.#onAnswered();
  }

  #submit(kind: McpKind, response: McpResponse): void {
    const { objects, undecodable, isPartial, reasons } = answerOf(kind, response);
    const origin = { file: `${this.source}/${kind.kind}` };
    for (const reason of reasons) this.#options.log('warn', `${origin.file}: ${reason}; what was known of it stays`);
    const facts: readonly Fact[] = [
      ...objects.map((object): Fact => ({ kind: 'Update', object })),
      { kind: 'Malformed', origin, reasons },
    ];
    if (isPartial) this.#submissions.submit(facts);
    else this.#submissions.run(sink => sink.relistKinds([kind.kind], facts, undecodable));
  }

  #lost(why: string): void {
    const { log, chance } = this.#options;
    if (this.#unreadable === undefined) log('warn', `${this.source}: ${why}; what was known of it stays`);
    this.#unreadable = { what: this.source, why, since: this.#unreadable?.since ?? chance.now() };
  }

  #found(): void {
    if (this.#unreadable !== undefined) this.#options.log('info', `${this.source} answers again`);
    this.#unreadable = undefined;
  }

  #node(): NonNullable<McpRequest['node']> {
    const { namespace, podName, revision } = this.#options;
    return {
      id: `sidecar~127.0.0.1~${podName}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: {
        GENERATOR: API_GENERATOR,
        NAMESPACE: namespace,
        ...(revision === '' ? {} : { ISTIO_REVISION: revision }),
      },
    };
  }
}
