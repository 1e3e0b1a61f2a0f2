// Questions to the explorer's threads: which thread takes which, in which order, how many may wait, and how one is
// called off. Runs in the process that serves; it does no work of its own but passing bytes on.
//
// Invariant: a thread works on one question at a time. Of one client only the newest question of a path is answered;
// older ones end with 409. Limits count a caller's questions together, since a client's name is its own choice. A
// thread that does not heed a cancellation is ended, and the next question starts a new one.

import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../journal/start-worker.ts';
import type { Viewer } from '../http.ts';
import { Cancelled } from './question.ts';
import type { Lane, ThreadMessage, ThreadQuestion, ThreadSetup } from './thread.ts';

/** Questions that wait for a thread; more are refused with 503. */
export const QUESTIONS_WAITING_MAX = 32;
/** Of them by one caller, whatever its pages call themselves. */
export const QUESTIONS_OF_CALLER_MAX = 12;
/** A question that takes longer is ended, with its thread. */
export const ANSWER_MS_MAX = 300_000;
/** How long a cancelled question may go on before its thread is ended. */
export const CANCEL_MS_MAX = 5_000;
/** The page shows its first view by then, and may ask about a moment next. */
export const STATES_AHEAD_MS = 1_000;
/** A thread that is not asked for this long is ended, and what it keeps is freed. */
export const IDLE_MS_MAX = 600_000;

export interface AskerSetup extends Omit<ThreadSetup, 'lane' | 'isAhead' | 'answering'> {
  readonly onError: (message: string) => void;
}

export interface Question {
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly viewer: Viewer;
  /** Whom limits count against: a proven identity, or an address. */
  readonly caller: string;
  /** What the asker calls itself: a page, or a connection. Names of two callers are never the same client. */
  readonly client: string;
  readonly onProgress?: (done: number, of: number) => void;
}

export interface ThreadAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Of a thread that folds a journal file: texts wait for the next version of their object, and would be copied by every
 * collection of a smaller one. Megabytes; beside a control plane Node's own default.
 */
const YOUNG_GENERATION_MB = 96;

const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
const laneOf: Readonly<Record<string, Lane>> = {
  '/info': 'timeline',
  '/density': 'timeline',
  '/events': 'timeline',
  '/live': 'timeline',
  '/position': 'timeline',
  '/object/versions': 'timeline',
  '/what-if': 'search',
  '/bisect': 'search',
  '/incident': 'search',
  '/outages': 'search',
  '/proxy/history': 'search',
  '/object/effect': 'search',
};

/** Asked by the page by itself: any other question of the lane goes before; one that runs is asked again then. */
const background: ReadonlySet<string> = new Set(['/outages']);

interface Job {
  readonly question: Question;
  readonly cancel: Int32Array;
  /** Called off for another question: it is asked again. */
  isPreempted: boolean;
  readonly resolve: (answer: ThreadAnswer) => void;
}

export class Asker {
  readonly #lanes: Readonly<Record<Lane, LaneOfQuestions>>;
  /** Behind a journal file a page is about to ask; beside a control plane perhaps never. */
  readonly #isAhead: boolean;
  #ahead: NodeJS.Timeout | undefined;

