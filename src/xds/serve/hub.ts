// All ADS streams of the process, independent of the wire: admission, the set of connections, pushes. grpc/server.ts
// puts it on grpc-js, the simulator on a network of its own.
//
// Admission checks: ready, number of streams and identity when the stream opens; the number again and the rate of new
// streams when its first message is there, since a silent stream takes no turn. Istiod checks the rate before the
// identity (pilot/pkg/xds/ads.go, Stream; pilot/pkg/xds/delta.go, StreamDeltas).
//
// Invariants: streams that sent a message are never more than `streamsMax`, those at the gate included; a connection is
// known to the push schedule before its first evaluation, and until its stream is gone. A turn at a gate is given back
// on every way out: here if no stream comes of it, else by the stream (`release`). Nothing is admitted once `stop`
// began.

import type { Unrecorded } from '../../core/event.ts';
import type { Caller, Peer } from '../../core/model/caller.ts';
import type { PushRequest } from '../../core/push-request.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { ScheduleSettings } from '../push/settings.ts';
import { AdmissionGate } from './admission-gate.ts';
import { DeferredCompletions } from './deferred-completions.ts';
import { FactBudget } from './fact-budget.ts';
import { GatheredFacts } from './gathered-facts.ts';
import type { XdsHost } from './host.ts';
import type { XdsLimits } from './limits.ts';
import type { KeyOf } from './private-keys.ts';
import { Pusher } from './pusher.ts';
import { ReceiptBook } from './receipts.ts';
import { SharedBodies } from './shared-bodies.ts';
import { AdsStream, type StreamContext } from './stream.ts';
import type { ConnectionStatus, Served } from './stream-status.ts';
import { SubscriptionFacts } from './subscription-facts.ts';
import type { EndCode, Transport } from './transport.ts';
import { ViewTurns } from './view-turns.ts';
import { WriteWindow } from './write-window.ts';

export interface HubOptions {
  readonly host: XdsHost;
  readonly engine: Engine;
  readonly limits: XdsLimits;
  readonly schedule: ScheduleSettings;
  /** Private keys of certificates that are delivered over ADS; absent: there are none. */
  readonly keyOf?: KeyOf;
}

/** The client of a stream. */
export interface Client {
  /** Its IP address. */
  readonly peer: string;
  /** Its address with the port, for debug pages. */
  readonly address?: string;
  readonly gone: () => boolean;
}

/**
 * The result of authentication. `caller` undefined: a client without an identity. `inTheClear`: the identity is proven,
 * but the connection is not encrypted, so nothing secret may be sent.
 */
export type Entrance = Admitted | { readonly refused: EndCode; readonly message: string };
export interface Admitted {
  readonly caller: Caller | undefined;
  readonly inTheClear?: boolean;
}
/** Never rejects. */
export type Authenticate = (peer: Peer) => Promise<Entrance>;

export class Hub {
  readonly bodies: SharedBodies;
  readonly turns = new ViewTurns();
  readonly budget: FactBudget;
  readonly #host: XdsHost;
  readonly #limits: XdsLimits;
  readonly #context: StreamContext;
  readonly #pusher: Pusher;
  readonly #gate: AdmissionGate;
  /** Bounds the proofs that are checked at once: each may ask an API server. */
  readonly #proofs: AdmissionGate;
  readonly #streams = new Set<AdsStream>();
  readonly #byConnection = new Map<string, AdsStream>();
  /** Streams that sent a first message and are not in `#streams` yet: they wait at the gate. */
  #entering = 0;
  #stopping = false;
  #allGone: (() => void) | undefined;

