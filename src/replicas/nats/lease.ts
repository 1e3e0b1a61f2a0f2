// Who leads, as the one message of a stream whose messages live for LEASE_TTL_MS. It is renewed by naming the sequence
// number of the one before, so two replicas never both believe that the servers gave it to them; what a slow one
// believes longer is refused by the log.

import { DiscardPolicy, JetStreamApiCodes, JetStreamApiError, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { LEASE_TTL_MS, type Lease } from '../world-log.ts';
import { type Connected, type NatsLink, within } from './connection.ts';

/** An answer that comes later is of no use: the lease is renewed more often. */
const HOLD_MS_MAX = 1_000;
const NS_PER_MS = 1_000_000;
/** JetStream wants it to be no longer than messages live. */
const DUPLICATE_WINDOW_MS = 1_000;
const NONE = 0;

export class NatsLease implements Lease {
  readonly #link: NatsLink;
  readonly #stream: string;
  readonly #subject: string;
  readonly #replicas: number;
  #isMade = false;
  #sequence: number | undefined;

  constructor(link: NatsLink, mesh: string, replicas: number) {
    this.#link = link;
    this.#stream = `periplus-${mesh}-lease`;
    this.#subject = `periplus.${mesh}.lease`;
    this.#replicas = replicas;
  }

  async hold(holder: string): Promise<'held' | 'taken' | 'unreachable'> {
    try {
      return await within(this.#hold(holder), HOLD_MS_MAX, 'no answer');
    } catch {
      this.#sequence = undefined;
      return 'unreachable';
    }
  }

  async #hold(holder: string): Promise<'held' | 'taken'> {
    const servers = await this.#open();
    const known = this.#sequence;
    if (known !== undefined && (await this.#put(servers, holder, known))) return 'held';
    if (await this.#put(servers, holder, NONE)) return 'held';
    const there = await this.#read(servers);
    // Our own, renewed by a request whose answer was lost.
    const isOurs = there?.holder === holder && (await this.#put(servers, holder, there.sequence));
    return isOurs ? 'held' : 'taken';
  }

  async release(holder: string): Promise<void> {
    const release = async (): Promise<void> => {
      const servers = await this.#open();
      const there = await this.#read(servers);
      if (there?.holder === holder) await servers.jsm.streams.deleteMessage(this.#stream, there.sequence, false);
    };
    this.#sequence = undefined;
    await within(release(), HOLD_MS_MAX, 'no answer').catch(() => undefined);
  }

  /** False: the message before is another one. */
  async #put({ js }: Connected, holder: string, before: number): Promise<boolean> {
    try {
      const ack = await js.publish(this.#subject, holder, {
        expect: { lastSubjectSequence: before },
        timeout: HOLD_MS_MAX,
        retries: 0,
      });
      this.#sequence = ack.seq;
      return true;
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== JetStreamApiCodes.StreamWrongLastSequence)
        throw error;
      this.#sequence = undefined;
      return false;
    }
  }

  async #read({ jsm }: Connected): Promise<{ readonly holder: string; readonly sequence: number } | undefined> {
    const message = await jsm.streams.getMessage(this.#stream, { last_by_subj: this.#subject });
    return message === null ? undefined : { holder: message.string(), sequence: message.seq };
  }

  async #open(): Promise<Connected> {
    const servers = await this.#link.connected();
    if (this.#isMade) return servers;
    // An equal one that is there already is no error.
    await servers.jsm.streams.add({
      name: this.#stream,
      subjects: [this.#subject],
      retention: RetentionPolicy.Limits,
      storage: StorageType.Memory,
      discard: DiscardPolicy.Old,
      num_replicas: this.#replicas,
      max_msgs_per_subject: 1,
      max_age: LEASE_TTL_MS * NS_PER_MS,
      duplicate_window: DUPLICATE_WINDOW_MS * NS_PER_MS,
    });
    this.#isMade = true;
    return servers;
  }
}
