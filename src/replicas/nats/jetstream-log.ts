// The world log in a JetStream stream. Positions are the stream's sequence numbers; an append names the last one that
// its writer knows, and JetStream refuses it if another message follows.
//
// A quorum of the servers has what is acknowledged. An entry of several messages (parts.ts) has the position of its
// last; messages of an entry that was never finished are passed over, and an append on top of them expects their
// numbers, though no follower was given an entry for them.
//
// Invariants: an append succeeds only if no entry follows the one that its caller names; without an answer it is
// `unknown` and not refused, and JetStream drops a message whose id it has. Entries are given one after another, each
// once, also after the consumer began anew; `#given` moves only when the follower has taken one. The log counts as lost
// only if, for LOSS_MS, it is gone, or lacks what was read by the word of a server that knows a leader.

import { DeliverPolicy, JetStreamApiCodes, JetStreamApiError, type JsMsg, type StreamState } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { Appended, FollowEvents, LogEntry, WorldLog } from '../world-log.ts';
import { ANSWER_MS_MAX, type Connected, type NatsLink } from './connection.ts';
import { Assembly, HEADER_BYTES, type Part, splitEntry } from './parts.ts';
import { streamName, streamSettings, subjectOf, unfitSettings } from './stream-settings.ts';

/** Bytes asked for ahead of what is folded. */
export const READ_AHEAD_BYTES = 8 * 1024 * 1024;
/** How long one request for messages stands; a consumer whose server died is noticed within it. */
const PULL_MS = 3_000;
/** Interval at which the end of the log is compared with what was read. */
export const WATCH_MS = 1_500;
/**
 * The stream counts as lost when it lacks what was read at each look in this time. A leader that was cut off from the
 * others answers until it notices, ten to twenty seconds later, and lacks what they acknowledged meanwhile (nats-server
 * server/raft.go, lostQuorumInterval, lostQuorumCheckInterval).
 */
const LOSS_MS = 30_000;
const PAUSE_MS = 250;
/** An append waits so long until what was found in its way has been read. */
const CATCH_UP_MS = 1_500;
const ENTRY_HEADER = 'Periplus-Entry';
const PART_HEADER = 'Periplus-Part';

export interface JetStreamOptions {
  readonly link: NatsLink;
  readonly mesh: string;
  /** Of the stream, when it is made; one that is there has at least as many. */
  readonly replicas: number;
  /** Default: what the servers take, less room for headers. */
  readonly partBytesMax?: number;
}

/** The stream cannot be the world log: its settings, or the account, do not permit it. */
export class UnfitStream extends Error {
  override readonly name = 'UnfitStream';
}

export class JetStreamLog implements WorldLog {
  readonly name: string;
  readonly #options: JetStreamOptions;
  readonly #stream: string;
  readonly #subject: string;
  /** Sequence number of the last message that was read. */
  #readTo = 0;
  /** Sequence number of the last entry that was given to the follower. */
  #given = 0;

  constructor(options: JetStreamOptions) {
    this.#options = options;
    this.#stream = streamName(options.mesh);
    this.#subject = subjectOf(options.mesh);
    this.name = `stream ${this.#stream} at ${options.link.shown}`;
  }

