// Between facts and what is stored of them. The body is the canonical JSON of the fact without the envelope, so equal
// facts have equal text, in every process and release.
//
// What JSON cannot carry (NaN, -0, undefined members, objects of a class) would make the live fold differ from the
// replay. Such a fact is stored as JSON sees it, and `append` hands out what was stored instead of what was given.

import type { Json, JsonObject } from '../core/base/json.ts';
import { canonicalJson } from '../core/base/json.ts';
import { listKeys } from '../core/base/keys.ts';
import { atOnce, type Steps } from '../core/base/steps.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import { shapeProblem } from '../core/fact-shape.ts';
import { checkNames } from './fact-names.ts';
import { JournalFault } from './fault.ts';
import type { SnapshotFact } from './journal.ts';
import { BODY_CHARS_MAX, BODY_DEPTH_MAX } from './journal.ts';
import { isSecret, SEALED_PREFIX } from './private-values.ts';
import type { Vault } from './vault.ts';

const ENVELOPE = new Set(['seq', 'time', 'source', 'kind']);

/** What is stored of a fact, before it has a seq. */
export interface Encoded {
  readonly source: string;
  readonly kind: string;
  readonly body: string;
  /** The fact as `read` will give it, without seq and time. */
  readonly fact: Unrecorded;
}

/** Of a fact with more members and elements each walk takes some milliseconds. */
export const MEMBERS_AT_ONCE = 8_192;

/** Faults: `unfit-fact`; those of creating a key. */
export function encodeFact(given: Unrecorded, vault: Vault): Encoded {
  return atOnce(encodingFact(given, vault));
}

/** As `encodeFact`, in steps if the fact is large. */
export function* encodingFact(given: Unrecorded, vault: Vault): Steps<Encoded> {
  const { source, kind } = given;
  checkNames(source, kind);
  const problem = shapeProblem(kind, given as unknown as JsonObject);
  if (problem !== undefined) throw unfit(kind, problem);
  const found = inspect(given, kind);
  const isLarge = found.members > MEMBERS_AT_ONCE;
  if (isLarge) yield;
  const fact = withoutEnvelope(given as unknown as JsonObject);
  const isPrivate = found.isPrivate || vault.marked(given as unknown as JsonObject).length > 0;
  const sealed = isPrivate ? withoutEnvelope(yield* sealingOf({ ...fact, source, kind }, isLarge, vault)) : fact;
  if (isLarge && isPrivate) yield;
  const body = bodyText(sealed, kind);
  if (found.exact) return { source, kind, body, fact: given };
  if (isLarge) yield;
  const stored = JSON.parse(isPrivate ? bodyText(fact, kind) : body) as JsonObject;
  return { source, kind, body, fact: { ...stored, source, kind } as unknown as Unrecorded };
}

function* sealingOf(fact: JsonObject, isLarge: boolean, vault: Vault): Steps<JsonObject> {
  return isLarge ? yield* vault.sealing(fact) : vault.seal(fact);
}

/** Faults: `damaged`. */
export function decodeEvent(
  row: {
    readonly seq: number;
    readonly time: number;
    readonly source: string;
    readonly kind: string;
    readonly body: string;
  },
  vault: Vault,
): Event {
  // The parsed object is not shared, so the envelope is added to it instead of to a copy.
  const event = vault.open(row.body, row.seq, row.kind) as { [key: string]: Json };
  event.seq = row.seq;
  event.time = row.time;
  event.source = row.source;
  event.kind = row.kind;
  return event as unknown as Event;
}

/** One item of a snapshot segment. Faults: `unfit-fact`. */
export function encodeSnapshotFact({ source, fact }: SnapshotFact, vault: Vault): string {
  const isPrivate = inspect(fact, 'snapshot').isPrivate || vault.marked(fact).length > 0;
  return bodyText({ source, fact: isPrivate ? vault.seal(fact) : fact }, 'snapshot');
}

interface Inspection {
  /** JSON represents it unchanged. */
  readonly exact: boolean;
  readonly isPrivate: boolean;
  /** Values in it, however deep. */
  readonly members: number;
}

/** One walk over a fact before it is stored. Faults: `unfit-fact` for what has no JSON text at all. */
export function inspect(value: unknown, kind: string): Inspection {
  let exact = true;
  let isPrivate = false;
  let members = 0;
  const visit = (item: unknown, depth: number): void => {
    members++;
    if (depth > BODY_DEPTH_MAX) throw unfit(kind, `nested deeper than ${BODY_DEPTH_MAX} levels`);
    if (typeof item === 'string') isPrivate ||= item.startsWith(SEALED_PREFIX);
    else if (typeof item === 'number') exact &&= Number.isFinite(item) && !Object.is(item, -0);
    else if (typeof item === 'object' && item !== null) visitMembers(item, depth);
    else if (item === undefined) exact = false;
    else if (item !== null && typeof item !== 'boolean') throw unfit(kind, `a ${typeof item} is not JSON`);
  };
  const visitMembers = (item: object, depth: number): void => {
    if (Array.isArray(item)) {
      for (const member of item) visit(member, depth + 1);
      return;
    }
    exact &&= Object.getPrototypeOf(item) === Object.prototype;
    isPrivate ||= isSecret(item as JsonObject);
    for (const key of listKeys(item)) visit((item as Record<string, unknown>)[key], depth + 1);
  };
  visit(value, 0);
  return { exact, isPrivate, members };
}

function bodyText(value: Json, kind: string): string {
  const text = canonicalJson(value);
  if (text.length > BODY_CHARS_MAX) throw unfit(kind, `${text.length} characters of JSON, more than ${BODY_CHARS_MAX}`);
  return text;
}

function withoutEnvelope(fact: JsonObject): JsonObject {
  const body: { [key: string]: Json | undefined } = {};
  for (const key of Object.keys(fact)) {
    if (ENVELOPE.has(key)) continue;
    if (key === '__proto__') return Object.fromEntries(Object.entries(fact).filter(([name]) => !ENVELOPE.has(name)));
    body[key] = fact[key];
  }
  return body;
}

function unfit(kind: string, why: string): JournalFault {
  return new JournalFault('unfit-fact', `a fact of kind ${kind} cannot be recorded: ${why}`);
}
