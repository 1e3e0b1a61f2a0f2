// Parses files without holding up the event loop: what is small, or plain and not large, at once; anything else in a
// thread that has a budget of time and of memory. A text that goes past it is refused with a reason, and the next one
// gets a new thread.
//
// One task at a time, in the order in which they were given. The thread ends when it has been idle for a while.

import type { Worker } from 'node:worker_threads';
import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { YamlObjects } from '../../core/base/yaml-objects.ts';
import { othersHadTheirTurn } from '../kit/event-loop.ts';
import { Locator, type Place, type Position } from './locate.ts';
import {
  FILE_BYTES_MAX,
  type ParsedFile,
  type ParsedObject,
  type ParsedText,
  parseDocuments,
  parseFile,
  parsePlain,
  parsePlainFile,
  tooLarge,
  unreadFile,
} from './parse.ts';
import type { ParseAnswer, ParsePart, ParseTask } from './parse-thread.ts';
import { startThread } from './start-thread.ts';
import { MapFiller, type Members } from './vast-maps.ts';

/** Larger texts are not parsed in the main thread by the full parser, which takes some microseconds for a character. */
export const INLINE_BYTES_MAX = 2 * 1024;
/** Nor those, should they be plain: that takes a tenth of it. */
export const INLINE_PLAIN_BYTES_MAX = 64 * 1024;
/**
 * Time for one task by the clock: the start of the thread, and what its characters may take on a machine that is busy.
 */
export const PARSE_MS_BASE = 10_000;
export const PARSE_MS_PER_KIB = 10;
/** Heap of the thread. A valid list of 4 MiB in one document needs about half of it. */
export const PARSE_HEAP_MIB = 1_024;
/** Quiet time after which the thread ends. */
export const PARSE_IDLE_MS = 10_000;

const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? './parse-thread.ts' : './parse-thread.js', import.meta.url);

export interface ParseBudget {
  readonly ms: (chars: number) => number;
  readonly heapMiB: number;
}

const BUDGET: ParseBudget = {
  ms: chars => PARSE_MS_BASE + (chars / 1024) * PARSE_MS_PER_KIB,
  heapMiB: PARSE_HEAP_MIB,
};

/** Why a task was given up, in words that follow a file's name. */
class OverBudget extends Error {}

export class FileParser {
  readonly #budget: ParseBudget;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  /** Ends the task that is running. */
  #giveUp: ((why: string) => void) | undefined;
  #closed = false;

  constructor(budget: ParseBudget = BUDGET) {
    this.#budget = budget;
  }

