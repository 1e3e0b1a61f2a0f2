// Questions to the explorer's HTTP API, typed by src/admin/explorer/api.ts. Answers about fixed positions never change,
// so they are kept: going back to a view asks for nothing.
//
// Limits: ANSWERS_MAX answers are kept, the ones used longest ago are dropped first.

import { eventsOf } from './event-stream.ts';

const ANSWERS_MAX = 300;
const API = '/api/v1';

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** An answer that is no answer: what the server said, or that it said nothing. */
export class ApiFault extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const kept = new Map<string, unknown>();

/** The server ends a client's older question of the same path; here each is a client, ended by aborting it. */
const page = Math.random().toString(36).slice(2, 10);
let questions = 0;

export function urlOf(path: string, query: Query = {}): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) pairs.push(`${name}=${encodeURIComponent(String(one))}`);
  }
  return `${API}/${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

/** The kept answer, if there is one. */
export function known<T>(url: string): T | undefined {
  if (!kept.has(url)) return undefined;
  const answer = kept.get(url);
  kept.delete(url);
  kept.set(url, answer);
  return answer as T;
}

export interface AskOptions<T> {
  readonly signal?: AbortSignal;
  /** The answer never changes; default: every answer. */
  readonly isFinal?: (answer: T) => boolean;
  /** Called when the answer takes longer than a second, and then as it comes; `of` is 0 while the end is not known. */
  readonly onProgress?: (done: number, of: number) => void;
}

/** Rejects with an ApiFault, or with an AbortError if it is aborted. */
export async function ask<T>(url: string, options: AskOptions<T> = {}): Promise<T> {
  const before = known<T>(url);
  if (before !== undefined) return before;
  const answer = await answerOf<T>(url, {}, options);
  if (options.isFinal?.(answer) !== false) {
    kept.set(url, answer);
    const oldest = kept.keys().next();
    if (kept.size > ANSWERS_MAX && oldest.done !== true) kept.delete(oldest.value);
  }
  return answer;
}

export async function send<T>(url: string, body: unknown, options: AskOptions<T> = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return answerOf<T>(url, { method: 'POST', headers, body: JSON.stringify(body) }, options);
}

async function answerOf<T>(url: string, init: RequestInit, { signal, onProgress }: AskOptions<T>): Promise<T> {
  const headers = {
    accept: onProgress === undefined ? 'application/json' : 'application/json, text/event-stream',
    'x-periplus-client': `${page}-${++questions}`,
    ...(init.headers as object),
  };
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, signal: signal ?? null });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiFault(0, 'the server does not answer; is periplus still running?');
  }
  if (response.headers.get('content-type') === 'text/event-stream') return streamed<T>(response, onProgress);
  if (response.ok) return (await response.json()) as T;
  throw new ApiFault(response.status, await faultOf(response));
}

/** An answer that took its time: `progress` events, then one of `answer` or `fault`. */
async function streamed<T>(response: Response, onProgress: AskOptions<T>['onProgress']): Promise<T> {
  try {
    for await (const { event, data } of eventsOf(response)) {
      if (event === 'answer') return JSON.parse(data) as T;
      const said = JSON.parse(data) as { readonly done: number; readonly of: number; readonly error?: string };
      if (event === 'fault') throw new ApiFault(response.status, said.error ?? BROKEN);
      onProgress?.(said.done, said.of);
    }
  } catch (error) {
    if (error instanceof ApiFault || (error as Error).name === 'AbortError') throw error;
  }
  throw new ApiFault(0, BROKEN);
}

const BROKEN = 'the server ended the connection before the answer came';

async function faultOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not JSON: the text itself is the message.
  }
  return text.trim() === '' ? `the server answers ${response.status}` : text.trim();
}
