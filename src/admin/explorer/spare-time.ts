// When a thread works for later: between questions, its own and those that other threads answer, since they share the
// processor. Questions come in groups, so it waits until there was none for a while, but not for ever: a reader who
// asks all the time is to see the end of the index, too.

/** Since the last question. */
const QUIET_MS = 100;
/** What the first slice waits at most … */
export const UNQUIET_MS_MAX = 1_000;
/** … and the next ones: this many times as long as the one before took. */
export const UNQUIET_SLICES_MAX = 4;
/** What only makes later answers quicker waits this long before each slice. */
export const PATIENT_MS_MAX = 10_000;
/** How often what waits looks again. */
const LOOK_MS = 10;

interface Timers {
  /** Milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const timers: Timers = {
  now: () => performance.now(),
  pause: ms => new Promise(resolve => setTimeout(resolve, ms)),
};

export class SpareTime {
  readonly #timers: Timers;
  readonly #isElsewhere: () => boolean;
  #answering = 0;
  #isAsked = false;
  #lastAsked: number;

  /** `isElsewhere`: another thread is answering a question. */
  constructor(used: Timers = timers, isElsewhere: () => boolean = () => false) {
    this.#timers = used;
    this.#isElsewhere = isElsewhere;
    this.#lastAsked = used.now();
  }

  begun(): void {
    this.#answering++;
    this.#isAsked = true;
  }

  ended(): void {
    this.#answering--;
    this.#lastAsked = this.#timers.now();
  }

  /** Resolves at the first question, soon in any case: until then a browser is starting, which needs the processor. */
  async asked(): Promise<void> {
    const end = this.#timers.now() + UNQUIET_MS_MAX;
    while (!this.#isAsked && this.#timers.now() < end) await this.#timers.pause(LOOK_MS);
  }

  /** Resolves once no question is being answered. */
  readonly answered = async (): Promise<void> => {
    while (this.#answering > 0) await this.#timers.pause(LOOK_MS);
  };

  /**
   * Work for later, slice by slice, until `slice` says that there is no more. A journal that cannot be read ends it: a
   * question about what is missing names the fault. `msMax`: what each slice waits at most; default: see above.
   */
  async work(slice: () => Promise<boolean>, msMax?: number): Promise<void> {
    let [isMore, waitMs] = [true, msMax ?? UNQUIET_MS_MAX];
    try {
      while (isMore) {
        await this.#quiet(waitMs);
        const started = this.#timers.now();
        isMore = await slice();
        waitMs = msMax ?? (this.#timers.now() - started) * UNQUIET_SLICES_MAX;
      }
    } catch {
      // See above.
    }
  }

  async #quiet(msMax: number): Promise<void> {
    const { now, pause } = this.#timers;
    const end = now() + msMax;
    const isBusy = (): boolean => {
      if (this.#answering > 0 || this.#isElsewhere()) this.#lastAsked = now();
      return now() < this.#lastAsked + QUIET_MS;
    };
    do await pause(isBusy() ? LOOK_MS : 0);
    while (isBusy() && now() < end);
  }
}
