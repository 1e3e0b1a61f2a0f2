// The list/watch protocol for one resource, as a pure step function: what was heard goes in, what to do comes out. No I/O, no clock, no
// randomness: the time and a draw come with each input.
//
// A list is always the newest state (no resourceVersion is asked for), so it never goes back behind what was seen before, whichever API
// server answers. A watch goes on from the last version seen; whatever comes again or comes late is not newer than that and is dropped.
// When the version is too old (410), or a watch stays silent twice, everything is listed again: the sink finds the differences, and with
// them the deletions that nobody told us of. Nothing is ever deleted because a request failed.

import type { JsonObject } from '../../core/base/json.ts';
import { backoffMs } from './backoff.ts';
import type { Failure } from './failure.ts';
import { BEHIND_MAX, PAGE_OBJECTS_MAX, WATCH_MS_MIN, WATCH_SHORT_MS } from './limits.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
  /** Empty if the object has none. */
  readonly resourceVersion: string;
}

/** What one read of a watch gave. */
export type Heard =
  | { readonly kind: 'event'; readonly event: WatchEvent }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string }
  | { readonly kind: 'error'; readonly failure: Failure };

export type Input =
  | { readonly kind: 'start' }
  | {
      readonly kind: 'page';
      readonly objects: readonly JsonObject[];
      readonly resourceVersion: string;
      /** Empty: the last page. */
      readonly continue: string;
    }
  | { readonly kind: 'opened' }
  | { readonly kind: 'heard'; readonly heard: readonly Heard[] }
  | { readonly kind: 'ended' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'waited' };

