// How long each turn of the event loop takes, without a timer: `monitorEventLoopDelay` of Node wakes an idle process a
// hundred times a second, which is 8 ms of CPU time. An immediate that does not keep the loop alive runs once a turn
// and causes none.

import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks';

/** One figure of the turns since they were last forgotten. */
interface Figure {
  /** As prom-client calls what its own timer sees; ours stands in its place. */
  readonly name: string;
  readonly help: string;
  readonly nanoseconds: (turns: RecordableHistogram) => number;
}

const FIGURES: readonly Figure[] = [
  { name: 'min', help: 'Shortest turn', nanoseconds: ({ min }) => min },
  { name: 'max', help: 'Longest turn', nanoseconds: ({ max }) => max },
  { name: 'mean', help: 'Mean of the turns', nanoseconds: ({ mean }) => mean },
  { name: 'stddev', help: 'Standard deviation of the turns', nanoseconds: ({ stddev }) => stddev },
  ...[50, 90, 99].map(percent => ({
    name: `p${percent}`,
    help: `${percent}th percentile of the turns`,
    nanoseconds: (turns: RecordableHistogram) => turns.percentile(percent),
  })),
];

/** Turns of the loop of the thread that makes this. A turn begins when the loop has something to do. */
export class LoopTurns {
  /** Nanoseconds. */
  readonly #turns = createHistogram();
  #at = performance.now();
  #idle = performance.eventLoopUtilization().idle;

  constructor() {
    this.#await();
  }

  /** In seconds, 0 without a turn. */
  get figures(): readonly (Omit<Figure, 'nanoseconds'> & { readonly seconds: () => number })[] {
    return FIGURES.map(({ name, help, nanoseconds }) => ({ name, help, seconds: () => this.#seconds(nanoseconds) }));
  }

  /** Seconds of the longest turn since this was last called; the figures begin again. */
  takeLongest(): number {
    const longest = this.#seconds(({ max }) => max);
    this.#turns.reset();
    return longest;
  }

  #seconds(nanoseconds: Figure['nanoseconds']): number {
    return this.#turns.count === 0 ? 0 : nanoseconds(this.#turns) / 1e9;
  }

  #await(): void {
    setImmediate(() => {
      const [now, { idle }] = [performance.now(), performance.eventLoopUtilization()];
      const tookMs = now - this.#at - (idle - this.#idle);
      this.#turns.record(Math.max(1, Math.round(tookMs * 1e6)));
      this.#at = now;
      this.#idle = idle;
      this.#await();
    }).unref();
  }
}
