// New events as they come, to every page that watches: one stream a page, asked for in the thread of the timeline
// twice a second, and only while somebody watches.

import type { ServerResponse } from 'node:http';
import type { LiveBatch } from './api.ts';
import type { Asker, Question } from './asker.ts';
import { refuse, STREAM_HEADERS } from './respond.ts';

/** Streams at a time. */
export const WATCHERS_MAX = 16;
/** Of them by one caller. */
export const WATCHERS_OF_CALLER_MAX = 8;
export const LOOK_MS = 500;
const PING_MS = 15_000;

export class LiveTail {
  readonly #asker: Pick<Asker, 'ask'>;
  readonly #watchers = new Map<ServerResponse, string>();
  #streams = 0;

  constructor(asker: Pick<Asker, 'ask'>) {
    this.#asker = asker;
  }

  /** Resolves when the stream has ended. */
  async serve(question: Question, response: ServerResponse): Promise<void> {
    const ofCaller = [...this.#watchers.values()].filter(caller => caller === question.caller).length;
    if (this.#watchers.size >= WATCHERS_MAX || ofCaller >= WATCHERS_OF_CALLER_MAX)
      return refuse(response, 503, 'too many pages watch; ask again later');
    this.#watchers.set(response, question.caller);
    try {
      const closed = new Promise<void>(resolve => response.once('close', resolve));
      const query = new URLSearchParams(question.query);
      // One name a stream: a page that watches does not call off its other questions, nor another stream.
      const watching = { ...question, client: `${question.client} live ${++this.#streams}` };
      const first = await this.#look(watching, query);
      if ('refused' in first) return refuse(response, first.refused, first.error);
      response.writeHead(200, STREAM_HEADERS);
      say(response, first);
      await this.#watch(watching, query, first, response, closed);
    } finally {
      this.#watchers.delete(response);
    }
  }

  async #watch(
    question: Question,
    query: URLSearchParams,
    first: LiveBatch,
    response: ServerResponse,
    closed: Promise<void>,
  ): Promise<void> {
    let [head, said] = [first.head.seq, performance.now()];
    while (!response.destroyed && !response.writableEnded) {
      await Promise.race([closed, pause(LOOK_MS)]);
      // A page that does not read gets the newest when it does.
      if (response.destroyed || response.writableNeedDrain) continue;
      query.set('after', String(head));
      const batch = await this.#look(question, query);
      if ('refused' in batch) continue;
      if (batch.head.seq > head) say(response, batch);
      else if (performance.now() - said > PING_MS) response.write(': ping\n\n');
      else continue;
      [head, said] = [batch.head.seq, performance.now()];
    }
  }

  async #look(
    question: Question,
    query: URLSearchParams,
  ): Promise<LiveBatch | { readonly refused: number; readonly error: string }> {
    const { status, body } = await this.#asker.ask({ ...question, query: query.toString() });
    const answer = JSON.parse(Buffer.from(body).toString('utf8')) as LiveBatch & { readonly error: string };
    return status === 200 ? answer : { refused: status, error: answer.error };
  }

  close(): void {
    for (const response of this.#watchers.keys()) response.end();
  }
}

function say(response: ServerResponse, batch: LiveBatch): void {
  response.write(`event: events\ndata: ${JSON.stringify(batch)}\n\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref());
}
