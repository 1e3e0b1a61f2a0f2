// The journal's writer thread without a thread, so that the mutants of its code act in the trial as well. The module is
// loaded once, as a function that is called with the port of each writer; messages are cloned as between threads.

import { EventEmitter } from 'node:events';

interface Thread {
  readonly parentPort: EventEmitter & { postMessage(message: unknown): void; close(): void };
  readonly workerData: unknown;
}

class InProcessWorker extends EventEmitter {
  readonly #port = new EventEmitter();
  #isOver = false;

  constructor(file: URL, workerData: unknown) {
    super();
    const parentPort = Object.assign(this.#port, {
      postMessage: (message: unknown) => this.#deliver(this, message),
      close: () => void setImmediate(() => this.#end()),
    });
    const module = `${file.pathname}?thread`;
    void (async () => {
      try {
        const { startThread } = (await import(/* @vite-ignore */ module)) as { startThread(thread: Thread): void };
        startThread({ parentPort, workerData: structuredClone(workerData) });
      } catch (error) {
        this.#fail(error);
      }
    })();
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