  /**
   * Checks the stream that is there, or makes it. Rejects with UnfitStream, or otherwise if out of reach. `mayCreate`:
   * false at a replica that has followed a log already, which must not begin it again.
   */
  async prepare(mayCreate = true): Promise<'made' | 'found' | 'missing'> {
    const { link, mesh, replicas } = this.#options;
    const { jsm } = await link.connected();
    try {
      const { config } = await jsm.streams.info(this.#stream);
      const wrong = unfitSettings(config, mesh, replicas);
      if (wrong.length === 0) return 'found';
      throw new UnfitStream(`${this.name} cannot be a world log: ${wrong.join('; ')}`);
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw refusal(error, this.name);
    }
    if (!mayCreate) return 'missing';
    try {
      await jsm.streams.add(streamSettings(mesh, replicas));
      return 'made';
    } catch (error) {
      throw refusal(error, this.name);
    }
  }

  /** Deletes the stream, if there is one. */
  async remove(): Promise<void> {
    const { jsm } = await this.#options.link.connected();
    try {
      await jsm.streams.delete(this.#stream);
    } catch (error) {
      if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error;
    }
    this.#readTo = 0;
    this.#given = 0;
  }

  async append(text: string, expectedLast: number, id: string): Promise<Appended> {
    try {
      const { js, nc } = await this.#options.link.connected();
      const bytesMax = this.#options.partBytesMax ?? (nc.info?.max_payload ?? DEFAULT_PAYLOAD) - HEADER_BYTES;
      // Nothing but unfinished parts follows the last entry.
      let last = expectedLast === this.#given ? Math.max(this.#readTo, expectedLast) : expectedLast;
      for (const part of splitEntry(text, id, bytesMax)) {
        const ack = await js.publish(this.#subject, part.bytes, {
          msgID: `${id}/${part.number}`,
          expect: { lastSequence: last },
          timeout: ANSWER_MS_MAX,
          retries: 0,
          headers: headersOf(part),
        });
        last = ack.seq;
      }
      return { kind: 'written', position: last };
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.StreamWrongLastSequence)) return this.#conflict();
      return { kind: 'unknown', why: error instanceof Error ? error.message : String(error) };
    }
  }

  async #conflict(): Promise<Appended> {
    try {
      return { kind: 'conflict', last: await this.last() };
    } catch (error) {
      return { kind: 'unknown', why: error instanceof Error ? error.message : String(error) };
    }
  }

  async at(position: number): Promise<LogEntry | undefined> {
    for (let since = Date.now(); ; ) {
      const found = await this.#entryAt(position);
      if (found !== undefined || Date.now() - since >= LOSS_MS) return found;
      await pause(WATCH_MS);
    }
  }

  async #entryAt(position: number): Promise<LogEntry | undefined> {
    const { jsm } = await this.#options.link.connected();
    const state = await stateOf(jsm, this.#stream);
    if (state === undefined || position > state.last_seq || position < state.first_seq) return undefined;
    const assembly = new Assembly();
    const end = await jsm.streams.getMessage(this.#stream, { seq: position });
    if (end === null) return undefined;
    const { of, number } = partOf(end.header, end.data);
    if (number !== of) return undefined;
    let text: string | undefined;
    for (let seq = position - of + 1; seq <= position; seq++) {
      const message = seq === position ? end : await jsm.streams.getMessage(this.#stream, { seq });
      if (message === null) return undefined;
      text = assembly.add(partOf(message.header, message.data));
    }
    return text === undefined ? undefined : { position, text };
  }

  async last(): Promise<number> {
    const { jsm } = await this.#options.link.connected();
    const state = await stateOf(jsm, this.#stream);
    const last = state?.last_seq ?? 0;
    const until = Date.now() + CATCH_UP_MS;
    while (this.#readTo < last && Date.now() < until) await pause(PAUSE_MS / 10);
    return this.#readTo === last ? this.#given : last;
  }

  follow(after: number, events: FollowEvents): { stop(): Promise<void> } {
    const following = new Following(this.#options.link, this.#stream, after, {
      onRead: (message, text, behind) => this.#onRead(message, text, behind, events),
      onReachable: reachable => events.onReachable(reachable),
      onLost: why => events.onLost(why),
    });
    this.#readTo = after;
    this.#given = after;
    void following.run();
    return { stop: () => following.stop() };
  }

  async #onRead(seq: number, text: string | undefined, behind: number, events: FollowEvents): Promise<void> {
    if (text === undefined) {
      this.#readTo = seq;
      events.onPassed?.(seq);
      return;
    }
    await events.onEntry({ position: seq, text }, behind);
    this.#readTo = seq;
    this.#given = seq;
  }
}

interface Reading {
  /** `text`: of the entry that the message completes. `behind`: entries that follow it, at least. */
  onRead(seq: number, text: string | undefined, behind: number): Promise<void>;
  onReachable(reachable: boolean): void;
  onLost(why: string): void;
}

/** Reads the stream in order with a consumer that begins anew whenever it falls silent. */
class Following {
  readonly #link: NatsLink;
  readonly #stream: string;
  readonly #reading: Reading;
  readonly #assembly = new Assembly();
  #next: number;
  #consuming: { close(): Promise<unknown> } | undefined;
  #stopped = false;
  #done: Promise<void> = Promise.resolve();

  constructor(link: NatsLink, stream: string, after: number, reading: Reading) {
    this.#link = link;
    this.#stream = stream;
    this.#reading = reading;
    this.#next = after + 1;
  }

  run(): Promise<void> {
    const watching = this.#watch();
    this.#done = this.#consume().then(() => watching);
    return this.#done;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // A server that is away does not take leave of its consumer.
    await Promise.race([this.#consuming?.close().catch(() => undefined), pause(ANSWER_MS_MAX)]);
  }

  async #consume(): Promise<void> {
    while (!this.#stopped) {
      try {
        const { js } = await this.#link.connected();
        const consumer = await js.consumers.get(this.#stream, {
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: this.#next,
        });
        const messages = await consumer.consume({ max_bytes: READ_AHEAD_BYTES, expires: PULL_MS });
        this.#consuming = messages;
        for await (const message of messages) {
          if (this.#stopped) return;
          await this.#take(message);
        }
      } catch {
        // The watch tells whether the log can be reached; here it is only tried again.
      }
      await pause(PAUSE_MS);
    }
  }

  async #take({ seq, headers: found, data, info }: JsMsg): Promise<void> {
    if (seq < this.#next) return;
    const part = partOf(found, data);
    const text = this.#assembly.add(part);
    await this.#reading.onRead(seq, text, Math.floor(info.pending / part.of));
    this.#next = seq + 1;
  }

  /** Compares the end of the stream with what was read: a consumer may be silent because its server died. */
  async #watch(): Promise<void> {
    let before = 0;
    let missingSince: number | undefined;
    while (!this.#stopped) {
      const state = await this.#state();
      const missing = this.#missing(state);
      missingSince = missing === undefined ? undefined : (missingSince ?? Date.now());
      const isLost = missingSince !== undefined && Date.now() - missingSince >= LOSS_MS;
      if (missing !== undefined && isLost) return this.#reading.onLost(missing);
      this.#reading.onReachable(state !== 'unreachable' && missing === undefined);
      if (typeof state === 'number' && missing === undefined) {
        const isStuck = state >= this.#next && before === this.#next;
        if (isStuck) await Promise.race([this.#consuming?.close().catch(() => undefined), pause(ANSWER_MS_MAX)]);
      }
      before = this.#next;
      await pause(WATCH_MS);
    }
    return undefined;
  }

  /** What the stream lacks of what was read; undefined: nothing, or that cannot be known now. */
  #missing(state: number | 'unreachable' | 'gone'): string | undefined {
    if (state === 'gone') return 'the stream is not there any more';
    const read = this.#next - 1;
    return typeof state === 'number' && state < read ? `it ends at ${state}, before ${read}` : undefined;
  }

  async #state(): Promise<number | 'unreachable' | 'gone'> {
    try {
      const { jsm } = await this.#link.connected();
      return (await stateOf(jsm, this.#stream))?.last_seq ?? 'gone';
    } catch {
      return 'unreachable';
    }
  }
}

/**
 * Undefined: there is no such stream. Rejects if nothing is known of it: also if a server answers for a stream without
 * a leader, because that server may lack what a quorum acknowledged (nats-server server/jetstream_api.go,
 * jsStreamInfoRequest: without a leader any member answers).
 */
async function stateOf(jsm: Connected['jsm'], stream: string): Promise<StreamState | undefined> {
  try {
    const { state, cluster } = await jsm.streams.info(stream);
    if (cluster !== undefined && (cluster.leader ?? '') === '') throw new Error('the stream has no leader');
    return state;
  } catch (error) {
    if (isApiError(error, JetStreamApiCodes.StreamNotFound)) return undefined;
    throw error;
  }
}

/** If a server does not say what it takes. */
const DEFAULT_PAYLOAD = 1024 * 1024;

function headersOf({ entry, number, of }: Part): MsgHdrs {
  const given = headers();
  given.set(ENTRY_HEADER, entry);
  given.set(PART_HEADER, `${number}/${of}`);
  return given;
}

function partOf(found: MsgHdrs | undefined, bytes: Uint8Array): Part {
  const [number = '1', of = '1'] = (found?.get(PART_HEADER) ?? '').split('/');
  return { entry: found?.get(ENTRY_HEADER) ?? '', number: Number(number) || 1, of: Number(of) || 1, bytes };
}

function isApiError(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

/** A request that JetStream itself refuses cannot be retried, unless it has to wait for one of the servers. */
function refusal(error: unknown, name: string): unknown {
  if (!(error instanceof JetStreamApiError) || error.status === UNAVAILABLE) return error;
  const isWaiting = error.code === NO_PEERS && PEER_AWAY.test(error.message);
  return isWaiting ? new Error(`${name}: ${error.message}`) : new UnfitStream(`${name}: ${error.message}`);
}

const UNAVAILABLE = 503;
/** JSClusterNoPeersErrF, whose text alone tells why (nats-server server/jetstream_cluster.go, selectPeerError). */
const NO_PEERS = 10_005;
/** A server that the leader has not heard from, or does not know yet. */
const PEER_AWAY = /peer offline|miscellaneous issue/;

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref());
}
