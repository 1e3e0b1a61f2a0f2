// The push schedule: when each connection is evaluated again. Pure: (schedule, input at a time) → [schedule, effects].
// Source: Istio pilot/pkg/xds/discovery.go (debounce), pilot/pkg/xds/pushqueue.go.
// Debounce. A request waits for a quiet time of `debounceAfterMs`, so that changes that belong together travel
// together; further requests merge into it, for at most `debounceMaxMs`. An endpoint-only request is released
// immediately if nothing is gathering and no release came in the last `debounceAfterMs`; without `endpointDebounce`
// always, past what is gathering.
// Invariants: a released request reaches each connection that is open by a `Start` that contains it, unless it
// disconnects first. A connection has at most one push in flight (`active` or `slow`); later requests merge into one
// next push. At most `windowSize` pushes hold a slot; one that takes longer than `slotHoldMs` (a client that does not
// read) loses its slot but gets no second push. While something gathers, or waits for a slot, a timer is armed.
// Order is deterministic: by connection name within a release; pushes that waited for one in flight, in order of
// completion. `active` is in order of start, so the first one in it expires first.
// Cost: a release does not touch idle connections, as a wave is a list of names with an index, usually the shared list
// of all connections.

import { assert, unreachable } from '../../core/base/assert.ts';
import { isNoPush, mergePushRequests, noPush, type PushRequest } from '../../core/push-request.ts';
import { Table } from '../../core/table.ts';
import type { ScheduleSettings } from './settings.ts';

/** `time`: milliseconds of a clock that never goes back. */
export type ScheduleInput =
  | { readonly kind: 'Requested'; readonly time: number; readonly request: PushRequest }
  | { readonly kind: 'TimerFired'; readonly time: number }
  | { readonly kind: 'Connected'; readonly time: number; readonly connection: string }
  | { readonly kind: 'Disconnected'; readonly time: number; readonly connection: string }
  /** The pushes to these connections are complete: every due response was written, or none was due. */
  | { readonly kind: 'Done'; readonly time: number; readonly connections: readonly string[] };

export type ScheduleEffect =
  /** Send `TimerFired` at `at`. Replaces the timer armed before. */
  | { readonly kind: 'Arm'; readonly at: number }
  | { readonly kind: 'Start'; readonly connection: string; readonly request: PushRequest }
  /** For metrics: the merged request left the debouncer after `waitedMs`. */
  | { readonly kind: 'Released'; readonly request: PushRequest; readonly waitedMs: number };

/** The connections from index `at` on are due for the request. Some may have disconnected meanwhile. */
export interface Wave {
  readonly connections: readonly string[];
  readonly at: number;
  readonly request: PushRequest;
}

export interface Schedule {
  readonly settings: ScheduleSettings;
  /** The merged request that is being debounced; noPush if there is none. */
  readonly gathering: PushRequest;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly releasedAt: number;
  /** All open connections. */
  readonly connections: Table<true>;
  /** Due pushes, in order of start. A connection is in at most one wave, and in none while it has a push in flight. */
  readonly waves: readonly Wave[];
  /** Pushes in flight that hold a slot: connection → start time, in order of start. At most `windowSize`. */
  readonly active: ReadonlyMap<string, number>;
  /** Pushes in flight for longer than `slotHoldMs`: they hold no slot. */
  readonly slow: Table<true>;
  /** connection → the merged requests since its push in flight started. */
  readonly next: Table<PushRequest>;
  readonly armedAt: number | undefined;
}

export function openSchedule(settings: ScheduleSettings): Schedule {
  return {
    settings,
    gathering: noPush,
    firstAt: 0,
    lastAt: 0,
    releasedAt: Number.NEGATIVE_INFINITY,
    connections: Table.empty(),
    waves: [],
    active: new Map(),
    slow: Table.empty(),
    next: Table.empty(),
    armedAt: undefined,
  };
}

export type ScheduleStep = readonly [Schedule, readonly ScheduleEffect[]];

export function stepSchedule(schedule: Schedule, input: ScheduleInput): ScheduleStep {
  const effects: ScheduleEffect[] = [];
  const taken = take(schedule, input, effects);
  const released = releaseIfDue(taken, input.time, effects);
  const started = start(expireSlots(released, input.time), input.time, effects);
  return [arm(started, effects), effects];
}

function take(schedule: Schedule, input: ScheduleInput, effects: ScheduleEffect[]): Schedule {
  switch (input.kind) {
    case 'Requested':
      return request(schedule, input.request, input.time, effects);
    case 'TimerFired':
      return { ...schedule, armedAt: undefined };
    case 'Connected':
      assert(!schedule.connections.has(input.connection), `connection ${input.connection} is already open`);
      return { ...schedule, connections: schedule.connections.with(input.connection, true) };
    case 'Disconnected':
      return disconnect(schedule, input.connection);
    case 'Done':
      return finish(schedule, input.connections);
    default:
      return unreachable(input);
  }
}

function request(schedule: Schedule, push: PushRequest, time: number, effects: ScheduleEffect[]): Schedule {
  if (isNoPush(push)) return schedule;
  const { settings } = schedule;
  const quiet = isNoPush(schedule.gathering) && time - schedule.releasedAt >= settings.debounceAfterMs;
  if (!push.full && (quiet || !settings.endpointDebounce)) return release(schedule, push, 0, time, effects);
  const firstAt = isNoPush(schedule.gathering) ? time : schedule.firstAt;
  return { ...schedule, gathering: mergePushRequests(schedule.gathering, push), firstAt, lastAt: time };
}

