// The other replicas: how far each has come, by a beat twice a second, and what each has to say about its own proxies.
// Nothing of it is recorded, and nothing that is sent follows from it but when a new stream is served.
//
// A replica that is behind waits, for a bounded time, until it has folded what the most advanced one had: otherwise a
// proxy that moves would be sent older configuration than it holds. Beats carry the chain at their position, so two
// replicas that folded different histories find out.

import type { Digest } from './integrity.ts';
import type { Mirror, MirrorClock } from './mirror.ts';

export const BEAT_MS = 500;
/** A replica without a beat for so long counts as gone. */
export const SILENT_MS_MAX = 3_000;
/** A new stream is served after this, even from behind. */
export const CATCH_UP_MS_MAX = 2_000;
/** Wait for the answers of the others to one question. */
export const ASK_MS_MAX = 4_000;

export interface Beat {
  readonly id: string;
  readonly position: number;
  readonly chain: string;
  /** The term in which it writes. */
  readonly term?: number;
  /** Milliseconds since the epoch, by its own clock. */
  readonly frozenSince?: number;
  /** Why it folds nothing more. */
  readonly lost?: string;
  /** Why it serves no proxy. */
  readonly withdrawn?: string;
  /** Of its world at the newest check point. */
  readonly digest?: Digest;
}

/** How replicas reach each other. Never rejects: who cannot be reached is silent. */
export interface PeerChannel {
  sendBeat(text: string): void;
  onBeat(listener: (text: string) => void): void;
  /** Undefined: no answer in time. */
  ask(id: string, question: string, ms: number): Promise<string | undefined>;
  onQuestion(id: string, answer: (question: string) => Promise<string>): void;
  close(): void;
}

export interface PeersOptions {
  readonly id: string;
  readonly channel: PeerChannel;
  readonly mirror: Mirror;
  readonly term: () => number | undefined;
  readonly digest?: () => Digest | undefined;
  readonly withdrawn?: () => string | undefined;
  /** Called after each beat of another replica. */
  readonly onHeard?: () => void;
  readonly clock: MirrorClock;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** `text` undefined: it did not answer. */
export interface PeerAnswer {
  readonly id: string;
  readonly text: string | undefined;
}

interface Known {
  readonly beat: Beat;
  readonly at: number;
}

export class Peers {
  readonly #options: PeersOptions;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Set<() => void>();
  #differs = new Set<string>();
  #timer: { cancel(): void } | undefined;
  #stopped = false;
  /** Streams that were served from behind. */
  behind = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
    options.channel.onBeat(text => this.#heard(text));
    options.mirror.listen(() => {
      for (const look of [...this.#waiting]) look();
    });
  }

  start(): void {
    if (this.#stopped) return;
    const { channel, clock } = this.#options;
    channel.sendBeat(JSON.stringify(this.own()));
    this.#timer = clock.after(BEAT_MS, () => this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const look of [...this.#waiting]) look();
    this.#options.channel.close();
  }

  own(): Beat {
    const { id, mirror, term, digest, withdrawn } = this.#options;
    const { position, chain } = mirror.position;
    const { unreachableSince: frozenSince, lost } = mirror;
    return { id, position, chain, term: term(), frozenSince, lost, digest: digest?.(), withdrawn: withdrawn?.() };
  }

  /** Those heard of lately, by id. */
  others(): readonly Beat[] {
    const since = this.#options.clock.now() - SILENT_MS_MAX;
    for (const [id, { at }] of this.#known) if (at < since) this.#known.delete(id);
    return [...this.#known.values()].map(({ beat }) => beat).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The furthest position that a replica says it has folded. */
  furthest(): number {
    return this.others().reduce(
      (most, { position, lost }) => (lost === undefined ? Math.max(most, position) : most),
      0,
    );
  }

  /** Resolves once this replica has folded what any other had when it was called, or after CATCH_UP_MS_MAX. */
  async caughtUp(): Promise<void> {
    const wanted = this.furthest();
    if (await this.reached(wanted, CATCH_UP_MS_MAX)) return;
    this.behind++;
    const { mirror, say } = this.#options;
    say('warn', `a proxy is served from position ${mirror.position.position}, and another replica is at ${wanted}`);
  }

  /** Whether this replica has folded up to there within `ms`. */
  async reached(position: number, ms: number): Promise<boolean> {
    const { mirror, clock } = this.#options;
    const isThere = (): boolean => mirror.position.position >= position;
    if (isThere()) return true;
    await new Promise<void>(resolve => {
      const done = (): void => {
        this.#waiting.delete(look);
        timer.cancel();
        resolve();
      };
      const look = (): void => {
        if (isThere() || this.#stopped) done();
      };
      const timer = clock.after(ms, done);
      this.#waiting.add(look);
    });
    return isThere();
  }

  /** Asks every other replica that is heard of, all at once. */
  ask(question: string): Promise<readonly PeerAnswer[]> {
    const { channel } = this.#options;
    return Promise.all(
      this.others().map(async ({ id }) => ({ id, text: await channel.ask(id, question, ASK_MS_MAX) })),
    );
  }

  #heard(text: string): void {
    const beat = beatIn(text);
    const { id, clock, mirror, say } = this.#options;
    if (beat === undefined || beat.id === id) return;
    this.#known.set(beat.id, { beat, at: clock.now() });
    const chain = mirror.chainAt(beat.position);
    const differs = chain !== undefined && chain !== beat.chain && beat.lost === undefined;
    if (differs && !this.#differs.has(beat.id)) {
      say('error', `replica ${beat.id} and this one folded different entries at position ${beat.position}`);
      void mirror.check();
    }
    if (differs) this.#differs.add(beat.id);
    else this.#differs.delete(beat.id);
    this.#options.onHeard?.();
  }
}

function beatIn(text: string): Beat | undefined {
  try {
    const beat = JSON.parse(text) as Partial<Beat> | null;
    const isBeat = typeof beat?.id === 'string' && typeof beat.position === 'number' && typeof beat.chain === 'string';
    return isBeat ? (beat as Beat) : undefined;
  } catch {
    return undefined;
  }
}
