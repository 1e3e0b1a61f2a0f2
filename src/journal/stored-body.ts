// The body of a stored event, read. A journal from elsewhere may have a chain that is right over content that no
// journal writes: what reading refuses here, `verify` finds with the same words.

import { isUtf8 } from 'node:buffer';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { shapeProblem } from '../core/fact-shape.ts';
import { checkNames } from './fact-names.ts';
import { errorText, JournalFault } from './fault.ts';
import { BODY_CHARS_MAX, BODY_DEPTH_MAX, type StoredEvent } from './journal.ts';
import { hasOrderedMembers, isDeeperThan, isJsonText } from './json-text.ts';
import { objectRefIn } from './object-ref.ts';
import type { RawRow } from './store.ts';

/** The last moment that a date can have (ECMA-262, section Time Values and Time Range). */
export const TIME_MAX = 8_640_000_000_000_000;

const NO_OBJECT = 'the body is no JSON object, or nested too deep';
/** Levels that `append` takes: the last may hold an empty object or list. */
export const BRACKETS_MAX = BODY_DEPTH_MAX + 1;
const OPEN_BRACE = '{';

/** Without a kind, the members are not looked at. Faults: `damaged`, with `path` and the seq. */
export function bodyOf(
  { seq, kind, body }: Pick<StoredEvent, 'seq' | 'body'> & { readonly kind?: string },
  path?: string,
): JsonObject {
  let value: Json | undefined;
  try {
    value = isDeeperThan(body, BRACKETS_MAX) ? undefined : (JSON.parse(body) as Json);
  } catch {
    // Without the reason that JSON.parse gives: it quotes the text.
  }
  const why = isObject(value) ? shapeProblem(kind ?? '', value) : NO_OBJECT;
  if (isObject(value) && why === undefined) return value;
  throw new JournalFault('damaged', `${why}; \`journal verify\` tells which column was changed`, {
    seq,
    ...(path === undefined ? {} : { path }),
  });
}

export function isTime(time: number): boolean {
  return Number.isSafeInteger(time) && time >= 0 && time <= TIME_MAX;
}

/** The column of a row with a hash that is right which no journal writes so, and why. */
export function unreadableColumn(row: RawRow): readonly [column: string, why: string] | undefined {
  if (!isTime(row.time)) return ['time', `${row.time} is no time`];
  for (const column of ['source', 'kind', 'body'] as const) {
    if (!isUtf8(row[column])) return [column, 'it is no UTF-8'];
  }
  try {
    checkNames(row.source.toString(), row.kind.toString());
  } catch (error) {
    return ['source, event.kind', errorText(error)];
  }
  if (row.body.length > 3 * BODY_CHARS_MAX) return ['body', `it is larger than ${BODY_CHARS_MAX} characters`];
  const body = row.body.toString();
  if (body.length > BODY_CHARS_MAX) return ['body', `it is larger than ${BODY_CHARS_MAX} characters`];
  if (!body.startsWith(OPEN_BRACE) || !isJsonText(body, BRACKETS_MAX)) return ['body', NO_OBJECT];
  if (!hasOrderedMembers(body)) return ['body', 'members of an object are out of order, or twice there'];
  const kind = row.kind.toString();
  const why = isObjectAsWritten(kind, body) ? undefined : shapeProblem(kind, JSON.parse(body) as JsonObject);
  return why === undefined ? undefined : ['body', why];
}

/** So that most bodies, which are long, are not parsed. */
function isObjectAsWritten(kind: string, body: string): boolean {
  return (kind === 'Add' || kind === 'Update') && objectRefIn(body) !== undefined;
}
