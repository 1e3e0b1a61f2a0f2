// When is who looked at again: the push schedule as a pure step over time. (schedule, input at a time) → [schedule, effects].
//
// A request waits for a short quiet time, so that what belongs together travels together; a storm is merged, but never held longer
// than `debounceMaxMs`. A request that concerns endpoints only leaves at once when it has been quiet. Then every connection is due:
// one push a connection at a time, later requests merge into its next one; at most `windowSize` are under way, and one that does not
// come back (a client that does not read) stops counting after `slotHoldMs`, but is still not pushed to a second time.
// Order is deterministic: by connection within one release, first come first served between releases, so that nobody starves.
//
// Rules and names: Istio pilot/pkg/xds/discovery.go (debounce), pushqueue.go; spec-events §4.1, §4.4. Unlike Istio there is no push
// function to wait for between the two: the state is folded before a request comes here.

import { assert, unreachable } from '../../core/assert.ts';
import { isNoPush, mergePushRequests, noPush, type PushRequest } from '../../core/push-request.ts';
import { Table } from '../../core/table.ts';
import type { ScheduleSettings } from './settings.ts';

/** `time`: milliseconds of any clock that does not go back. */
export type ScheduleInput =
  | { readonly kind: 'Requested'; readonly time: number; readonly request: PushRequest }
  | { readonly kind: 'TimerFired'; readonly time: number }
  | { readonly kind: 'Connected'; readonly time: number; readonly connection: string }
  | { readonly kind: 'Disconnected'; readonly time: number; readonly connection: string }
  /** The push to that connection is over: everything it needed has been written, or there was nothing. */
  | { readonly kind: 'Done'; readonly time: number; readonly connection: string };

export type ScheduleEffect =
  /** Send `TimerFired` at `at`. Replaces what was armed before. */
  | { readonly kind: 'Arm'; readonly at: number }
  | { readonly kind: 'Start'; readonly connection: string; readonly request: PushRequest }
  /** For metrics: a merged request has left the debouncer after so many milliseconds. */
  | { readonly kind: 'Released'; readonly request: PushRequest; readonly waitedMs: number };

export interface Schedule {
  readonly settings: ScheduleSettings;
  /** Not yet released; noPush if nothing is gathering. */
  readonly gathering: PushRequest;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly releasedAt: number;
  /** connection → its place in `queue`, or '' if none. Every connection that is there is in here. */
  readonly connections: Table<string>;
  /** `<ticket>|<connection>` → what is due, in order of start. */
  readonly queue: Table<PushRequest>;
  readonly tickets: number;
  /** Under way and counted: connection → when it started. At most `windowSize`. */
  readonly active: ReadonlyMap<string, number>;
  /** Under way for longer than `slotHoldMs`: not counted. */
  readonly slow: Table<true>;
  /** connection → what came while its push was under way. */
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
    queue: Table.empty(),
    tickets: 0,
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
  const started = start(setAside(released, input.time), input.time, effects);
  return [arm(started, effects), effects];
}

function take(schedule: Schedule, input: ScheduleInput, effects: ScheduleEffect[]): Schedule {
  switch (input.kind) {
    case 'Requested':
      return request(schedule, input.request, input.time, effects);
    case 'TimerFired':
      return { ...schedule, armedAt: undefined };
    case 'Connected':
      assert(!schedule.connections.has(input.connection), `connection ${input.connection} is there already`);
      return { ...schedule, connections: schedule.connections.with(input.connection, '') };
    case 'Disconnected':
      return disconnect(schedule, input.connection);
    case 'Done':
      return finish(schedule, input.connection);
    default:
      return unreachable(input);
  }
}

