// The ADS server: grpc-js below, the hub with its sessions and push schedule above. No decision is made here. Messages
// are Buffers on both sides (identity serializers): requests are decoded here, responses are shared bytes.
//
// The write callback, not the boolean that `write` returns, counts as "taken": docs/adr/0005.

import {
  type ConnectionInjector,
  status as grpcStatus,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { Peer } from '../../core/model/caller.ts';
import type { PushRequest } from '../../core/push-request.ts';
import { BatchPerTick } from '../../net/batch-per-tick.ts';
import type { Engine } from '../engine/engine.ts';
import type { ScheduleSettings } from '../push/settings.ts';
import { namesMaxOf } from '../serve/discovery.ts';
import type { XdsHost } from '../serve/host.ts';
import { type Authenticate, Hub } from '../serve/hub.ts';
import type { XdsLimits } from '../serve/limits.ts';
import type { KeyOf } from '../serve/private-keys.ts';
import type { AdsStream } from '../serve/stream.ts';
import type { Incoming } from '../serve/stream-input.ts';
import type { ConnectionStatus, Served } from '../serve/stream-status.ts';
import type { EndCode, Transport } from '../serve/transport.ts';
import { readDirectly } from './direct-read.ts';
import { HangUpQueue } from './hang-up-queue.ts';
import { IdleConnections } from './idle-connections.ts';
import { peerOf } from './peer.ts';
import { RequestMemo } from './request-memo.ts';
import { deltaMessage, sotwMessage } from './requests.ts';
import { flushPieces, isGone, resetStream, sendPieces } from './shared-write.ts';
import { StreamTurns } from './stream-turns.ts';

export interface XdsServerOptions {
  readonly host: XdsHost;
  readonly engine: Engine;
  readonly limits: XdsLimits;
  readonly schedule: ScheduleSettings;
  /** Who is at the other end; absent: every stream is admitted without an identity. */
  readonly authenticate?: Authenticate;
  /** Private keys of certificates that are delivered over ADS. */
  readonly keyOf?: KeyOf;
  /** Methods besides ADS, by path. */
  readonly methods?: Readonly<Record<string, UnaryMethod>>;
}

/** A request in, a response out; both as they are on the wire. Never rejects. */
export type UnaryMethod = (peer: Peer, request: Buffer) => Promise<Buffer | UnaryFault>;
export interface UnaryFault {
  readonly code: EndCode;
  readonly message: string;
}

export type Call = ServerDuplexStream<Buffer, Buffer>;
type Protocol = 'sotw' | 'delta';

/**
 * First requests that are read in one tick of the event loop: one with the extensions of a real Envoy takes some
 * milliseconds, and the gate may let in dozens at once.
 */
export const FIRST_REQUESTS_PER_TICK = 4;
/** New streams and unary calls whose callers are asked for proof in one tick: about a quarter of a millisecond each. */
export const CALLERS_PER_TICK = 12;

/** The client reset its stream or the connection is lost; grpc-js does not tell which. */
const GONE = 'the client is gone';

const SERVICE = '/envoy.service.discovery.v3.AggregatedDiscoveryService';
const identity = (bytes: Buffer): Buffer => bytes;

const bidi = (path: string) => ({
  path,
  requestStream: true,
  responseStream: true,
  requestSerialize: identity,
  requestDeserialize: identity,
  responseSerialize: identity,
  responseDeserialize: identity,
});

/** Also used by clients in tests and tools. */
export const adsService = {
  streamAggregatedResources: bidi(`${SERVICE}/StreamAggregatedResources`),
  deltaAggregatedResources: bidi(`${SERVICE}/DeltaAggregatedResources`),
} as const satisfies ServiceDefinition;

export class XdsServer {
  readonly #options: XdsServerOptions;
  readonly #server: Server;
  readonly #hub: Hub;
  readonly #hangUps = new HangUpQueue();
  readonly #streams: StreamTurns;
  /** Streams that are open and whose first request was not read yet. */
  readonly #opened = new BatchPerTick<() => void>(FIRST_REQUESTS_PER_TICK, begin => begin());
  /** Calls that have come, before anything is asked about their callers. */
  readonly #called = new BatchPerTick<() => void>(CALLERS_PER_TICK, begin => begin());
  readonly #callListeners: ((client: string) => void)[] = [];
  #largest = 0;
  readonly #requests: Readonly<Record<Protocol, RequestMemo<Incoming>>>;

  constructor(options: XdsServerOptions) {
    this.#options = options;
    const namesMax = namesMaxOf(options.limits.requestBytesMax);
    // Requests with a node belong to one proxy and are not shared.
    const isShared = ({ node }: Incoming): boolean => node === undefined;
    this.#requests = {
      sotw: new RequestMemo(bytes => sotwMessage(bytes, namesMax), isShared),
      delta: new RequestMemo(bytes => deltaMessage(bytes, namesMax), isShared),
    };
    this.#hub = new Hub(options);
    this.#server = new Server(serverOptions(options.limits));
    this.#streams = new StreamTurns({ clock: options.host.clock, silentMsMax: options.limits.newStreamWaitMs });
    this.#streams.attach(this.#server);
    // Also those that never call: thousands of them may hang up together, too.
    new IdleConnections(options.host.clock).attach(this.#server, session => this.#hangUps.watch(session));
    addMethods(this.#server, options.methods ?? {}, call => this.#begun(call));
    this.#server.addService(adsService, {
      streamAggregatedResources: (call: Call) => void this.#accept(call, 'sotw'),
      deltaAggregatedResources: (call: Call) => void this.#accept(call, 'delta'),
    });
  }

  /** For connections that others accept: plain-port.ts, secure-port.ts. */
  injector(): ConnectionInjector {
    return this.#server.createConnectionInjector(ServerCredentials.createInsecure());
  }

  /** `listener` gets the client's address and port with each new stream and unary call. */
  onCall(listener: (client: string) => void): void {
    this.#callListeners.push(listener);
  }

  /** The state changed: the schedule decides when each connection is evaluated again. */
  push(request: PushRequest): void {
    this.#hub.push(request);
  }

  /**
   * Counters since the start (bytes assembled and shared, unfinished slices, repeated requests), the largest request
   * and the cached body bytes.
   */
  get stats(): {
    readonly madeBytes: number;
    readonly sharedBytes: number;
    readonly bodyBytes: number;
    readonly cuts: number;
    readonly repeatedRequests: number;
    readonly largestRequest: number;
    /** Characters of facts that clients were charged for, and requests past their budget. */
    readonly chargedChars: number;
    readonly overBudget: number;
  } {
    const { bodies, turns, budget } = this.#hub;
    const repeatedRequests = this.#requests.sotw.hits + this.#requests.delta.hits;
    const largestRequest = this.#largest;
    const { charged: chargedChars, refused: overBudget } = budget.stats;
    const own = { chargedChars, overBudget, cuts: turns.cuts, repeatedRequests, largestRequest };
    return { ...bodies.stats, bodyBytes: bodies.bytes, ...own };
  }

  /** New streams queue at the admission gate. */
  get isCrowded(): boolean {
    return this.#hub.isCrowded;
  }

  /** An evaluation for a proxy waits for its next slice. */
  get isEvaluating(): boolean {
    return this.#hub.isEvaluating;
  }

  /** Unordered. */
  served(): Iterable<Served> {
    return this.#hub.served();
  }

  /** Sorted by connection name. */
  connections(): readonly ConnectionStatus[] {
    return this.#hub.connections();
  }

  /** Ends the stream; the client is expected to reconnect. False if there is no such connection. */
  disconnect(connection: string): boolean {
    return this.#hub.disconnect(connection);
  }

  /** Ends every stream, records the disconnects, closes the listeners. Resolves after at most twice `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    await this.#hub.stop(graceMs);
    const { clock } = this.#options.host;
    await new Promise<void>(resolve => {
      const timer = clock.after(graceMs, () => {
        this.#server.forceShutdown();
        resolve();
      });
      this.#server.tryShutdown(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  async #accept(call: Call, protocol: Protocol): Promise<void> {
    // An error event without a listener would end the process.
    call.on('error', () => undefined);
    const address = call.getPeer();
    this.#came(address);
    const transport = transportOf(call);
    if (!this.#hub.accept(transport)) return;
    const { authenticate } = this.#options;
    const client = {
      peer: addressOf(address),
      address,
      gone: () => call.cancelled || call.destroyed,
    };
    const proving =
      authenticate &&
      this.#hub.prove(transport, client, async () => {
        await this.#turn();
        return authenticate(peerOf(call));
      });
    // A silent stream takes no turn from others.
    const first = await firstMessage(call);
    this.#streams.spoke(call);
    if (first === undefined) return;
    const admitted = await proving;
    if (proving !== undefined && admitted === undefined) return;
    const stream = await this.#hub.open(protocol, transport, client, admitted);
    if (stream === undefined) return;
    this.#opened.add(() => {
      if (stream.ended) return;
      if (client.gone()) return stream.closed(GONE);
      this.#attach(call, stream);
      this.#receive(stream, first);
    });
  }

  #came(client: string): void {
    for (const listener of this.#callListeners) listener(client);
  }

  /** Resolves when this unary call may begin. */
  #begun(call: ServerUnaryCall<Buffer, Buffer>): Promise<void> {
    this.#streams.spoke(call);
    this.#came(call.getPeer());
    return this.#turn();
  }

  /** Resolves in a later tick. */
  #turn(): Promise<void> {
    return new Promise(resolve => this.#called.add(resolve));
  }

  #attach(call: Call, stream: AdsStream): void {
    const receive = (bytes: Buffer): void => this.#receive(stream, bytes);
    call.on('data', receive);
    readDirectly(call, this.#options.limits.requestBytesMax, receive);
    call.on('end', () => {
      // A client whose connection is gone cannot receive a status.
      if (isGone(call)) stream.closed(GONE);
      else stream.end('OK', 'closed by the client');
    });
    call.on('cancelled', () => stream.closed(GONE));
    call.on('error', error => stream.closed(error.message));
    call.resume();
  }

  #receive(stream: AdsStream, bytes: Buffer): void {
    this.#largest = Math.max(this.#largest, bytes.length);
    let message: Incoming;
    try {
      message = this.#requests[stream.protocol].read(bytes);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      stream.end('INVALID_ARGUMENT', `not a discovery request: ${why}`);
      return;
    }
    stream.receive(message);
  }
}

