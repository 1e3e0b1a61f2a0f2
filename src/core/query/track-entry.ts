// A memoised value with what it rests on and who rests on it, and how doubt travels from reads to callers.

import { type Few, forEachOf, withOne, without } from '../base/small-set.ts';
import type { MadeCell } from './memo.ts';
import type { Query } from './reader.ts';
import type { Read } from './track-reads.ts';
import type { Audience, Variants } from './track-variants.ts';

export interface QueryRead {
  readonly query: Query<string, unknown>;
  readonly arg: string;
  /** Of a selection, instead of an argument: its value is the Place of what it is about. */
  readonly token: MadeCell | undefined;
  readonly seen: unknown;
  /** Where `seen` was found last, and its audience then. */
  entry: Entry;
  audience: Audience;
}

/** A selection of equal values: how to run it for them, and what came of it. */
export interface Place {
  readonly query: Query<string, unknown>;
  readonly variants: Variants<Entry>;
}

/** The calls of one `aboutEach`, each about the value at its place. */
export interface CallList {
  readonly selection: object;
  readonly of: readonly object[];
  readonly calls: readonly QueryRead[];
}

/** What adds to the audience of a value: a question of its own, or a call. */
export type Asked = Audience[number] | QueryRead;

/**
 * `doubtful`: something that was called may have another value now. `stale`: something that was read has, or a call was found to; must be
 * run again. Invariant: what calls an entry that is not current is not current either.
 */
export type Standing = 'current' | 'doubtful' | 'stale';

export interface Entry {
  audience: Audience;
  readonly asked: readonly Asked[];
  readonly reads: readonly Read<Entry>[];
  /** In the order of the asking, those of `lists` among them. */
  readonly calls: readonly QueryRead[];
  readonly lists: readonly CallList[];
  /** Most values have one caller or none. */
  callers: Few<Entry>;
  readonly made: readonly MadeCell[];
  readonly value: unknown;
  /** Where it is found. */
  readonly home: Variants<Entry>;
  standing: Standing;
  /** Unlinked: nobody finds it any more. */
  gone: boolean;
  usedIn: number;
  /** The run that called it last: see Read. */
  lastRun: number;
}

export function addCaller(entry: Entry, caller: Entry): void {
  entry.callers = withOne(entry.callers, caller);
}

/** An answer that the entry rests on is another one now. */
export function overturn(entry: Entry): void {
  const before = entry.standing;
  entry.standing = 'stale';
  if (before !== 'current') return;
  const waiting: Entry[] = [];
  const wait = (caller: Entry): void => {
    waiting.push(caller);
  };
  forEachOf(entry.callers, wait);
  for (let caller = waiting.pop(); caller !== undefined; caller = waiting.pop()) {
    if (caller.standing !== 'current') continue;
    caller.standing = 'doubtful';
    forEachOf(caller.callers, wait);
  }
}

export function removeCaller(entry: Entry, caller: Entry): void {
  entry.callers = without(entry.callers, caller);
}

/** What has been found stale is told nothing any more; who called it is in doubt already. */
export function unlink(entry: Entry): void {
  entry.gone = true;
  entry.standing = 'stale';
  for (const read of entry.reads) read.delete(entry);
  for (const call of entry.calls) removeCaller(call.entry, entry);
}

const NOBODY_ASKED: Audience = [];

/** `before` itself if it says the same: callers then need not look at theirs. */
export function audienceOf(asked: readonly Asked[], before: Audience | undefined): Audience {
  const now = gather(asked);
  const same =
    before?.length === now.length &&
    now.every(([facet, value], i) => before[i]![0] === facet && Object.is(before[i]![1], value));
  return same ? before : now;
}

/** In the order of the first asking. The list of a call itself if it says all: many then share one. */
function gather(asked: readonly Asked[]): Audience {
  let all: Audience = NOBODY_ASKED;
  let own: Audience[number][] | undefined;
  let last: Audience | undefined;
  for (let i = 0; i < asked.length; i++) {
    const one = asked[i]!;
    if (!('audience' in one)) {
      if (hasFacet(all, one)) continue;
      own ??= [...all];
      own.push(one);
      all = own;
      continue;
    }
    const { audience } = one;
    if (audience === last || audience === all || audience.length === 0) continue;
    last = audience;
    if (all.length === 0) {
      all = audience;
      continue;
    }
    for (let j = 0; j < audience.length; j++) {
      const pair = audience[j]!;
      if (hasFacet(all, pair)) continue;
      own ??= [...all];
      own.push(pair);
      all = own;
    }
  }
  return all;
}

function hasFacet(audience: Audience, pair: Audience[number]): boolean {
  const { id } = pair[0];
  for (let i = 0; i < audience.length; i++) if (audience[i]![0].id === id) return true;
  return false;
}