/** The last effect of a step is the one that gives the next input; those before it are done first, in order. */
export type Effect =
  | { readonly kind: 'replace'; readonly objects: readonly JsonObject[] }
  | { readonly kind: 'change'; readonly events: readonly WatchEvent[] }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string }
  /** `limit` 0: all at once. */
  | { readonly kind: 'list'; readonly limit: number; readonly continue: string }
  | { readonly kind: 'watch'; readonly resourceVersion: string; readonly timeoutMs: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Reflector {
  /** What comes after waiting. */
  readonly next: 'list' | 'watch';
  /** True once everything has been listed. */
  readonly listed: boolean;
  /** Pages of a list under way. */
  readonly pages: readonly (readonly JsonObject[])[];
  readonly limit: number;
  /** Lists in a row that became too old while they were read. */
  readonly expired: number;
  /** Of the last list or event; empty: unknown. */
  readonly resourceVersion: string;
  /** In a row, without anything heard in between. */
  readonly failures: number;
  readonly silences: number;
  /** Bookmarks in a row from before what we have seen: another server that lags, or a store that was set back. */
  readonly behind: number;
  /** When the watch under way was opened, and whether it has said anything. */
  readonly openedAt: number;
  readonly heard: boolean;
  /** What went wrong last; undefined while all is well. */
  readonly trouble?: Failure;
}

export interface Moment {
  /** Milliseconds. */
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

export type ReflectorStep = readonly [Reflector, readonly Effect[]];

export const newReflector: Reflector = {
  next: 'list',
  listed: false,
  pages: [],
  limit: PAGE_OBJECTS_MAX,
  expired: 0,
  resourceVersion: '',
  failures: 0,
  silences: 0,
  behind: 0,
  openedAt: 0,
  heard: false,
};

const GONE = 410;

export function step(reflector: Reflector, input: Input, moment: Moment): ReflectorStep {
  switch (input.kind) {
    case 'start':
      return list(reflector);
    case 'page':
      return paged(reflector, input, moment);
    case 'opened':
      return opened(reflector, moment);
    case 'heard':
      return heard(reflector, input.heard, moment);
    case 'ended':
      return ended(reflector, moment);
    case 'silent':
      return silent(reflector, moment);
    case 'failed':
      return failed(reflector, input.failure, moment);
    case 'waited':
      return reflector.next === 'list' ? list(reflector) : watch(reflector, moment);
  }
}

function list(reflector: Reflector): ReflectorStep {
  const begun: Reflector = { ...reflector, next: 'list', pages: [] };
  // A list that twice became too old while its pages were read is read in one piece.
  return [begun, [{ kind: 'list', limit: reflector.expired > 1 ? 0 : reflector.limit, continue: '' }]];
}

function paged(reflector: Reflector, page: Input & { readonly kind: 'page' }, moment: Moment): ReflectorStep {
  const pages = [...reflector.pages, page.objects];
  if (page.continue !== '') {
    return [{ ...reflector, pages }, [{ kind: 'list', limit: reflector.limit, continue: page.continue }]];
  }
  const { trouble: _, ...well } = reflector;
  const listed: Reflector = {
    ...well,
    pages: [],
    listed: true,
    expired: 0,
    silences: 0,
    behind: 0,
    resourceVersion: page.resourceVersion,
  };
  const [next, effects] = watch(listed, moment);
  return [next, [{ kind: 'replace', objects: pages.flat() }, ...effects]];
}

function watch(reflector: Reflector, moment: Moment): ReflectorStep {
  if (reflector.resourceVersion === '') return list(reflector);
  const timeoutMs = Math.round(WATCH_MS_MIN * (1 + moment.random));
  return [
    { ...reflector, next: 'watch', heard: false },
    [{ kind: 'watch', resourceVersion: reflector.resourceVersion, timeoutMs }],
  ];
}

function opened({ trouble: _, ...reflector }: Reflector, moment: Moment): ReflectorStep {
  return [{ ...reflector, openedAt: moment.now, heard: false }, [{ kind: 'read' }]];
}

function heard(reflector: Reflector, all: readonly Heard[], moment: Moment): ReflectorStep {
  const events: WatchEvent[] = [];
  let { resourceVersion, behind } = reflector;
  let trouble: Failure | undefined;
  for (const one of all) {
    if (one.kind === 'error') {
      trouble = one.failure;
      break;
    }
    const version = one.kind === 'bookmark' ? one.resourceVersion : one.event.resourceVersion;
    const news = isNewer(version, resourceVersion);
    if (one.kind === 'event' && (news || version === '')) events.push(one.event);
    if (one.kind === 'bookmark' && isNewer(resourceVersion, version)) behind += 1;
    else if (news) behind = 0;
    if (news) resourceVersion = version;
  }
  const changes: readonly Effect[] = events.length === 0 ? [] : [{ kind: 'change', events }];
  if (trouble !== undefined) {
    const [next, effects] = failed({ ...reflector, resourceVersion }, trouble, moment);
    return [next, [...changes, ...effects]];
  }
  if (behind >= BEHIND_MAX) {
    const [next, effects] = silent({ ...reflector, resourceVersion, silences: 1 }, moment);
    return [next, [...changes, ...effects]];
  }
  const lively = { heard: true, failures: 0, silences: 0, behind };
  return [{ ...reflector, ...lively, resourceVersion }, [...changes, { kind: 'read' }]];
}

/** The server ended the watch in order, as it was asked to. */
function ended(reflector: Reflector, moment: Moment): ReflectorStep {
  const short = !reflector.heard && moment.now - reflector.openedAt < WATCH_SHORT_MS;
  if (short) return failed(reflector, { status: 0, message: 'the server ends watches as soon as they begin' }, moment);
  return watch({ ...reflector, failures: 0 }, moment);
}

/** Once: the connection may be dead. Twice: the server may have nothing to say after the version that we name. */
function silent(reflector: Reflector, moment: Moment): ReflectorStep {
  const silences = reflector.silences + 1;
  const again = silences > 1 ? 'list' : 'watch';
  const message = `nothing new was heard on a watch, not even a bookmark; ${again === 'list' ? 'listing' : 'watching'} again`;
  return later({ ...reflector, silences, next: again, trouble: { status: 0, message } }, message, moment);
}

function failed(reflector: Reflector, failure: Failure, moment: Moment): ReflectorStep {
  const troubled: Reflector = { ...reflector, trouble: failure };
  if (failure.status === GONE) return expired(troubled, moment);
  if (failure.tooLarge && reflector.next === 'list' && reflector.limit > 1) {
    const limit = Math.max(1, Math.floor(reflector.limit / 4));
    const message = `${failure.message}; asking for ${limit} objects at a time`;
    const [next, effects] = list({ ...troubled, limit, expired: 0 });
    return [next, [{ kind: 'log', level: 'warn', message }, ...effects]];
  }
  return later(troubled, failure.message, moment, failure.retryAfterMs);
}

/** Too old: everything is listed again, at once the first time. */
function expired(reflector: Reflector, moment: Moment): ReflectorStep {
  const inList = reflector.next === 'list';
  const again: Reflector = { ...reflector, next: 'list', expired: inList ? reflector.expired + 1 : reflector.expired };
  const message = `${inList ? 'a list became' : 'the last version seen is'} too old; listing again`;
  if (reflector.failures > 0) return later(again, message, moment);
  const [next, effects] = list({ ...again, failures: 1 });
  return [next, [{ kind: 'log', level: 'info', message }, ...effects]];
}

function later(reflector: Reflector, message: string, moment: Moment, retryAfterMs?: number): ReflectorStep {
  const failures = reflector.failures + 1;
  const ms = backoffMs(failures, moment.random, retryAfterMs);
  return [
    { ...reflector, failures, pages: [] },
    [
      { kind: 'log', level: 'warn', message: `${message}; trying again in ${(ms / 1_000).toFixed(1)} s` },
      { kind: 'wait', ms },
    ],
  ];
}

/**
 * True if version `a` comes after `b`. Versions are decimal numbers of one counter (Kubernetes API conventions, "Resource Version
 * semantics"); of anything else only equality is known.
 */
export function isNewer(a: string, b: string): boolean {
  if (a === '' || a === b) return false;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return true;
  return a.length === b.length ? a > b : a.length > b.length;
}

const DECIMAL = /^[1-9][0-9]*$/;