/** The stream is not read any further until it is attached. Undefined: it ended without a word. */
function firstMessage(call: Call): Promise<Buffer | undefined> {
  return new Promise(resolve => {
    const settle = (bytes?: Buffer): void => {
      call.pause();
      call.off('data', settle).off('end', ended).off('cancelled', ended).off('error', ended);
      resolve(bytes);
    };
    const ended = (): void => {
      if (!isGone(call)) call.end();
      settle();
    };
    call.on('data', settle).on('end', ended).on('cancelled', ended).on('error', ended);
  });
}

/** Without the port: streams of one address share their turns. */
function addressOf(peer: string): string {
  const colon = peer.lastIndexOf(':');
  return colon < 0 ? peer : peer.slice(0, colon);
}

function addMethods(
  server: Server,
  methods: Readonly<Record<string, UnaryMethod>>,
  begun: (call: ServerUnaryCall<Buffer, Buffer>) => Promise<void>,
): void {
  for (const [path, method] of Object.entries(methods)) {
    const handle = async (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>): Promise<void> => {
      await begun(call);
      const answer = await method(peerOf(call), call.request);
      if (Buffer.isBuffer(answer)) reply(null, answer);
      else reply({ code: grpcCode[answer.code], details: answer.message, metadata: new Metadata() });
    };
    server.addService({ method: { ...bidi(path), requestStream: false, responseStream: false } }, { method: handle });
  }
}

