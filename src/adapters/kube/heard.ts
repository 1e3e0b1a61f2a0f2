// Parses the lines of a watch into events. Total: an invalid line is an error of the watch, never an exception.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { othersHadTheirTurn } from '../kit/event-loop.ts';
import type { Failure } from './failure.ts';
import type { Heard } from './reflector.ts';

/** Nothing further is parsed in a turn of the event loop that has parsed as many characters. */
export const PARSED_CHARS_AT_ONCE = 256 * 1024;

/** What is done with events costs as much again as their parsing: after long lines it comes in a turn of its own. */
export async function heardIn(lines: readonly string[]): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  let chars = 0;
  for (const line of lines) {
    heard.push(heardOf(line));
    chars += line.length;
    if (chars < PARSED_CHARS_AT_ONCE) continue;
    chars = 0;
    await othersHadTheirTurn();
  }
  return heard;
}

export function heardOf(line: string): Heard {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return nonsense(`a line of ${line.length} characters is not JSON`);
  }
  if (!isObject(value) || !isObject(value.object)) return nonsense('a line is not an event');
  const { type, object } = value;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { kind: 'event', event: { type, object, resourceVersion: resourceVersionOf(object) } };
    case 'BOOKMARK':
      return { kind: 'bookmark', resourceVersion: resourceVersionOf(object) };
    case 'ERROR':
      return { kind: 'error', failure: failureOfStatus(object) };
    default:
      return nonsense('an event is of no known type');
  }
}

export function resourceVersionOf(object: JsonObject): string {
  const { metadata } = object;
  return isObject(metadata) && typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '';
}

/** From a `Status` object, the form of errors. */
export function failureOfStatus(status: JsonObject): Failure {
  const { code, reason, message, details } = status;
  const expired = reason === 'Expired' || reason === 'Gone';
  const retryAfter = isObject(details) ? details.retryAfterSeconds : undefined;
  return {
    status: expired ? 410 : typeof code === 'number' ? code : 500,
    message: typeof message === 'string' && message !== '' ? message : String(reason ?? 'an error without a message'),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof retryAfter === 'number' && retryAfter > 0 ? { retryAfterMs: retryAfter * 1_000 } : {}),
  };
}

function nonsense(what: string): Heard {
  return { kind: 'error', failure: { status: 0, message: `the watch cannot be understood: ${what}` } };
}
