// The push schedule under arbitrary traffic: no request is lost, no connection has two pushes under way, the window is
// kept, waiting is bounded, and the order is by connection. Time is the test's own; timers fire when and only when they
// were armed.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PushRequest, pushRequest } from '../../src/core/push-request.ts';
import {
  openSchedule,
  type Schedule,
  type ScheduleEffect,
  type ScheduleInput,
  type ScheduleStep,
  stepSchedule,
} from '../../src/xds/push/schedule.ts';
import { defaultScheduleSettings, type ScheduleSettings, scheduleSettings } from '../../src/xds/push/settings.ts';
import { parameters } from './seed.ts';

const settings: ScheduleSettings = {
  debounceAfterMs: 100,
  debounceMaxMs: 1_000,
  endpointDebounce: true,
  windowSize: 2,
  slotHoldMs: 500,
};
const CONNECTIONS = ['p1', 'p2', 'p3', 'p4'] as const;

type Step = (schedule: Schedule, input: ScheduleInput) => ScheduleStep;

interface Started {
  readonly at: number;
  readonly connection: string;
  readonly request: PushRequest;
}

/** Runs a schedule on its own clock. */
class Bench {
  schedule: Schedule;
  time = 0;
  timer: number | undefined;
  readonly started: Started[] = [];
  readonly underWay = new Map<string, number>();
  readonly released: (ScheduleEffect & { readonly kind: 'Released' })[] = [];
  /** The last that was asked for before the connection came. */
  readonly cameAt = new Map<string, number>();
  readonly #step: Step;
  seq = 0;

  constructor(options: ScheduleSettings, step: Step = stepSchedule) {
    this.schedule = openSchedule(options);
    this.#step = step;
    for (const connection of CONNECTIONS) this.input({ kind: 'Connected', time: 0, connection });
  }

  input(input: ScheduleInput): void {
    const [schedule, effects] = this.#step(this.schedule, input);
    this.schedule = schedule;
    for (const effect of effects) {
      if (effect.kind === 'Arm') this.timer = effect.at;
      else if (effect.kind === 'Released') this.released.push(effect);
      else {
        if (!this.schedule.connections.has(effect.connection)) throw new Error(`${effect.connection} is not there`);
        if (this.underWay.has(effect.connection)) throw new Error(`two pushes to ${effect.connection} under way`);
        this.underWay.set(effect.connection, this.time);
        this.started.push({ at: this.time, connection: effect.connection, request: effect.request });
        const counted = [...this.underWay.values()].filter(since => since + settings.slotHoldMs > this.time).length;
        if (counted > schedule.settings.windowSize) throw new Error(`${counted} pushes under way`);
      }
    }
  }

  ask(full: boolean): number {
    const seq = ++this.seq;
    const request = pushRequest(seq, full ? 'config' : 'endpoint', [`VirtualService/ns/${seq}`], { full });
    this.input({ kind: 'Requested', time: this.time, request });
    return seq;
  }

  done(...connections: readonly string[]): void {
    const over = connections.filter(connection => this.underWay.delete(connection));
    if (over.length > 0) this.input({ kind: 'Done', time: this.time, connections: over });
  }

  /** Comes if it is not there, goes if it is. */
  toggle(connection: string): void {
    const kind = this.schedule.connections.has(connection) ? 'Disconnected' : 'Connected';
    if (kind === 'Disconnected') this.underWay.delete(connection);
    else this.cameAt.set(connection, this.seq);
    this.input({ kind, time: this.time, connection });
  }

  /** Lets time pass, with the timers that are due on the way. */
  pass(ms: number): void {
    const until = this.time + ms;
    while (this.timer !== undefined && this.timer <= until) {
      this.time = Math.max(this.time, this.timer);
      this.timer = undefined;
      this.input({ kind: 'TimerFired', time: this.time });
    }
    this.time = until;
  }

  /** All pushes finish at once, until none is left. */
  drain(): void {
    for (let i = 0; i < 100; i++) {
      this.done(...this.underWay.keys());
      this.pass(100);
    }
  }
}

type Action =
  | { readonly kind: 'ask'; readonly full: boolean }
  | { readonly kind: 'done'; readonly connections: readonly string[] }
  | { readonly kind: 'toggle'; readonly connection: string }
  | { readonly kind: 'pass'; readonly ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), full: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('done' as const),
      connections: fc.subarray([...CONNECTIONS], { minLength: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('toggle' as const), connection: fc.constantFrom(...CONNECTIONS) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 300 }) }) },
);
const actions = fc.array(action, { maxLength: 80, size: 'max' });

interface Asked {
  readonly seq: number;
  readonly at: number;
}

function live(bench: Bench, all: readonly Action[]): readonly Asked[] {
  const asked: Asked[] = [];
  for (const act of all) {
    if (act.kind === 'ask') asked.push({ at: bench.time, seq: bench.ask(act.full) });
    else if (act.kind === 'done') bench.done(...act.connections);
    else if (act.kind === 'toggle') bench.toggle(act.connection);
    else bench.pass(act.ms);
  }
  bench.drain();
  return asked;
}

/** Every request reached every connection that is still there, in a push that started at or after it was asked for. */
function lost(bench: Bench, asked: readonly Asked[]): string | undefined {
  for (const { seq, at } of asked) {
    for (const connection of bench.schedule.connections.keys()) {
      if (seq <= (bench.cameAt.get(connection) ?? 0)) continue;
      const key = `VirtualService/ns/${seq}`;
      const found = bench.started.some(
        start => start.connection === connection && start.at >= at && start.request.configsUpdated.includes(key),
      );
      if (!found) return `${key} never reached ${connection}`;
    }
  }
  return undefined;
}

