// The main thread's end of the writer thread: sends requests, receives answers, and starts a new thread if the old one
// died.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { errorText, JournalFault } from './fault.ts';
import type { HandedRows, WriterAnswer, WriterRequest, WriterSetup, WriterTask } from './sqlite-writer.ts';
import { startWorker } from './start-worker.ts';
import { type Group, type PendingRow, unreadable } from './store.ts';

interface Outstanding {
  readonly resolve: (answer: WriterAnswer) => void;
  readonly reject: (fault: JournalFault) => void;
}

const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? './sqlite-writer.ts' : './sqlite-writer.js', import.meta.url);
/**
 * Young generation of the thread, in MiB; V8 alone takes up to 48. What the writer makes is garbage once its rows are
 * written, so more memory would save it nothing.
 */
const LIMITS = { maxYoungGenerationSizeMb: 3 };

/** Characters of rows that are copied to the thread in one turn of the event loop, which takes some milliseconds. */
export const HANDED_CHARS_AT_ONCE = 2 * 1024 * 1024;

export class WriterLink {
  readonly #setup: WriterSetup;
  readonly #outstanding = new Map<number, Outstanding>();
  #worker: Promise<Worker> | undefined;
  #nextId = 1;
  #closing = false;

  constructor(setup: WriterSetup) {
    this.#setup = setup;
  }

  /** Rejects with `write-failed` or `damaged`. Of commits one at a time. */
  async ask(task: WriterTask): Promise<WriterAnswer> {
    const worker = await this.start();
    const last: WriterTask =
      task.kind === 'commit' ? { ...task, group: await this.#handOver(worker, task.group) } : task;
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = await new Promise<WriterAnswer>((resolve, reject) => {
      this.#outstanding.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, task: last } satisfies WriterRequest);
    });
    if (answer.unreadable !== undefined) throw unreadable(this.#setup.path, answer.unreadable);
    if (answer.failed !== undefined) throw this.#fault(answer.failed);
    return answer;
  }

  /** Copies the rows of a large group, some in each turn of the event loop; the group that is still to be sent. */
  async #handOver(worker: Worker, group: Group): Promise<Group> {
    const parts = partsOf(group.rows);
    const [last = []] = parts.splice(-1);
    for (const rows of parts) {
      worker.postMessage({ rows } satisfies HandedRows);
      await nextTurn();
      // A thread that took its place has none of the rows.
      if ((await this.start()) !== worker) throw this.#fault('the writer thread ended');
    }
    return { ...group, rows: last };
  }

  start(): Promise<Worker> {
    this.#worker ??= this.#start();
    return this.#worker;
  }

  #start(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const worker = startWorker(SCRIPT, this.#setup, LIMITS);
      let why = 'the writer thread ended';
      worker.on('message', (message: 'ready' | WriterAnswer) => {
        if (message === 'ready') resolve(worker);
        else this.#answered(worker, message);
      });
      worker.on('error', error => {
        why = `the writer thread failed: ${errorText(error)}`;
      });
      worker.on('exit', () => {
        this.#worker = undefined;
        reject(this.#fault(why));
        for (const { reject: rejectTask } of this.#outstanding.values()) rejectTask(this.#fault(why));
        this.#outstanding.clear();
      });
    });
  }

  #answered(worker: Worker, answer: WriterAnswer): void {
    this.#outstanding.get(answer.id)?.resolve(answer);
    this.#outstanding.delete(answer.id);
    // An idle journal does not keep the process alive; one that writes or closes does.
    if (this.#outstanding.size === 0 && !this.#closing) worker.unref();
  }

  async close(): Promise<void> {
    if (this.#worker === undefined) return;
    this.#closing = true;
    const worker = await this.#worker;
    worker.ref();
    const ended = new Promise<void>(resolve => worker.once('exit', () => resolve()));
    await this.ask({ kind: 'close' });
    await ended;
  }

  #fault(why: string): JournalFault {
    const advice = 'free space or mend the disk; the next append is tried anew';
    return new JournalFault('write-failed', `the journal could not be written (${why}); ${advice}`, {
      path: this.#setup.path,
    });
  }
}

/** The rows in lists of about HANDED_CHARS_AT_ONCE characters, in order; at least one list. */
function partsOf(rows: Group['rows']): Group['rows'][] {
  const parts: PendingRow[][] = [[]];
  let chars = 0;
  for (const row of rows) {
    if (chars >= HANDED_CHARS_AT_ONCE) {
      parts.push([]);
      chars = 0;
    }
    parts.at(-1)!.push(row);
    chars += row[3].length;
  }
  return parts;
}