function transportOf(call: Call): Transport {
  return {
    send: (message, done) => {
      flushPieces(call);
      call.write(message, done);
    },
    sendPieces: (pieces, done) => {
      sendPieces(call, pieces, done);
    },
    end: (code, message) => {
      // A status would queue behind the data that the client does not take: reset instead.
      if (code === 'DEADLINE_EXCEEDED' && resetStream(call)) return;
      flushPieces(call);
      if (code === 'OK') call.end();
      else call.emit('error', { code: grpcCode[code], details: message, metadata: new Metadata() });
    },
    pause: () => {
      call.pause();
    },
    resume: () => {
      call.resume();
    },
  };
}

const grpcCode: Readonly<Record<EndCode, number>> = {
  OK: grpcStatus.OK,
  INVALID_ARGUMENT: grpcStatus.INVALID_ARGUMENT,
  FAILED_PRECONDITION: grpcStatus.FAILED_PRECONDITION,
  UNAUTHENTICATED: grpcStatus.UNAUTHENTICATED,
  PERMISSION_DENIED: grpcStatus.PERMISSION_DENIED,
  RESOURCE_EXHAUSTED: grpcStatus.RESOURCE_EXHAUSTED,
  UNAVAILABLE: grpcStatus.UNAVAILABLE,
  DEADLINE_EXCEEDED: grpcStatus.DEADLINE_EXCEEDED,
  UNKNOWN: grpcStatus.UNKNOWN,
  INTERNAL: grpcStatus.INTERNAL,
};

function serverOptions(limits: XdsLimits) {
  const { connectionAgeMsMax } = limits;
  return {
    'grpc.max_concurrent_streams': limits.connectionStreamsMax,
    'grpc.max_receive_message_length': limits.requestBytesMax,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': limits.keepaliveMs,
    'grpc.keepalive_timeout_ms': limits.keepaliveTimeoutMs,
    'grpc.keepalive_permit_without_calls': 1,
    // Unused, and it would count every message of every stream.
    'grpc.enable_channelz': 0,
    ...(connectionAgeMsMax === undefined
      ? {}
      : {
          'grpc.max_connection_age_ms': connectionAgeMsMax,
          'grpc.max_connection_age_grace_ms': limits.connectionAgeGraceMs,
        }),
  };
}
