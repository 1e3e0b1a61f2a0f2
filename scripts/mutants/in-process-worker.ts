// The journal's writer thread without a thread, so that the mutants of its code act in the trial as well. The module is
// loaded once more for each writer, with a port of its own; messages are cloned as between threads.

import { EventEmitter } from 'node:events';

interface Thread {
  readonly parentPort: EventEmitter & { postMessage(message: unknown): void; close(): void };
  readonly workerData: unknown;
}

const shared = globalThis as unknown as { __periplusThread__?: Thread | undefined };
/** One module at a time finds its port. */
let loading: Promise<unknown> = Promise.resolve();
let threads = 0;

class InProcessWorker extends EventEmitter {
  readonly #port = new EventEmitter();
  #isOver = false;

  constructor(file: URL, workerData: unknown) {
    super();
    const parentPort = Object.assign(this.#port, {
      postMessage: (message: unknown) => this.#deliver(this, message),
      close: () => void setImmediate(() => this.#end()),
    });
    const load = `${file.pathname}?thread=${++threads}`;
    loading = loading.then(async () => {
      shared.__periplusThread__ = { parentPort, workerData: structuredClone(workerData) };
      try {
        await import(/* @vite-ignore */ load);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  postMessage(message: unknown): void {
    this.#deliver(this.#port, message);
  }

  ref(): void {}
  unref(): void {}

  async terminate(): Promise<number> {
    this.#end();
    return 1;
  }

  #deliver(to: EventEmitter, message: unknown): void {
    const cloned = structuredClone(message);
    setImmediate(() => {
      if (this.#isOver) return;
      try {
        to.emit('message', cloned);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #fail(error: unknown): void {
    this.emit('error', error);
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit('exit', 0);
  }
}

export function startWorker(file: URL, workerData: unknown): InProcessWorker {
  return new InProcessWorker(file, workerData);
}
