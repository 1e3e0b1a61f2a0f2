// A question of the explorer, as its worker threads get it, and what an answer may be: plain data for JSON, or a fault
// with the status that HTTP gives it.

import { HistoryFault } from '../../history/history-fault.ts';
import { resolvePosition } from '../../history/position.ts';
import { JournalFault } from '../../journal/fault.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Viewer } from '../http.ts';

export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a POST. */
  readonly body: string;
  readonly viewer: Viewer;
  /** Throws `Cancelled` once the answer is not awaited any more; called often while something long is computed. */
  readonly progress: (done: number, of: number) => void;
}

/** Answers with plain data. Rejects with a QuestionFault, HistoryFault or JournalFault. */
export type Question<Reader> = (reader: Reader, asked: Asked) => Promise<unknown> | unknown;

export class QuestionFault extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class Cancelled extends QuestionFault {
  constructor() {
    super(409, 'cancelled: a newer question took its place, or its asker left');
  }
}

/** Undefined: a failure of ours. */
export function faultOf(error: unknown): { readonly status: number; readonly error: string } | undefined {
  if (error instanceof QuestionFault) return { status: error.status, error: error.message };
  if (error instanceof HistoryFault) return { status: error.misuse ? 400 : 404, error: error.message };
  if (error instanceof JournalFault) return { status: 500, error: error.message };
  return undefined;
}

/** Of a parameter that has to be there. */
export function textOf({ query }: Asked, name: string): string {
  const value = query.get(name);
  if (value === null || value === '') throw new QuestionFault(400, `${name} is missing`);
  return value;
}

/** A whole number within its limits; larger and smaller ones are taken for the limit. */
export function numberOf({ query }: Asked, name: string, otherwise: number, min: number, max: number): number {
  const value = query.get(name);
  if (value === null || value === '') return otherwise;
  const number = Number(value);
  if (!Number.isInteger(number)) throw new QuestionFault(400, `${name}=${value}: expected a whole number`);
  return Math.min(max, Math.max(min, number));
}

export function oneOf<T extends string>(asked: Asked, name: string, values: readonly T[], otherwise?: T): T {
  const value = asked.query.get(name) ?? otherwise;
  const known = values.find(one => one === value);
  if (known === undefined) {
    throw new QuestionFault(400, `${name}=${value ?? ''}: expected ${values.join(', ')}`);
  }
  return known;
}

/** An event's number. */
export function seqOf(asked: Asked, name = 'seq'): number {
  const text = textOf(asked, name);
  const seq = Number(text);
  if (!Number.isSafeInteger(seq) || seq < 1)
    throw new QuestionFault(400, `${name}=${text}: expected a number of an event`);
  return seq;
}

/** A position as `--at` takes it; `otherwise` if it is not given. A time before the first event means the first. */
export async function positionIn(journal: Journal, { query }: Asked, name: string, otherwise: number): Promise<number> {
  const value = query.get(name);
  return value === null || value === '' ? otherwise : resolvePosition(journal, value, 'clamped');
}

/** Timeline, objects and the mesh show every namespace. */
export function requireAll({ viewer, path }: Asked): void {
  if (viewer !== 'all') throw new QuestionFault(403, `${path} shows the whole mesh; you may see ${viewer.namespace}`);
}
