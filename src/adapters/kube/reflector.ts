// The list/watch protocol for one resource as a pure step function: results of requests in, effects out. Time and
// randomness come with each input.
//
// A list always requests the newest state (no resourceVersion), so it never goes back behind earlier data, whichever
// API server answers. A watch continues from the last seen version; events that are not newer (repeated or late) are
// dropped. If the version is too old (410), or a watch stays silent twice, everything is listed again, and the sink
// finds the differences, missed deletions included. Invariant: a failed request never deletes an object.

import type { JsonObject } from '../../core/base/json.ts';
import { backoffMs } from './backoff.ts';
import type { Failure } from './failure.ts';
import { BEHIND_MAX, PAGE_OBJECTS_MAX, WATCH_MS_MIN, WATCH_SHORT_MS } from './limits.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: JsonObject;
  /** Empty if the object has no version. */
  readonly resourceVersion: string;
}

/** The result of one read of a watch. */
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

/** The last effect of a step produces the next input; the effects before it are carried out first, in order. */
export type Effect =
  | { readonly kind: 'replace'; readonly objects: readonly JsonObject[] }
  | { readonly kind: 'change'; readonly events: readonly WatchEvent[] }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string }
  /** `limit` 0: without pages. */
  | { readonly kind: 'list'; readonly limit: number; readonly continue: string }
  | { readonly kind: 'watch'; readonly resourceVersion: string; readonly timeoutMs: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Reflector {
  /** The effect after the wait. */
  readonly next: 'list' | 'watch';
  /** True after the first complete list. */
  readonly listed: boolean;
  /** Pages of the current list so far. */
  readonly pages: readonly (readonly JsonObject[])[];
  readonly limit: number;
  /** Consecutive lists that expired while their pages were read. */
  readonly expired: number;
  /** The version of the last list or event; empty: unknown. */
  readonly resourceVersion: string;
  /** Consecutive failures without an event in between. */
  readonly failures: number;
  readonly silences: number;
  /** Consecutive bookmarks older than `version`: a lagging API server, or a store restored from a backup. */
  readonly behind: number;
  /** When the current watch was opened, and whether it had an event. */
  readonly openedAt: number;
  readonly heard: boolean;
  /** The last error; undefined while there is none. */
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
  // After two lists that expired between pages, list without pages.
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

/** The server ended the watch regularly, after the requested time. */
function ended(reflector: Reflector, moment: Moment): ReflectorStep {
  const short = !reflector.heard && moment.now - reflector.openedAt < WATCH_SHORT_MS;
  if (short) return failed(reflector, { status: 0, message: 'the server ends watches as soon as they begin' }, moment);
  return watch({ ...reflector, failures: 0 }, moment);
}

/**
 * A silent watch. Once: the connection may be dead, watch again. Twice: the server may not know our version, list
 * again. No warning: a server whose etcd reports no progress sends no bookmarks for kinds at rest.
 */
function silent(reflector: Reflector, moment: Moment): ReflectorStep {
  const silences = reflector.silences + 1;
  const again = silences > 1 ? 'list' : 'watch';
  const message = `nothing new was heard on a watch, not even a bookmark; ${again === 'list' ? 'listing' : 'watching'} again`;
  const quiet: Reflector = { ...reflector, silences, next: again, trouble: { status: 0, message } };
  return later(quiet, message, moment, { level: 'info' });
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
  return later(troubled, failure.message, moment, { retryAfterMs: failure.retryAfterMs });
}

/** The version is too old (410): list again, the first time at once. */
function expired(reflector: Reflector, moment: Moment): ReflectorStep {
  const inList = reflector.next === 'list';
  const again: Reflector = { ...reflector, next: 'list', expired: inList ? reflector.expired + 1 : reflector.expired };
  const message = `${inList ? 'a list became' : 'the last version seen is'} too old; listing again`;
  if (reflector.failures > 0) return later(again, message, moment);
  const [next, effects] = list({ ...again, failures: 1 });
  return [next, [{ kind: 'log', level: 'info', message }, ...effects]];
}

function later(
  reflector: Reflector,
  message: string,
  moment: Moment,
  {
    level = 'warn',
    retryAfterMs,
  }: { readonly level?: 'info' | 'warn'; readonly retryAfterMs?: number | undefined } = {},
): ReflectorStep {
  const failures = reflector.failures + 1;
  const ms = backoffMs(failures, moment.random, retryAfterMs);
  return [
    { ...reflector, failures, pages: [] },
    [
      { kind: 'log', level, message: `${message}; trying again in ${(ms / 1_000).toFixed(1)} s` },
      { kind: 'wait', ms },
    ],
  ];
}

/**
 * True if version `a` comes after `b`. Versions are decimal numbers of one counter (Kubernetes API conventions,
 * "Resource Version semantics"); other versions can only be compared for equality.
 */
export function isNewer(a: string, b: string): boolean {
  if (a === '' || a === b) return false;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return true;
  return a.length === b.length ? a > b : a.length > b.length;
}

const DECIMAL = /^[1-9][0-9]*$/;
