// One ADS stream: feeds its session with inputs and carries out the effects in order. What is sent, and when, is
// decided by the session; the stream itself only refuses a node (connect.ts) and ends a stream past its budget of
// facts.
//
// Invariants: inputs are handled one after another, with all effects of one before the next; a fact is recorded and
// folded before the next effect, so a view is always made from a state that knows the subscription, and `#sets` are the
// resources of the session's view. `ProxyConnected` is recorded with the first subscription, or before any other effect
// but a debug page; closing is an input too, so `ProxyDisconnected` follows it and never comes alone. A response is not
// awaited: its receipt is committed, it is written (response-write.ts), and the write callback is one more input. After
// `ended` nothing is carried out but the departure.

import type { Unrecorded } from '../../core/event.ts';
import type { NodeFacets } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import {
  CDS_ACK_WAIT_MS,
  type ClientRequest,
  openSession,
  type Response,
  type Session,
  type SessionEffect,
  type SessionInput,
} from '../session/session.ts';
import { step } from '../session/step.ts';
import { DEBUG_PREFIX, HEALTH } from '../session/types.ts';
import { type Admission, type Arrival, arrivalOf, UNLIMITED } from './connect.ts';
import { debugAnswer } from './debug-frame.ts';
import { NACK_CHARS_MAX, namesChars } from './fact-budget.ts';
import { XDS_SOURCE, type XdsHost } from './host.ts';
import { InputQueue } from './input-queue.ts';
import { inItsTurn, NAMES_PER_TURN, nextTurn } from './large-request.ts';
import { evaluatedInTurns, type Sets, viewAt } from './large-view.ts';
import { ResponseWrite, type Sender, type WriteContext } from './response-write.ts';
import type { Incoming, StreamInput } from './stream-input.ts';
import { type ConnectionStatus, statusOf, type TypeRecord } from './stream-status.ts';
import type { SubscriptionFacts } from './subscription-facts.ts';
import type { EndCode, Transport } from './transport.ts';
import type { ViewTurns } from './view-turns.ts';

export interface StreamContext extends WriteContext {
  readonly engine: Engine;
  /** As XdsHost.record. All facts of all streams pass through it, in order. */
  readonly record: XdsHost['record'];
  readonly turns: ViewTurns;
  readonly subscriptionFacts: SubscriptionFacts;
  /** `ProxyConnected` is folded: pushes may follow. */
  readonly onConnected: (stream: AdsStream) => void;
  readonly onSettled: (stream: AdsStream) => void;
  readonly onGone: (stream: AdsStream) => void;
}