  constructor({ host, engine, limits, schedule, keyOf }: HubOptions) {
    this.bodies = new SharedBodies(keyOf);
    this.#host = host;
    this.#limits = limits;
    this.budget = new FactBudget(host.clock, (peer, why) =>
      host.log('warn', `clients of ${peer || 'an unknown address'} are ended: ${why}`),
    );
    this.#pusher = new Pusher(host, schedule, connection => this.#byConnection.get(connection)?.push());
    this.#gate = new AdmissionGate({
      clock: host.clock,
      perSecond: limits.newStreamsPerSecond,
      waitMsMax: limits.newStreamWaitMs,
    });
    this.#proofs = new AdmissionGate({
      clock: host.clock,
      perSecond: undefined,
      waitMsMax: limits.newStreamWaitMs,
    });
    const gathered = new GatheredFacts(host, () => this.isCrowded);
    const record = (facts: readonly Unrecorded[]): Promise<State> => gathered.record(facts);
    this.#context = {
      host,
      engine,
      limits,
      record,
      receipts: new ReceiptBook(record, () => this.turns.isBusy),
      bodies: this.bodies,
      turns: this.turns,
      subscriptionFacts: new SubscriptionFacts(),
      window: new WriteWindow(host.clock, limits),
      completions: new DeferredCompletions(),
      onConnected: stream => this.#connected(stream),
      onSettled: stream => this.#pusher.done(stream.connection),
      onGone: stream => this.#gone(stream),
    };
  }

  /** New streams queue at the admission gate. */
  get isCrowded(): boolean {
    return this.#gate.isBusy;
  }

  /** An evaluation is unfinished or waits for its turn. */
  get isEvaluating(): boolean {
    return this.turns.isBusy;
  }

  /** Checks a stream before its first message, which may take any time. False: the transport was ended. */
  accept(transport: Transport): boolean {
    if (this.#stopping || !this.#host.ready()) {
      transport.end('UNAVAILABLE', 'server is not ready to serve discovery information');
      return false;
    }
    return this.#hasRoom(transport);
  }

  /**
   * Authenticates the client of an accepted stream, before its first message. Undefined: refused (the
   * transport was ended), or the client left while it waited (`gone`).
   */
  async prove(
    transport: Transport,
    { peer, gone }: Client,
    authenticate: () => Promise<Entrance>,
  ): Promise<Admitted | undefined> {
    const release = await this.#proofs.enter(peer, gone);
    if (gone()) {
      release?.();
      return undefined;
    }
    if (release === undefined) {
      transport.end('RESOURCE_EXHAUSTED', 'too many new streams wait to be authenticated');
      return undefined;
    }
    const entrance = await authenticate().finally(release);
    if (!('refused' in entrance)) return entrance;
    transport.end(entrance.refused, entrance.message);
    return undefined;
  }

  /**
   * Admits an accepted stream after its first message, when the gate gives it its turn. `admitted`: the result of
   * `prove`. Undefined: refused (the transport was ended), or the client left while it waited (`gone`).
   */
  async open(
    protocol: 'sotw' | 'delta',
    transport: Transport,
    client: Client,
    admitted: Admitted = { caller: undefined },
  ): Promise<AdsStream | undefined> {
    // Again, because any number of streams may have been accepted before one of them sent a message.
    if (!this.#hasRoom(transport)) return undefined;
    this.#entering++;
    try {
      return await this.#enter(protocol, transport, client, admitted);
    } finally {
      this.#entering--;
    }
  }

  /** False: the transport was ended. */
  #hasRoom(transport: Transport): boolean {
    const { streamsMax } = this.#limits;
    if (this.#streams.size + this.#entering < streamsMax) return true;
    transport.end('RESOURCE_EXHAUSTED', `more than ${streamsMax} streams`);
    return false;
  }

  async #enter(
    protocol: 'sotw' | 'delta',
    transport: Transport,
    { peer, address, gone }: Client,
    admitted: Admitted,
  ): Promise<AdsStream | undefined> {
    if (this.#host.caughtUp !== undefined) await this.#host.caughtUp();
    const release = await this.#gate.enter(peer, gone);
    if (gone()) {
      release?.();
      return undefined;
    }
    if (release === undefined) {
      transport.end('RESOURCE_EXHAUSTED', 'request rate limit exceeded: too many new streams');
      return undefined;
    }
    if (this.#stopping) {
      transport.end('UNAVAILABLE', 'the control plane is stopping');
      release();
      return undefined;
    }
    const stream = new AdsStream(this.#context, protocol, transport, {
      ...admitted,
      release,
      charge: this.budget.stream(peer),
      peer: address ?? peer,
    });
    this.#streams.add(stream);
    return stream;
  }

  /** The state changed: the schedule decides when each connection is evaluated again. */
  push(request: PushRequest): void {
    if (!this.#stopping) this.#pusher.request(request);
  }

  /** What each connected proxy was sent, unordered. Cheap; for metrics. */
  *served(): IterableIterator<Served> {
    for (const stream of this.#byConnection.values()) {
      if (stream.facets !== undefined) yield { facets: stream.facets, versions: stream.versions() };
    }
  }

  /** Sorted by connection name. */
  connections(): readonly ConnectionStatus[] {
    return [...this.#byConnection]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, stream]) => stream.status())
      .filter(status => status !== undefined);
  }

  /** Ends the stream; the client is expected to reconnect. False if there is no such connection. */
  disconnect(connection: string): boolean {
    const stream = this.#byConnection.get(connection);
    stream?.end('OK', 'disconnected by request');
    return stream !== undefined;
  }

  /** Ends every stream and records the disconnects. Resolves after at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#pusher.stop();
    const gone = new Promise<void>(resolve => {
      this.#allGone = resolve;
    });
    for (const stream of this.#streams) stream.end('UNAVAILABLE', 'the control plane is stopping');
    if (this.#streams.size === 0) this.#allGone?.();
    const timer = this.#host.clock.after(graceMs, () => this.#allGone?.());
    await gone;
    timer.cancel();
  }

  #connected(stream: AdsStream): void {
    this.#byConnection.set(stream.connection, stream);
    this.#pusher.connected(stream.connection);
    this.#host.log('info', `${stream.connection} connected (${stream.protocol})`);
  }

  #gone(stream: AdsStream): void {
    this.#streams.delete(stream);
    if (this.#byConnection.delete(stream.connection)) {
      this.#pusher.disconnected(stream.connection);
      this.#host.log('info', `${stream.connection} disconnected`);
    }
    if (this.#streams.size === 0) this.#allGone?.();
  }
}