describe('the push schedule', () => {
  test('loses no request, and runs at most one push for each connection and a window of pushes in total', () => {
    fc.assert(
      fc.property(actions, all => {
        const bench = new Bench(settings);
        expect(lost(bench, live(bench, all))).toBeUndefined();
        const { waves, next, active, slow } = bench.schedule;
        expect(waves.length + next.size + active.size + slow.size).toBe(0);
      }),
      parameters(600),
    );
  });

  test('releases a push within debounceMax, and within debounceAfter of the last request', () => {
    fc.assert(
      fc.property(actions, all => {
        const bench = new Bench(settings);
        live(bench, all);
        for (const { waitedMs } of bench.released) expect(waitedMs).toBeLessThanOrEqual(settings.debounceMaxMs);
      }),
      parameters(300),
    );
    const storm = new Bench(settings);
    for (let i = 0; i < 50; i++) {
      storm.ask(true);
      storm.pass(50);
    }
    storm.drain();
    expect(storm.released.map(({ waitedMs }) => waitedMs)).toEqual([1_000, 1_000, 1_000 - 500 + 50]);
    const calm = new Bench(settings);
    calm.ask(true);
    calm.pass(60);
    calm.ask(true);
    calm.pass(1_000);
    expect(calm.released.map(({ waitedMs }) => waitedMs)).toEqual([160]);
  });

  test('releases endpoint changes at once when idle, and merges them into a gathering push otherwise', () => {
    const quiet = new Bench(settings);
    quiet.ask(false);
    expect(quiet.started.map(({ at, connection }) => [at, connection])).toEqual([
      [0, 'p1'],
      [0, 'p2'],
    ]);
    quiet.pass(50);
    quiet.ask(false);
    expect(quiet.released).toHaveLength(1);
    quiet.pass(100);
    expect(quiet.released.map(({ waitedMs }) => waitedMs)).toEqual([0, 100]);

    const gathering = new Bench(settings);
    gathering.ask(true);
    gathering.ask(false);
    expect(gathering.released).toHaveLength(0);
    gathering.pass(100);
    expect(gathering.released.map(({ request }) => [request.full, request.configsUpdated.length])).toEqual([[true, 2]]);

    const undebounced = new Bench({ ...settings, endpointDebounce: false });
    undebounced.ask(true);
    undebounced.ask(false);
    expect(undebounced.released.map(({ request }) => request.full)).toEqual([false]);
  });

  test('serves connections in order of arrival, and lets a slow one wait aside', () => {
    const bench = new Bench(settings);
    bench.ask(false);
    bench.pass(499);
    expect(bench.started.map(({ connection }) => connection)).toEqual(['p1', 'p2']);
    bench.pass(1);
    expect(bench.started.map(({ connection }) => connection)).toEqual(['p1', 'p2', 'p3', 'p4']);
    bench.ask(false);
    bench.done('p3');
    bench.done('p1');
    // p3 was free first; p1 had no place in the window to give back.
    expect(bench.started.slice(4).map(({ connection }) => connection)).toEqual(['p3']);
    bench.done('p4');
    expect(bench.started.slice(5).map(({ connection }) => connection)).toEqual(['p1']);
  });

  test('drops the push of a closed connection, and pushes nothing old to a new one', () => {
    const bench = new Bench(settings);
    bench.ask(true);
    bench.input({ kind: 'Disconnected', time: 0, connection: 'p1' });
    bench.pass(100);
    bench.input({ kind: 'Connected', time: bench.time, connection: 'p0' });
    bench.drain();
    expect(bench.started.map(({ connection }) => connection)).toEqual(['p2', 'p3', 'p4']);
    expect(bench.schedule.connections.size).toBe(4);
  });

  test('reads its settings from istiod’s environment variables', () => {
    expect(scheduleSettings({})).toEqual(defaultScheduleSettings);
    expect(
      scheduleSettings({
        PILOT_DEBOUNCE_AFTER: '1s',
        PILOT_DEBOUNCE_MAX: '1m',
        PILOT_ENABLE_EDS_DEBOUNCE: 'false',
        PILOT_PUSH_THROTTLE: '7',
      }),
    ).toMatchObject({ debounceAfterMs: 1_000, debounceMaxMs: 60_000, endpointDebounce: false, windowSize: 7 });
    expect(scheduleSettings({ PILOT_DEBOUNCE_AFTER: 'soon', PILOT_PUSH_THROTTLE: '0' })).toEqual(
      defaultScheduleSettings,
    );
  });

  test('canary: a schedule that loses requests during a push, or starts a second push, is detected', () => {
    const forgets: Step = (schedule, input) => {
      const [next, effects] = stepSchedule(schedule, input);
      return [{ ...next, next: openSchedule(settings).next }, effects];
    };
    const history: readonly Action[] = [
      { kind: 'ask', full: false },
      { kind: 'pass', ms: 200 },
      { kind: 'ask', full: false },
    ];
    const forgetful = new Bench(settings, forgets);
    expect(lost(forgetful, live(forgetful, history))).toBeDefined();
    const impatient: Step = (schedule, input) => stepSchedule({ ...schedule, active: new Map() }, input);
    const bench = new Bench(settings, impatient);
    expect(() => live(bench, history)).toThrow(/two pushes|pushes under way/);
  });
});