export class AdsStream implements Sender {
  readonly protocol: 'sotw' | 'delta';
  /** '' until the first request is accepted. */
  connection = '';
  facets: NodeFacets | undefined;
  /** Ended by either side. */
  ended = false;
  readonly transport: Transport;
  readonly #context: StreamContext;
  readonly #admission: Admission;
  readonly #inputs = new InputQueue<StreamInput>({
    handle: input => inItsTurn(input, () => this.#handle(input)),
    drained: () => this.#resumeReading(),
    failed: error => this.failed(error),
  });
  readonly #records = new Map<string, TypeRecord>();
  #session: Session;
  #sets: Sets = new Map();
  #paused = false;
  #closing = false;
  #connectedAt = 0;
  /** Ends the wait for a client that has not taken the answer to a debug request. */
  #debugTaken: (() => void) | undefined;
  /** The proxy is accepted but not recorded yet: `ProxyConnected` shares the commit of its first subscription. */
  #unrecordedArrival: Arrival | undefined;

  constructor(
    context: StreamContext,
    protocol: 'sotw' | 'delta',
    transport: Transport,
    admission: Admission = UNLIMITED,
  ) {
    this.#admission = admission;
    this.#context = context;
    this.protocol = protocol;
    this.transport = transport;
    this.#session = openSession(protocol, '');
  }

  receive(message: Incoming): void {
    this.#inputs.add({ kind: 'Message', message });
    if (!this.#paused && this.#inputs.length > this.#context.limits.waitingRequestsMax) {
      this.#paused = true;
      this.transport.pause();
    }
  }

  push(): void {
    this.#inputs.add({ kind: 'Push' });
  }

  /** The client or the transport is gone. */
  closed(reason: string): void {
    this.ended = true;
    this.#admission.release();
    this.#debugTaken?.();
    if (this.#closing) return;
    this.#closing = true;
    // Deferred, because a thousand clients may leave at once.
    this.#context.completions.add({ complete: () => this.#inputs.add({ kind: 'Closed', reason }) });
  }

  /** Ends the stream from the server's side. */
  end(code: EndCode, message: string): void {
    if (this.ended) return;
    this.transport.end(code, message);
    this.closed(message);
  }

  /** Undefined before the first request is accepted. */
  status(): ConnectionStatus | undefined {
    if (this.facets === undefined) return undefined;
    const arrival = { connectedAt: this.#connectedAt, peer: this.#admission.peer ?? '' };
    return statusOf(this.connection, this.facets, arrival, this.#session, this.#records);
  }

  /** Type URL → digest of the client's resources after the last response. */
  *versions(): IterableIterator<readonly [string, string]> {
    for (const [typeUrl, { version }] of this.#records) if (version !== undefined) yield [typeUrl, version];
  }

  #resumeReading(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.ended) this.transport.resume();
  }

  /** Undefined: done synchronously. */
  #handle(input: StreamInput): Promise<void> | undefined {
    if (input.kind === 'Closed') return this.#leave(input.reason);
    if (this.ended) return undefined;
    if (input.kind !== 'Message') return this.#step(input);
    const { request } = input.message;
    if (request.typeUrl === HEALTH) return this.#health(request);
    const isNew = this.connection === '' && this.#unrecordedArrival === undefined;
    if (isNew && !this.#arrive(input.message)) return undefined;
    const step = this.#step({ kind: 'Request', request });
    // A client that only reads debug pages is not recorded as a proxy.
    const isRecorded = this.#unrecordedArrival === undefined;
    return isRecorded || request.typeUrl.startsWith(DEBUG_PREFIX) ? step : this.#arriveAfter(step);
  }

  /** What the agent of a machine found out by its probe; never answered. */
  #health({ error }: ClientRequest): undefined {
    const { machines } = this.#context.host;
    if (machines === undefined || this.connection === '' || !this.#affords(error?.length ?? 0)) return;
    machines.health(this.connection, error === undefined, error ?? '');
  }

  async #arriveAfter(step: Promise<void> | undefined): Promise<void> {
    await step;
    if (!this.ended) await this.#recordArrival();
  }

  #arrive({ node }: Incoming): boolean {
    const { host } = this.#context;
    const arrival = arrivalOf(host.state(), node, this.protocol, this.#admission, id => host.connectionName(id));
    if ('error' in arrival) {
      this.end(arrival.status, arrival.error);
      return false;
    }
    this.#unrecordedArrival = arrival;
    this.#session = openSession(this.protocol, arrival.connection);
    return true;
  }

  async #leave(reason: string): Promise<void> {
    try {
      this.#context.subscriptionFacts.onDisconnected(this.connection);
      if (this.connection !== '') {
        await this.#record([{ source: XDS_SOURCE, kind: 'ProxyDisconnected', connection: this.connection, reason }]);
        this.#context.host.machines?.disconnected(this.connection);
      }
    } finally {
      this.#context.onGone(this);
    }
  }

  /** Undefined: done synchronously. */
  #step(input: SessionInput): Promise<void> | undefined {
    return this.#carryOutAll(this.#applyStep(input), 0, []);
  }

  /** Carries out the effects from index `from` on, in order, then steps with the inputs that they produced. */
  #carryOutAll(first: readonly SessionEffect[], from: number, answers: SessionInput[]): Promise<void> | undefined {
    let effects = first;
    for (let at = from; ; at++) {
      if (this.ended) return undefined;
      if (at === effects.length) {
        const next = answers.shift();
        if (next === undefined) return undefined;
        effects = this.#applyStep(next);
        at = -1;
        continue;
      }
      const doing = this.#carryOut(effects[at]!);
      if (doing instanceof Promise) return this.#resumeEffects(doing, effects, at + 1, answers);
      if (doing !== undefined) answers.push(doing);
    }
  }

  async #resumeEffects(
    doing: Promise<SessionInput | undefined>,
    effects: readonly SessionEffect[],
    from: number,
    answers: SessionInput[],
  ): Promise<void> {
    const answer = await doing;
    if (answer !== undefined) answers.push(answer);
    await this.#carryOutAll(effects, from, answers);
  }

  #applyStep(input: SessionInput): readonly SessionEffect[] {
    const [session, effects] = step(this.#session, input);
    this.#session = session;
    return effects;
  }

  /** Undefined: done, without an input for the session. */
  #carryOut(effect: SessionEffect): Promise<SessionInput | undefined> | SessionInput | undefined {
    if (effect.kind === 'Subscribed') return this.#subscribed(effect);
    if (effect.kind === 'Debug') return this.#debug(effect);
    if (this.#unrecordedArrival !== undefined) return this.#recordArrival().then(() => this.#carryOut(effect));
    const { host } = this.#context;
    switch (effect.kind) {
      case 'Evaluate':
        return this.#evaluate(effect.evaluation);
      case 'Respond':
        if (effect.names.length > NAMES_PER_TURN) return nextTurn().then(() => this.#respond(effect));
        this.#respond(effect);
        break;
      case 'Nacked':
        return this.#nacked(effect);
      case 'Acked':
      case 'Expired':
        if (effect.kind === 'Acked' && this.#records.get(effect.typeUrl)?.blamed?.length !== 0) {
          this.#noteType(effect.typeUrl, { blamed: [] });
        }
        host.observe?.({ kind: effect.kind, typeUrl: effect.typeUrl });
        break;
      case 'AwaitCdsAck': {
        const { nonce } = effect;
        host.clock.after(CDS_ACK_WAIT_MS, () => this.#inputs.add({ kind: 'CdsWaitOver', nonce }));
        break;
      }
      case 'Settled':
        this.#context.onSettled(this);
        break;
      case 'Close':
        this.end(effect.code, effect.message);
        break;
    }
    return undefined;
  }

  async #subscribed(effect: SessionEffect & { readonly kind: 'Subscribed' }): Promise<undefined> {
    const { typeUrl, subscribe, unsubscribe, wildcard } = effect;
    if (subscribe.length + unsubscribe.length > NAMES_PER_TURN) await nextTurn();
    if (this.ended || !this.#affords(typeUrl.length + namesChars(subscribe) + namesChars(unsubscribe))) return;
    const connection = this.#unrecordedArrival?.connection ?? this.connection;
    const { host, subscriptionFacts } = this.#context;
    const current = () => host.state().proxies.get(connection)?.subscriptions[typeUrl];
    const fact = { kind: 'ProxySubscribed', connection, typeUrl, subscribe, unsubscribe, wildcard } as const;
    await subscriptionFacts.record(fact, current, facts => this.#record(facts));
  }

  /** False: the stream is past its budget, and was ended. */
  #affords(chars: number): boolean {
    const over = this.#admission.charge(chars);
    if (over !== undefined) this.end('RESOURCE_EXHAUSTED', over);
    return over === undefined;
  }

  async #nacked(effect: SessionEffect & { readonly kind: 'Nacked' }): Promise<undefined> {
    const { typeUrl, blamed } = effect;
    const message = effect.message.slice(0, NACK_CHARS_MAX);
    const { host } = this.#context;
    if (!this.#affords(message.length)) return;
    await this.#record([{ source: XDS_SOURCE, kind: 'ProxyNacked', connection: this.connection, typeUrl, message }]);
    this.#noteType(typeUrl, { blamed });
    host.observe?.({ kind: 'Nacked', typeUrl });
    host.nacked?.({ connection: this.connection, typeUrl, message, resources: blamed });
  }

  /** Synchronous if everything is memoised, as it is in a push for all but the first of many equal proxies. */
  #evaluate(evaluation: number): Promise<SessionInput> | SessionInput {
    const { engine, turns, host } = this.#context;
    const look = engine.look();
    let state = host.state();
    try {
      // Each slice uses the newest state: an older one would have to be evaluated again anyway.
      const looking = turns.run(allowance => {
        state = host.state();
        const proxy = state.proxies.get(this.connection);
        if (proxy === undefined || this.ended) return { value: this.#sets, left: allowance };
        return look(allowance, state, proxy);
      });
      if (!(looking instanceof Promise)) return this.#evaluated(evaluation, state, looking);
      return looking.then(
        sets => this.#evaluated(evaluation, state, sets),
        (error: unknown) => this.#notEvaluated(evaluation, error),
      );
    } catch (error) {
      return this.#notEvaluated(evaluation, error);
    }
  }

  #evaluated(evaluation: number, state: State, sets: Sets): Promise<SessionInput> | SessionInput {
    const before = this.#sets;
    this.#sets = sets;
    if (!state.proxies.has(this.connection)) return { kind: 'Failed', evaluation };
    return evaluatedInTurns(sets, before, () => ({ kind: 'Evaluated', evaluation, view: viewAt(state.seq, sets) }));
  }

  #notEvaluated(evaluation: number, error: unknown): SessionInput {
    const { host } = this.#context;
    const { connection } = this;
    const message = error instanceof Error ? error.message : String(error);
    host.log('error', `generation for ${connection} failed, its last configuration stays: ${message}`);
    host.observe?.({ kind: 'Failed', connection, message });
    return { kind: 'Failed', evaluation };
  }

  #respond(response: Response): undefined {
    if (this.ended) return;
    const set = this.#sets.get(response.typeUrl);
    if (set === undefined) this.failed(new Error(`no resources for a response of ${response.typeUrl}`));
    else new ResponseWrite(this.#context, this, response, set).start();
  }

  onHandover({ typeUrl, set, stateSeq }: ResponseWrite, sentAt: number): void {
    this.#noteType(typeUrl, { version: set.digest, stateSeq, sentAt });
  }

  onTaken(): void {
    this.#admission.release();
    this.#inputs.add({ kind: 'Sent' });
  }

  async #debug({ typeUrl, names }: SessionEffect & { readonly kind: 'Debug' }): Promise<undefined> {
    const { caller, inTheClear } = this.#admission;
    const identities = inTheClear === true ? [] : (caller?.identities ?? []);
    const frame = await debugAnswer(this.#context.host, this, { typeUrl, names, identities });
    // The next request is handled once the client has taken this answer: a client that does not read holds one.
    if (frame === undefined || this.ended) return;
    await new Promise<void>(resolve => {
      this.#debugTaken = resolve;
      this.transport.send(frame, () => resolve());
    });
    this.#debugTaken = undefined;
  }

  #noteType(typeUrl: string, more: TypeRecord): void {
    this.#records.set(typeUrl, { ...this.#records.get(typeUrl), ...more });
  }

  async #recordArrival(): Promise<void> {
    if (this.#unrecordedArrival !== undefined) await this.#record([]);
  }

  /** Records the facts, together with the arrival if that is not recorded yet. */
  async #record(facts: readonly Unrecorded[]): Promise<void> {
    const arrival = this.#unrecordedArrival;
    this.#unrecordedArrival = undefined;
    const { host, record, onConnected } = this.#context;
    await record(arrival === undefined ? facts : [...arrival.facts, ...facts]);
    if (arrival === undefined) return;
    const { extensions: list } = arrival;
    // The state may have dropped the list before this proxy referred to it (core/fold/apply-proxy.ts).
    if (list !== undefined && !host.state().interned.has(list.digest)) await record([list]);
    this.connection = arrival.connection;
    this.facets = arrival.facets;
    this.#connectedAt = host.clock.now();
    host.machines?.connected(this.connection);
    onConnected(this);
  }

  /**
   * Ends the stream: what could not be recorded must not be sent, and the client reconnects to a stream in a known
   * state.
   */
  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (!this.ended)
      this.#context.host.log('warn', `the stream of ${this.connection || 'an unknown proxy'} ends: ${message}`);
    this.end('UNAVAILABLE', message);
  }
}
