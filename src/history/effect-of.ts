// The effect of an object on a proxy: the difference without it. And if nothing would: what stands in its way, found
// by trying, as in absence.ts: an older object with the same host, an exportTo, a Sidecar; or the object was refused,
// or is about nothing that the proxy has.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { showProblem } from '../core/base/problem.ts';
import type { ObjectRecord } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { withoutExport } from './absence.ts';
import type { ChangeClass, LastChange } from './answers.ts';
import { diffMeshes } from './diff.ts';
import type { History } from './history.ts';
import { lastChangeOf, recordInForce } from './last-change.ts';
import { noSuchObject } from './no-such-object.ts';
import { objectOfRecord, without, withoutObject, withVersion } from './what-if.ts';

/** Objects that are taken away to see whether they hide it. */
export const HIDING_TRIED_MAX = 100;

export interface Obstacle {
  /** A sentence. */
  readonly why: string;
  readonly lastChange?: LastChange;
}

export interface ObjectEffect {
  readonly object: string;
  readonly proxy: string;
  readonly seq: number;
  readonly time: number;
  readonly lastChange: LastChange;
  /** From the mesh without the object to the mesh with it; undefined: it does nothing for this proxy. */
  readonly effect?: ChangeClass;
  /** Why it does nothing. */
  readonly obstacles: readonly Obstacle[];
}

/** Rejects with a HistoryFault if no source has the object. */
export async function effectOf(
  history: History,
  state: State,
  proxy: ProxyRecord,
  object: string,
): Promise<ObjectEffect> {
  const lastChange = await lastChangeOf(history, state, object);
  const record = recordInForce(state, object);
  if (lastChange === undefined || record === undefined) throw noSuchObject(state, object);
  const effect = effectIn(history.tracker, state, proxy, object);
  return {
    object,
    proxy: proxy.facets.id,
    seq: state.seq,
    time: state.time,
    lastChange,
    ...(effect === undefined ? {} : { effect }),
    obstacles: effect === undefined ? await obstaclesOf(history, state, proxy, record, object) : [],
  };
}

function effectIn(tracker: Tracker, state: State, proxy: ProxyRecord, object: string): ChangeClass | undefined {
  const before = { state: withoutObject(state, object), proxies: [proxy] };
  return diffMeshes(tracker, before, { state, proxies: [proxy] }).classes[0];
}

async function obstaclesOf(
  history: History,
  state: State,
  proxy: ProxyRecord,
  record: ObjectRecord,
  object: string,
): Promise<readonly Obstacle[]> {
  if (record.accepted === undefined) {
    const problems = record.refused?.problems.map(showProblem).join('; ') ?? '';
    return [{ why: `it was refused: ${problems}` }];
  }
  const { tracker } = history;
  const matters = (other: State | undefined): boolean =>
    other !== undefined && effectIn(tracker, other, proxy, object) !== undefined;
  const found: Obstacle[] = [];
  const exported = record.raw === undefined ? undefined : withoutExport(record.raw);
  if (exported !== undefined && matters(withVersion(state, record, exported))) {
    found.push({ why: `it is not exported to namespace ${proxy.facets.namespace}` });
  }
  for (const other of rivals(state, record)) {
    if (!matters(without(state, other))) continue;
    const name = objectOfRecord(other);
    const why =
      other.kind === 'Sidecar'
        ? `${name} keeps it from ${proxy.facets.id}`
        : `${name} is older or comes first, and hides it`;
    const lastChange = await lastChangeOf(history, state, name);
    found.push({ why, ...(lastChange === undefined ? {} : { lastChange }) });
  }
  if (found.length > 0) return found;
  return [{ why: `nothing that ${proxy.facets.id} has, or would have, depends on it` }];
}

/** Sidecars, and objects of its kind that name a host that it names. */
function rivals(state: State, record: ObjectRecord): readonly ObjectRecord[] {
  const hosts = new Set(hostsOf(record.raw));
  const all = [...state.records.values()].filter(other => {
    if (other === record || other.accepted === undefined) return false;
    if (other.kind === 'Sidecar') return true;
    return other.kind === record.kind && hostsOf(other.raw).some(host => hosts.has(host));
  });
  return all.slice(0, HIDING_TRIED_MAX);
}

/**
 * Of VirtualServices, ServiceEntries and DestinationRules, by the first label: short and long names of one service
 * meet.
 */
function hostsOf(raw: JsonObject | undefined): readonly string[] {
  const spec = isObject(raw?.spec) ? raw.spec : {};
  const listed: readonly Json[] = Array.isArray(spec.hosts) ? (spec.hosts as readonly Json[]) : [];
  return [...listed, ...(spec.host === undefined ? [] : [spec.host])].map(host => String(host).split('.')[0]!);
}