function request(schedule: Schedule, asked: PushRequest, time: number, effects: ScheduleEffect[]): Schedule {
  if (isNoPush(asked)) return schedule;
  const { settings } = schedule;
  const quiet = isNoPush(schedule.gathering) && time - schedule.releasedAt >= settings.debounceAfterMs;
  if (!asked.full && (quiet || !settings.endpointDebounce)) return release(schedule, asked, 0, time, effects);
  const firstAt = isNoPush(schedule.gathering) ? time : schedule.firstAt;
  return { ...schedule, gathering: mergePushRequests(schedule.gathering, asked), firstAt, lastAt: time };
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

/** Every connection becomes due. One that connects later sees the newest state anyway. */
function release(
  schedule: Schedule,
  asked: PushRequest,
  waitedMs: number,
  time: number,
  effects: ScheduleEffect[],
): Schedule {
  effects.push({ kind: 'Released', request: asked, waitedMs });
  // Most connections wait for the same request, or for none: the merge is made once for each distinct one.
  const merged = new Map<PushRequest, PushRequest>();
  const withThis = (waiting: PushRequest): PushRequest => {
    const known = merged.get(waiting) ?? mergePushRequests(waiting, asked);
    merged.set(waiting, known);
    return known;
  };
  const queued: [string, PushRequest][] = [];
  const places: [string, string][] = [];
  const next: [string, PushRequest][] = [];
  let { tickets } = schedule;
  for (const [connection, place] of schedule.connections.entries()) {
    if (isUnderWay(schedule, connection)) {
      next.push([connection, withThis(schedule.next.get(connection) ?? noPush)]);
    } else if (place !== '') {
      queued.push([place, withThis(schedule.queue.get(place)!)]);
    } else {
      const ticket = ticketOf(++tickets, connection);
      queued.push([ticket, withThis(noPush)]);
      places.push([connection, ticket]);
    }
  }
  return {
    ...schedule,
    tickets,
    releasedAt: time,
    connections: schedule.connections.withAll(places),
    queue: schedule.queue.withAll(queued),
    next: schedule.next.withAll(next),
  };
}

function finish(schedule: Schedule, connection: string): Schedule {
  if (!isUnderWay(schedule, connection)) return schedule;
  const idle = endPush(schedule, connection);
  const next = idle.next.get(connection);
  if (next === undefined) return idle;
  const tickets = idle.tickets + 1;
  const ticket = ticketOf(tickets, connection);
  return {
    ...idle,
    tickets,
    next: idle.next.without(connection),
    queue: idle.queue.with(ticket, next),
    connections: idle.connections.with(connection, ticket),
  };
}

function disconnect(schedule: Schedule, connection: string): Schedule {
  const place = schedule.connections.get(connection);
  if (place === undefined) return schedule;
  return {
    ...endPush(schedule, connection),
    connections: schedule.connections.without(connection),
    queue: place === '' ? schedule.queue : schedule.queue.without(place),
    next: schedule.next.without(connection),
  };
}

function endPush(schedule: Schedule, connection: string): Schedule {
  if (!schedule.active.has(connection)) return { ...schedule, slow: schedule.slow.without(connection) };
  const active = new Map(schedule.active);
  active.delete(connection);
  return { ...schedule, active };
}

/** Pushes that take too long give their place in the window to others. */
function setAside(schedule: Schedule, time: number): Schedule {
  const late = [...schedule.active].filter(([, since]) => since + schedule.settings.slotHoldMs <= time);
  if (late.length === 0) return schedule;
  const active = new Map(schedule.active);
  for (const [connection] of late) active.delete(connection);
  return { ...schedule, active, slow: schedule.slow.withAll(late.map(([connection]) => [connection, true] as const)) };
}

function start(schedule: Schedule, time: number, effects: ScheduleEffect[]): Schedule {
  const free = schedule.settings.windowSize - schedule.active.size;
  if (free <= 0 || schedule.queue.size === 0) return schedule;
  const active = new Map(schedule.active);
  let { queue, connections } = schedule;
  for (const [ticket, due] of first(schedule.queue, free)) {
    const connection = ticket.slice(TICKET_DIGITS + 1);
    queue = queue.without(ticket);
    connections = connections.with(connection, '');
    active.set(connection, time);
    effects.push({ kind: 'Start', connection, request: due });
  }
  return { ...schedule, queue, connections, active };
}

function arm(schedule: Schedule, effects: ScheduleEffect[]): Schedule {
  let at = isNoPush(schedule.gathering) ? Number.POSITIVE_INFINITY : releaseAt(schedule);
  // A place in the window is only worth waking up for if somebody waits for it.
  if (schedule.queue.size > 0) {
    for (const since of schedule.active.values()) at = Math.min(at, since + schedule.settings.slotHoldMs);
  }
  if (at === Number.POSITIVE_INFINITY || at === schedule.armedAt) return schedule;
  effects.push({ kind: 'Arm', at });
  return { ...schedule, armedAt: at };
}

function isUnderWay(schedule: Schedule, connection: string): boolean {
  return schedule.active.has(connection) || schedule.slow.has(connection);
}

const TICKET_DIGITS = 16;

function ticketOf(ticket: number, connection: string): string {
  return `${String(ticket).padStart(TICKET_DIGITS, '0')}|${connection}`;
}

function first<V>(table: Table<V>, count: number): readonly (readonly [string, V])[] {
  const found: (readonly [string, V])[] = [];
  for (const entry of table.entries()) {
    if (found.length === count) break;
    found.push(entry);
  }
  return found;
}
