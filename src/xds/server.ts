// The ADS server: grpc-js below, sessions and the push schedule above, nothing decided in between. Messages are Buffers on both sides
// (identity serializers): requests are decoded here, responses are concatenations of bytes that were encoded once.
//
// Checks before the first message, in istiod's order (spec-events §7.1): ready, rate of new streams. Writes are counted by their callback
// and not by what `write` returns: docs/adr/0005.

import {
  status as grpcStatus,
  Metadata,
  Server,
  type ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import type { PushRequest } from '../core/push-request.ts';
import { decodeDeltaDiscoveryRequest, decodeDiscoveryRequest } from './discovery.ts';
import type { Engine } from './engine.ts';
import type { XdsHost } from './host.ts';
import type { XdsLimits } from './limits.ts';
import type { ScheduleSettings } from './push/settings.ts';
import { Pusher } from './pusher.ts';
import { ReceiptBook } from './receipts.ts';
import { AdsStream, type EndCode, type Incoming, type StreamContext, type Transport } from './stream.ts';
import type { ConnectionStatus } from './stream-status.ts';
import { Gate, WriteWindow } from './write-window.ts';

export interface XdsServerOptions {
  readonly host: XdsHost;
  readonly engine: Engine;
  readonly limits: XdsLimits;
  readonly schedule: ScheduleSettings;
  /** Verified identities of the peer; none on a plaintext port. */
  readonly identitiesOf?: (call: Call) => readonly string[];
}

export type Call = ServerDuplexStream<Buffer, Buffer>;
type Protocol = 'sotw' | 'delta';

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

/** Also for clients: tests and tools speak the same two methods. */
export const adsService = {
  streamAggregatedResources: bidi(`${SERVICE}/StreamAggregatedResources`),
  deltaAggregatedResources: bidi(`${SERVICE}/DeltaAggregatedResources`),
} as const satisfies ServiceDefinition;

export class XdsServer {
  readonly #options: XdsServerOptions;
  readonly #server: Server;
  readonly #context: StreamContext;
  readonly #pusher: Pusher;
  readonly #gate: Gate;
  readonly #streams = new Set<AdsStream>();
  readonly #byConnection = new Map<string, AdsStream>();
  #stopping = false;
  #allGone: (() => void) | undefined;

  constructor(options: XdsServerOptions) {
    const { host, engine, limits, schedule } = options;
    this.#options = options;
    this.#pusher = new Pusher(host, schedule, connection => this.#byConnection.get(connection)?.push());
    this.#gate = new Gate(limits.newStreamsPerSecond, limits.newStreamWaitMs);
    this.#context = {
      host,
      engine,
      limits,
      receipts: new ReceiptBook(facts => host.record(facts)),
      window: new WriteWindow(host.clock, limits.writesMax, limits.writeSlotMs),
      onConnected: stream => this.#connected(stream),
      onSettled: stream => this.#pusher.done(stream.connection),
      onGone: stream => this.#gone(stream),
    };
    this.#server = new Server(serverOptions(limits));
    this.#server.addService(adsService, {
      streamAggregatedResources: (call: Call) => void this.#accept(call, 'sotw'),
      deltaAggregatedResources: (call: Call) => void this.#accept(call, 'delta'),
    });
  }

  /** Resolves with the port; rejects if the address cannot be bound. May be called for several addresses. */
  listen(address: string, credentials: ServerCredentials): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, port) => (error === null ? resolve(port) : reject(error)));
    });
  }

  /** Something changed: the schedule decides when who is looked at. */
  push(request: PushRequest): void {
    if (!this.#stopping) this.#pusher.request(request);
  }

  /** By connection name. */
  connections(): readonly ConnectionStatus[] {
    return [...this.#byConnection]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, stream]) => stream.status())
      .filter(status => status !== undefined);
  }

  /** Idempotent; false if there is no such connection. The client will come back. */
  disconnect(connection: string): boolean {
    const stream = this.#byConnection.get(connection);
    stream?.end('OK', 'disconnected by request');
    return stream !== undefined;
  }

  /** Ends every stream, records that, and closes. Resolves after at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#pusher.stop();
    const gone = new Promise<void>(resolve => {
      this.#allGone = resolve;
    });
    for (const stream of this.#streams) stream.end('UNAVAILABLE', 'the control plane is stopping');
    if (this.#streams.size === 0) this.#allGone?.();
    const { clock } = this.#options.host;
    let timer = clock.after(graceMs, () => this.#allGone?.());
    await gone;
    timer.cancel();
    await new Promise<void>(resolve => {
      timer = clock.after(graceMs, () => {
        this.#server.forceShutdown();
        resolve();
      });
      this.#server.tryShutdown(() => resolve());
    });
    timer.cancel();
  }

  async #accept(call: Call, protocol: Protocol): Promise<void> {
    const { host, limits, identitiesOf } = this.#options;
    // An error event without a listener would end the process.
    call.on('error', () => undefined);
    const transport = transportOf(call);
    if (this.#stopping || !host.ready()) {
      return transport.end('UNAVAILABLE', 'server is not ready to serve discovery information');
    }
    if (this.#streams.size >= limits.streamsMax) {
      return transport.end('RESOURCE_EXHAUSTED', `more than ${limits.streamsMax} streams`);
    }
    const wait = this.#gate.enter(host.clock.now());
    if (wait === undefined) {
      return transport.end('RESOURCE_EXHAUSTED', 'request rate limit exceeded: too many new streams');
    }
    if (wait > 0) await new Promise<void>(resolve => host.clock.after(wait, resolve));
    if (call.cancelled) return undefined;
    const stream = new AdsStream(this.#context, protocol, transport, identitiesOf?.(call) ?? []);
    this.#streams.add(stream);
    this.#attach(call, stream);
    return undefined;
  }

  #attach(call: Call, stream: AdsStream): void {
    call.on('data', (bytes: Buffer) => {
      let message: Incoming;
      try {
        message = stream.protocol === 'sotw' ? sotwMessage(bytes) : deltaMessage(bytes);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return stream.end('INVALID_ARGUMENT', `not a discovery request: ${why}`);
      }
      return stream.receive(message);
    });
    call.on('end', () => stream.end('OK', 'closed by the client'));
    call.on('cancelled', () => stream.closed('cancelled'));
    call.on('error', error => stream.closed(error.message));
  }

  #connected(stream: AdsStream): void {
    this.#byConnection.set(stream.connection, stream);
    this.#pusher.connected(stream.connection);
    this.#options.host.log('info', `${stream.connection} connected (${stream.protocol})`);
  }

  #gone(stream: AdsStream): void {
    this.#streams.delete(stream);
    if (this.#byConnection.delete(stream.connection)) {
      this.#pusher.disconnected(stream.connection);
      this.#options.host.log('info', `${stream.connection} disconnected`);
    }
    if (this.#streams.size === 0) this.#allGone?.();
  }
}

function sotwMessage(bytes: Buffer): Incoming {
  const data = decodeDiscoveryRequest(bytes);
  return {
    node: data.node,
    request: {
      protocol: 'sotw',
      typeUrl: data.typeUrl,
      names: data.resourceNames,
      nonce: data.responseNonce,
      ...refusal(data.errorDetail),
    },
  };
}

function deltaMessage(bytes: Buffer): Incoming {
  const data = decodeDeltaDiscoveryRequest(bytes);
  return {
    node: data.node,
    request: {
      protocol: 'delta',
      typeUrl: data.typeUrl,
      subscribe: data.resourceNamesSubscribe,
      unsubscribe: data.resourceNamesUnsubscribe,
      initial: new Map(Object.entries(data.initialResourceVersions)),
      nonce: data.responseNonce,
      ...refusal(data.errorDetail),
    },
  };
}

function refusal(detail: { readonly message: string } | undefined): { readonly error?: string } {
  return detail === undefined ? {} : { error: detail.message === '' ? 'refused without a reason' : detail.message };
}

function transportOf(call: Call): Transport {
  return {
    send: (message, done) => {
      call.write(message, done);
    },
    end: (code, message) => {
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
  PERMISSION_DENIED: grpcStatus.PERMISSION_DENIED,
  RESOURCE_EXHAUSTED: grpcStatus.RESOURCE_EXHAUSTED,
  UNAVAILABLE: grpcStatus.UNAVAILABLE,
  INTERNAL: grpcStatus.INTERNAL,
};

function serverOptions(limits: XdsLimits) {
  const { connectionAgeMsMax } = limits;
  return {
    'grpc.max_concurrent_streams': limits.streamsMax,
    'grpc.max_receive_message_length': limits.requestBytesMax,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': limits.keepaliveMs,
    'grpc.keepalive_timeout_ms': limits.keepaliveTimeoutMs,
    'grpc.keepalive_permit_without_calls': 1,
    ...(connectionAgeMsMax === undefined
      ? {}
      : {
          'grpc.max_connection_age_ms': connectionAgeMsMax,
          'grpc.max_connection_age_grace_ms': limits.connectionAgeGraceMs,
        }),
  };
}
