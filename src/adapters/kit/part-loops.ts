// The loops of an adapter that reads a registry in parts: one for the list of the parts, one for each part. The loop of
// a part ends with the part, all of them with the adapter.
//
// Invariant: the first try of every loop ends: when the loop says so, or when it is stopped. So a start that waits for
// it never hangs on a part that is gone.

/** Ends soon after `signal` is aborted. Calls `tried` when it has read once, or could not. */
export type PartLoop = (signal: AbortSignal, tried: () => void) => Promise<void>;

export class PartLoops {
  readonly #stop = new AbortController();
  readonly #parts = new Map<string, { readonly stop: AbortController; readonly tried: Promise<void> }>();
  readonly #running = new Set<Promise<void>>();

  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  has(part: string): boolean {
    return this.#parts.has(part);
  }

  /** Begins the loop of the list, and resolves when it has been tried. */
  begin(loop: PartLoop): Promise<void> {
    return this.#run(loop, this.#stop);
  }

  /** Nothing happens if the part has a loop already, or after `stop`. */
  beginPart(part: string, loop: PartLoop): void {
    if (this.#parts.has(part) || this.isStopped) return;
    const stop = new AbortController();
    this.#parts.set(part, { stop, tried: this.#run(loop, stop) });
  }

  endPart(part: string): void {
    this.#parts.get(part)?.stop.abort();
    this.#parts.delete(part);
  }

  /** The parts that have a loop. */
  get parts(): readonly string[] {
    return [...this.#parts.keys()];
  }

  /** Resolves when each part that is there now has been tried. */
  async partsTried(): Promise<void> {
    for (const { tried } of [...this.#parts.values()]) await tried;
  }

  stop(): void {
    this.#stop.abort();
    for (const { stop } of this.#parts.values()) stop.abort();
  }

  /** Resolves when no loop runs any more. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #run(loop: PartLoop, stop: AbortController): Promise<void> {
    return new Promise(resolve => {
      stop.signal.addEventListener('abort', () => resolve());
      const running = loop(stop.signal, resolve);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    });
  }
}