function releaseIfDue(schedule: Schedule, time: number, effects: ScheduleEffect[]): Schedule {
  if (isNoPush(schedule.gathering) || time < releaseAt(schedule)) return schedule;
  const waitedMs = time - schedule.firstAt;
  return release({ ...schedule, gathering: noPush }, schedule.gathering, waitedMs, time, effects);
}

function releaseAt(schedule: Schedule): number {
  const { debounceAfterMs, debounceMaxMs } = schedule.settings;
  return Math.min(schedule.lastAt + debounceAfterMs, schedule.firstAt + debounceMaxMs);
}

/** Makes every open connection due. One that connects later gets the newest state anyway. */
function release(
  schedule: Schedule,
  push: PushRequest,
  waitedMs: number,
  time: number,
  effects: ScheduleEffect[],
): Schedule {
  effects.push({ kind: 'Released', request: push, waitedMs });
  // Most connections wait for the same request or for none, so each distinct request is merged once.
  const merged = new Map<PushRequest, PushRequest>();
  const withThis = (waiting: PushRequest): PushRequest => {
    const known = merged.get(waiting) ?? mergePushRequests(waiting, push);
    merged.set(waiting, known);
    return known;
  };
  const waves = schedule.waves.map(wave => ({ ...wave, request: withThis(wave.request) }));
  const inFlight = [...schedule.active.keys(), ...schedule.slow.keys()];
  const next = inFlight.map(one => [one, withThis(schedule.next.get(one) ?? noPush)] as const);
  const connections = without(namesOf(schedule.connections), [...inFlight, ...waves.flatMap(remaining)]);
  return {
    ...schedule,
    releasedAt: time,
    waves: connections.length === 0 ? waves : [...waves, { connections, at: 0, request: push }],
    next: next.length === 0 ? schedule.next : schedule.next.withAll(next),
  };
}

function remaining({ connections, at }: Wave): readonly string[] {
  return connections.slice(at);
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length === 0) return names;
  const taken = new Set(others);
  return names.filter(name => !taken.has(name));
}

const listed = new WeakMap<Table<true>, readonly string[]>();

/** Sorted; the identical list while no connection opens or closes. */
function namesOf(connections: Table<true>): readonly string[] {
  const known = listed.get(connections);
  if (known !== undefined) return known;
  const names = [...connections.keys()];
  listed.set(connections, names);
  return names;
}

/** Only connections in flight have a next push, so a report about another one changes nothing. */
function finish(schedule: Schedule, connections: readonly string[]): Schedule {
  const idle = endPushes(schedule, connections);
  if (idle.next.size === 0) return idle;
  const due: { readonly connections: string[]; readonly at: number; readonly request: PushRequest }[] = [];
  for (const connection of connections) {
    const request = idle.next.get(connection);
    if (request === undefined) continue;
    const last = due.at(-1);
    if (last?.request === request) last.connections.push(connection);
    else due.push({ connections: [connection], at: 0, request });
  }
  return { ...idle, waves: [...idle.waves, ...due], next: idle.next.changed(connections, []) };
}

function disconnect(schedule: Schedule, connection: string): Schedule {
  if (!schedule.connections.has(connection)) return schedule;
  return {
    ...endPushes(schedule, [connection]),
    connections: schedule.connections.without(connection),
    next: schedule.next.without(connection),
  };
}

function endPushes(schedule: Schedule, connections: readonly string[]): Schedule {
  if (connections.length === 0) return schedule;
  const active = new Map(schedule.active);
  const slow: string[] = [];
  for (const connection of connections) if (!active.delete(connection)) slow.push(connection);
  return { ...schedule, active, slow: slow.length === 0 ? schedule.slow : schedule.slow.changed(slow, []) };
}

/** Pushes in flight for longer than `slotHoldMs` give up their slot. */
function expireSlots(schedule: Schedule, time: number): Schedule {
  const late: string[] = [];
  for (const [connection, since] of schedule.active) {
    if (since + schedule.settings.slotHoldMs > time) break;
    late.push(connection);
  }
  if (late.length === 0) return schedule;
  const active = new Map(schedule.active);
  for (const connection of late) active.delete(connection);
  return { ...schedule, active, slow: schedule.slow.withAll(late.map(connection => [connection, true] as const)) };
}

function start(schedule: Schedule, time: number, effects: ScheduleEffect[]): Schedule {
  const { windowSize } = schedule.settings;
  if (schedule.waves.length === 0 || schedule.active.size >= windowSize) return schedule;
  const active = new Map(schedule.active);
  const waves = [...schedule.waves];
  for (let wave = waves[0]; wave !== undefined && active.size < windowSize; wave = waves[0]) {
    const { connections, request } = wave;
    const allOpen = connections === namesOf(schedule.connections);
    let { at } = wave;
    for (; at < connections.length && active.size < windowSize; at++) {
      const connection = connections[at]!;
      if (!allOpen && !schedule.connections.has(connection)) continue;
      active.set(connection, time);
      effects.push({ kind: 'Start', connection, request });
    }
    if (at < connections.length) waves[0] = { ...wave, at };
    else waves.shift();
  }
  return { ...schedule, waves, active };
}

function arm(schedule: Schedule, effects: ScheduleEffect[]): Schedule {
  let at = isNoPush(schedule.gathering) ? Number.POSITIVE_INFINITY : releaseAt(schedule);
  // An expiring slot matters only while a connection waits for one. The first entry is the oldest.
  const [since] = schedule.active.values();
  if (schedule.waves.length > 0 && since !== undefined) at = Math.min(at, since + schedule.settings.slotHoldMs);
  if (at === Number.POSITIVE_INFINITY || at === schedule.armedAt) return schedule;
  effects.push({ kind: 'Arm', at });
  return { ...schedule, armedAt: at };
}