  constructor(setup: AskerSetup) {
    const answering = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const lane = (name: Lane): LaneOfQuestions => new LaneOfQuestions({ ...setup, lane: name, answering });
    this.#lanes = { timeline: lane('timeline'), state: lane('state'), search: lane('search') };
    this.#isAhead = setup.mode === 'file';
    if (this.#isAhead) this.#lanes.timeline.startAhead();
  }

  /** Never rejects: what goes wrong is an answer with a status and `{error}`. Aborting it makes it 409. */
  ask(question: Question, signal?: AbortSignal): Promise<ThreadAnswer> {
    if (this.#isAhead) this.#ahead ??= setTimeout(() => this.#startStates(), STATES_AHEAD_MS).unref();
    return this.#lanes[laneOf[question.path] ?? 'state'].ask(question, signal);
  }

  /** Again after it was ended for not being asked: who reads the timeline may go on to a state. */
  #startStates(): void {
    this.#ahead = undefined;
    this.#lanes.state.startAhead();
  }

  async close(): Promise<void> {
    clearTimeout(this.#ahead);
    await Promise.all(Object.values(this.#lanes).map(lane => lane.close()));
  }
}

class LaneOfQuestions {
  readonly #setup: AskerSetup & ThreadSetup;
  readonly #answering: Int32Array;
  #waiting: Job[] = [];
  #running: Job | undefined;
  #id = 0;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(setup: AskerSetup & ThreadSetup) {
    this.#setup = setup;
    this.#answering = new Int32Array(setup.answering);
  }

  ask(question: Question, signal?: AbortSignal): Promise<ThreadAnswer> {
    if (this.#closed) return Promise.resolve(fault(503, 'the explorer is being closed'));
    this.#supersede(question);
    const ofCaller = this.#waiting.filter(job => job.question.caller === question.caller).length;
    if (this.#waiting.length >= QUESTIONS_WAITING_MAX || ofCaller >= QUESTIONS_OF_CALLER_MAX) {
      return Promise.resolve(fault(503, 'too many questions wait; ask again later'));
    }
    return new Promise(resolve => {
      const cancel = new Int32Array(new SharedArrayBuffer(4));
      const job: Job = { question, cancel, isPreempted: false, resolve };
      signal?.addEventListener('abort', () => this.#callOff(job), { once: true });
      this.#waiting.push(job);
      if (this.#running !== undefined && isBackground(this.#running) && !isBackground(job))
        this.#callOff(this.#running, true);
      this.#next();
    });
  }

  /** Its thread gets ready for the first question. */
  startAhead(): void {
    if (this.#closed || this.#worker !== undefined) return;
    this.#worker = this.#start(true);
    this.#worker.unref();
    this.#allow(IDLE_MS_MAX);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.resolve(fault(503, 'the explorer is being closed'));
    await this.#end('the explorer is being closed');
  }

  /** What the client asked before on the same path is not wanted any more. */
  #supersede({ caller, client, path }: Question): void {
    const isOlder = ({ question }: Job): boolean =>
      question.caller === caller && question.client === client && question.path === path;
    for (const job of this.#waiting.filter(isOlder)) this.#callOff(job);
    if (this.#running !== undefined && isOlder(this.#running)) this.#callOff(this.#running);
  }

  #callOff(job: Job, isPreempted = false): void {
    job.isPreempted = isPreempted;
    Atomics.store(job.cancel, 0, 1);
    if (this.#waiting.includes(job)) {
      this.#waiting = this.#waiting.filter(other => other !== job);
      job.resolve(cancelled());
    } else if (job === this.#running) this.#allow(CANCEL_MS_MAX);
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.find(one => !isBackground(one)) ?? this.#waiting[0];
    this.#waiting = this.#waiting.filter(one => one !== job);
    this.#allow(job === undefined ? IDLE_MS_MAX : ANSWER_MS_MAX);
    if (job === undefined) return;
    this.#running = job;
    if (isAwaited(job)) Atomics.add(this.#answering, 0, 1);
    const { path, query, body, viewer } = job.question;
    const cancel = job.cancel.buffer as SharedArrayBuffer;
    const message: ThreadQuestion = { id: ++this.#id, path, query, body, viewer, cancel };
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(message);
  }

  #start(isAhead = false): Worker {
    const { onError, ...setup } = this.#setup;
    const limits = setup.mode === 'file' ? { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } : {};
    const worker = startWorker(SCRIPT, { ...setup, isAhead } satisfies ThreadSetup, limits);
    worker.on('message', (message: ThreadMessage) => this.#take(message));
    worker.on('error', error => onError(`the explorer's thread failed: ${error.message}`));
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#finish(fault(500, "the explorer's thread ended; ask again"));
    });
    return worker;
  }

  #take(message: ThreadMessage): void {
    if (message === 'ready' || message.id !== this.#id) return;
    if ('progress' in message) {
      this.#running?.question.onProgress?.(message.progress.done, message.progress.of);
      return;
    }
    if (message.failure !== undefined) this.#setup.onError(`explorer: ${message.failure}`);
    this.#finish({ status: message.status, body: message.answer });
  }

  #finish(answer: ThreadAnswer): void {
    const job = this.#running;
    this.#running = undefined;
    if (job !== undefined && isAwaited(job)) Atomics.sub(this.#answering, 0, 1);
    this.#worker?.unref();
    if (job?.isPreempted === true && answer.status === CANCELLED && !this.#closed) {
      job.isPreempted = false;
      Atomics.store(job.cancel, 0, 0);
      this.#waiting.push(job);
    } else job?.resolve(answer);
    if (!this.#closed) this.#next();
  }

  /** How long the thread has for what it does, or for doing nothing. */
  #allow(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const why = this.#running === undefined ? '' : 'the question took too long and was ended';
      void this.#end(why);
    }, ms);
    this.#timer.unref();
  }

  async #end(why: string): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    const job = this.#running;
    if (job !== undefined) this.#finish(Atomics.load(job.cancel, 0) === 1 ? cancelled() : fault(503, why));
    await worker?.terminate();
  }
}

function isBackground({ question }: Job): boolean {
  return background.has(question.path);
}

/** Somebody waits for it, not for long: the other threads leave the processor to it. Live tails ask all the time. */
function isAwaited({ question: { path } }: Job): boolean {
  return path !== '/live' && laneOf[path] !== 'search';
}

const CANCELLED = 409;

function cancelled(): ThreadAnswer {
  const { status, message } = new Cancelled();
  return fault(status, message);
}

function fault(status: number, error: string): ThreadAnswer {
  return { status, body: Buffer.from(JSON.stringify({ error })) };
}
