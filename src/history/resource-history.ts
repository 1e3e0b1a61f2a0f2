// Every version of a resource of a proxy, with the events that made it. Only events can change a resource whose objects
// it reads, so positions are visited where such an event stands, the newest first.
//
// Invariant: between two visited positions no event asked for a push, so no version is passed over, down to `since`.

import { fold } from '../core/fold/fold-event.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import type { JsonChange } from './answers.ts';
import { shownJson } from './config-dump.ts';
import type { History } from './history.ts';
import { holdingsOf } from './holdings.ts';
import { jsonDiff } from './json-diff.ts';

/** Events that are folded for one question, from the end of the range back. */
export const HISTORY_EVENTS_MAX = 20_000;
/** Versions that are listed, the newest. */
export const HISTORY_VERSIONS_MAX = 100;

export interface ResourceVersion {
  readonly at: { readonly seq: number; readonly time: number };
  /** Hash of the content; empty: it is gone. */
  readonly version: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly changes: readonly JsonChange[];
  /** The event. */
  readonly causes: readonly number[];
}

export interface ResourceVersions {
  /** Newest first. */
  readonly versions: readonly ResourceVersion[];
  /** All versions after this position are listed. */
  readonly since: number;
}

export interface ResourceRange {
  readonly from: number;
  readonly to: number;
  readonly onProgress?: (done: number, of: number) => void;
}

/** While the proxy is not connected, its newest node counts, as for `bisect`. */
export async function resourceHistory(
  history: History,
  proxy: ProxyRecord,
  typeUrl: string,
  name: string,
  { from, to, onProgress }: ResourceRange,
): Promise<ResourceVersions> {
  const start = Math.max(from, to - HISTORY_EVENTS_MAX, history.first());
  const found: ResourceVersion[] = [];
  let state = await history.at(start);
  let before = heldAt(history, state, proxy, typeUrl, name);
  const rejected = await history.rejectedAfter(start);
  for await (const page of history.events(start + 1, to)) {
    for (const event of page) {
      const folded = fold(state, event, rejected);
      state = folded.state;
      if (!folded.effects.some(({ kind }) => kind === 'Push')) continue;
      const now = heldAt(history, state, proxy, typeUrl, name);
      if (now.version === before.version) continue;
      const change = before.version === '' ? 'added' : now.version === '' ? 'removed' : 'changed';
      const changes = change === 'changed' ? jsonDiff(before.json, now.json) : [];
      const at = { seq: event.seq, time: event.time };
      found.push({ at, version: now.version, change, changes, causes: [event.seq] });
      before = now;
    }
    onProgress?.(state.seq - start, to - start);
  }
  const shown = found.slice(-HISTORY_VERSIONS_MAX);
  return {
    versions: shown.reverse(),
    since: found.length > shown.length ? (found.at(-HISTORY_VERSIONS_MAX)?.at.seq ?? start) : start,
  };
}

interface Held {
  readonly version: string;
  readonly json: ReturnType<typeof shownJson> | undefined;
}

function heldAt({ tracker }: History, state: State, proxy: ProxyRecord, typeUrl: string, name: string): Held {
  const now = state.proxies.get(proxy.connection) ?? proxy;
  const resource = holdingsOf(tracker, state, now, [typeUrl]).get(typeUrl)?.get(name);
  if (resource === undefined) return { version: '', json: undefined };
  const { version } = encodeResource(typeUrl, name, resource.message);
  return { version, json: shownJson(typeUrl, resource) };
}