  async parse(file: string, bytes: Uint8Array): Promise<ParsedFile> {
    if (bytes.length <= INLINE_BYTES_MAX) return parseFile(file, bytes);
    const plain = bytes.length <= INLINE_PLAIN_BYTES_MAX ? parsePlainFile(file, bytes) : undefined;
    if (plain !== undefined) return plain;
    const origin = { file };
    if (bytes.length > FILE_BYTES_MAX) return unreadFile({ origin, reason: tooLarge(bytes.length) });
    const objects: ParsedObject[] = [];
    try {
      const filler = new MapFiller();
      const answer = await this.#ask({ kind: 'file', file, bytes }, bytes.length, ({ kind, json }) => {
        if (kind === 'members') filler.fill(objects.at(-1)!.object, JSON.parse(json) as Members);
        else for (const object of JSON.parse(json) as readonly ParsedObject[]) objects.push(object);
      });
      return answer.kind === 'file' ? { ...answer.rest, objects } : unreadFile({ origin, reason: UNEXPECTED });
    } catch (error) {
      return unreadFile({ origin, reason: reasonOf(error) });
    }
  }

  /** All documents of a text that is no list of objects, such as a MeshConfig. */
  async documents(file: string, text: string): Promise<ParsedText> {
    if (text.length <= INLINE_BYTES_MAX) return parseDocuments(file, text);
    const plain = text.length <= INLINE_PLAIN_BYTES_MAX ? parsePlain(file, text) : undefined;
    if (plain !== undefined) return { documents: plain };
    let parsed: ParsedText = { origin: { file }, reason: UNEXPECTED };
    try {
      await this.#ask({ kind: 'documents', file, text }, text.length, ({ json }) => {
        parsed = JSON.parse(json) as ParsedText;
      });
      return parsed;
    } catch (error) {
      return { origin: { file }, reason: reasonOf(error) };
    }
  }

  /** The objects of a text, by the thread; left: why it gave the text up. */
  async objects(text: string): Promise<Either<string, YamlObjects>> {
    let parsed: Either<string, YamlObjects> = left(UNEXPECTED);
    try {
      await this.#ask({ kind: 'objects', text }, text.length, ({ json }) => {
        parsed = right(JSON.parse(json) as YamlObjects);
      });
      return parsed;
    } catch (error) {
      return left(reasonOf(error));
    }
  }

  /** True once nothing is parsed any more: what was refused since then may be sound. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Positions of paths in objects of one text, in the order of `places`; undefined where there is none to be found. */
  async locate(text: string, places: readonly Place[]): Promise<readonly (Position | undefined)[]> {
    if (text.length <= INLINE_BYTES_MAX) {
      const locator = new Locator(text);
      return places.map(place => locator.at(place));
    }
    const answer = await this.#ask({ kind: 'places', text, places }, text.length).catch(() => undefined);
    return answer?.kind === 'places' ? answer.positions : places.map(() => undefined);
  }

  /** Gives up what is running; what is asked for later is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#giveUp?.(STOPPING);
    await this.#end();
  }

  #ask(task: ParseTask, chars: number, takePart?: (part: ParsePart) => void): Promise<ParseAnswer> {
    const answer = this.#tail.then(() => this.#run(task, this.#budget.ms(chars), takePart));
    this.#tail = answer.catch(() => undefined);
    return answer;
  }

  async #run(task: ParseTask, ms: number, takePart?: (part: ParsePart) => void): Promise<ParseAnswer> {
    if (this.#closed) throw new OverBudget(STOPPING);
    clearTimeout(this.#idle);
    const thread = this.#thread ?? this.#start();
    const parts: ParsePart[] = [];
    try {
      const last = await this.#answerOf(thread, task, ms, parts);
      for (const part of parts) {
        takePart?.(part);
        // What is done with the part costs as much again.
        await othersHadTheirTurn();
      }
      return last;
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      this.#idle = setTimeout(() => void this.#end(), PARSE_IDLE_MS);
      this.#idle.unref();
    }
  }

  #start(): Worker {
    const thread = startThread(SCRIPT, this.#budget.heapMiB);
    this.#thread = thread;
    // One that ends while it is idle is replaced by the next task.
    const lost = (): void => {
      if (this.#thread === thread) this.#thread = undefined;
    };
    return thread.on('error', lost).on('exit', lost);
  }

  #answerOf(thread: Worker, task: ParseTask, ms: number, parts: ParsePart[]): Promise<ParseAnswer> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        this.#giveUp = undefined;
        thread.off('message', heard).off('error', failed).off('exit', ended).unref();
        end();
      };
      const fail = (why: string): void => settle(() => reject(new OverBudget(why)));
      const heard = (answer: ParseAnswer): void => {
        if (answer.kind === 'part' || answer.kind === 'members') parts.push(answer);
        else settle(() => resolve(answer));
      };
      const failed = (error: Error): void => fail(whyEnded(error, this.#budget.heapMiB));
      const ended = (): void => fail('the parser ended before it was done');
      const timer = setTimeout(() => fail(`takes longer than ${Math.ceil(ms / 1000)} s to parse`), ms);
      this.#giveUp = fail;
      thread.on('message', heard).on('error', failed).on('exit', ended).ref();
      thread.postMessage(task);
    });
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}

const STOPPING = 'the program is stopping';
const UNEXPECTED = 'the parser answered something else';

function whyEnded(error: Error & { readonly code?: string }, heapMiB: number): string {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `needs more than ${heapMiB} MiB to be parsed` : error.message;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
