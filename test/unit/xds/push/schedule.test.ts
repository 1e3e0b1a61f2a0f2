// The push schedule step by step: which effects an input has, and which it has not. The laws of the schedule are in
// test/property/push-schedule.test.ts.

import { describe, expect, it } from 'vitest';
import { noPush, pushRequest } from '../../../../src/core/push-request.ts';
import {
  openSchedule,
  type Schedule,
  type ScheduleEffect,
  type ScheduleInput,
  stepSchedule,
} from '../../../../src/xds/push/schedule.ts';
import {
  defaultScheduleSettings,
  PUSH_SLOT_HOLD_MS,
  PUSH_WINDOW,
  scheduleSettings,
} from '../../../../src/xds/push/settings.ts';

const settings = {
  debounceAfterMs: 100,
  debounceMaxMs: 250,
  endpointDebounce: true,
  windowSize: 2,
  slotHoldMs: 500,
};

const config = pushRequest(1, 'config', ['VirtualService/ns/a'], { full: true });
const endpoint = pushRequest(2, 'endpoint', ['ServiceEntry/ns/b'], { full: false });
const another = pushRequest(3, 'endpoint', ['ServiceEntry/ns/c'], { full: false });

class Steps {
  schedule: Schedule;

  constructor(connections: readonly string[], options = settings) {
    this.schedule = openSchedule(options);
    for (const connection of connections) this.on({ kind: 'Connected', time: 0, connection });
  }

  on(input: ScheduleInput): readonly ScheduleEffect[] {
    const [schedule, effects] = stepSchedule(this.schedule, input);
    this.schedule = schedule;
    return effects;
  }

  ask(time: number, request = config): readonly ScheduleEffect[] {
    return this.on({ kind: 'Requested', time, request });
  }

  timer(time: number): readonly ScheduleEffect[] {
    return this.on({ kind: 'TimerFired', time });
  }

  done(time: number, ...connections: readonly string[]): readonly ScheduleEffect[] {
    return this.on({ kind: 'Done', time, connections });
  }
}

const started = (effects: readonly ScheduleEffect[]): readonly string[] =>
  effects.flatMap(effect => (effect.kind === 'Start' ? [effect.connection] : []));
const armed = (effects: readonly ScheduleEffect[]): readonly number[] =>
  effects.flatMap(effect => (effect.kind === 'Arm' ? [effect.at] : []));

describe('a step of the push schedule', () => {
  it('begins with nothing to do', () => {
    expect(openSchedule(settings)).toMatchObject({ gathering: noPush, firstAt: 0, lastAt: 0, waves: [] });
    expect(new Steps(['a']).timer(5)).toEqual([]);
  });

  it('has no effect for a request of nothing', () => {
    const steps = new Steps(['a']);
    expect(steps.ask(0, noPush)).toEqual([]);
    expect(steps.timer(1_000)).toEqual([]);
  });

  it('arms one timer for a gathering request, and again only when the time of release moves', () => {
    const steps = new Steps(['a']);
    expect(armed(steps.ask(1_000))).toEqual([1_100]);
    expect(steps.on({ kind: 'Connected', time: 1_010, connection: 'b' })).toEqual([]);
    expect(armed(steps.ask(1_050))).toEqual([1_150]);
    expect(armed(steps.ask(1_140))).toEqual([1_240]);
    // The longest wait since the first request ends at 1,250.
    expect(armed(steps.ask(1_230))).toEqual([1_250]);
    expect(armed(steps.ask(1_240))).toEqual([]);
  });

  it('arms anew when the timer fires before the time of release', () => {
    const steps = new Steps(['a']);
    steps.ask(0);
    expect(steps.timer(50)).toEqual([{ kind: 'Arm', at: 100 }]);
  });

  it('releases exactly at the time, with the time waited since the first request', () => {
    const steps = new Steps(['a']);
    steps.ask(0);
    steps.ask(60);
    expect(steps.timer(159).map(({ kind }) => kind)).toEqual(['Arm']);
    const effects = steps.timer(160);
    expect(effects[0]).toMatchObject({ kind: 'Released', waitedMs: 160 });
    expect(started(effects)).toEqual(['a']);
    expect(steps.schedule.gathering).toBe(noPush);
  });

  it('waits after a release for as long as after a request, for endpoints too', () => {
    const steps = new Steps(['a']);
    expect(steps.ask(0, endpoint)[0]).toEqual({ kind: 'Released', request: endpoint, waitedMs: 0 });
    steps.done(1, 'a');
    expect(steps.ask(99, another)).toEqual([{ kind: 'Arm', at: 199 }]);
    const later = new Steps(['a']);
    later.ask(0, endpoint);
    later.done(1, 'a');
    expect(started(later.ask(100, another))).toEqual(['a']);
  });

  it('starts no more pushes than the window has slots, and the next when one is given back', () => {
    const steps = new Steps(['a', 'b', 'c']);
    expect(started(steps.ask(0, endpoint))).toEqual(['a', 'b']);
    expect(started(steps.done(10, 'b'))).toEqual(['c']);
    expect(steps.schedule.waves).toEqual([]);
  });

  it('arms for a slot that is held too long only while a connection waits for one', () => {
    expect(armed(new Steps(['a', 'b']).ask(0, endpoint))).toEqual([]);
    const steps = new Steps(['a', 'b', 'c']);
    expect(armed(steps.ask(0, endpoint))).toEqual([500]);
    expect(started(steps.timer(499))).toEqual([]);
    expect(started(steps.timer(500))).toEqual(['c']);
    expect([...steps.schedule.slow.keys()]).toEqual(['a', 'b']);
  });

  it('takes the slot of the slow ones only: a younger push keeps its own', () => {
    const steps = new Steps(['a', 'b', 'c', 'd']);
    steps.ask(0, endpoint);
    expect(started(steps.done(300, 'a'))).toEqual(['c']);
    expect(started(steps.timer(500))).toEqual(['d']);
    expect([...steps.schedule.slow.keys()]).toEqual(['b']);
    expect([...steps.schedule.active]).toEqual([
      ['c', 300],
      ['d', 500],
    ]);
  });

  it('gives a slow connection no second push until its first is done', () => {
    const steps = new Steps(['a']);
    steps.ask(0, endpoint);
    steps.timer(600);
    expect(started(steps.ask(700, another))).toEqual([]);
    expect(started(steps.done(800, 'a'))).toEqual(['a']);
    expect(steps.schedule.slow.size).toBe(0);
  });

  it('merges what came during a push into one next push', () => {
    const steps = new Steps(['a', 'b']);
    steps.ask(0, endpoint);
    steps.ask(200, endpoint);
    steps.ask(400, another);
    expect(started(steps.done(410, 'a', 'b'))).toEqual(['a', 'b']);
    const both = steps.schedule.next;
    expect(both.size).toBe(0);
    expect(steps.done(420, 'a', 'b')).toEqual([]);
  });

  it('shares one merged request among the connections that wait for the same', () => {
    const steps = new Steps(['a', 'b']);
    steps.ask(0, endpoint);
    steps.ask(200, endpoint);
    steps.ask(400, another);
    const [one, two] = [...steps.schedule.next.values()];
    expect(one).toBe(two);
    expect(one?.configsUpdated).toEqual(['ServiceEntry/ns/b', 'ServiceEntry/ns/c']);
  });

  it('merges a release into the waves that wait, and gives those connections no second place', () => {
    const steps = new Steps(['a', 'b', 'c', 'd']);
    steps.ask(0, endpoint);
    steps.ask(200, another);
    expect(steps.schedule.waves.map(({ connections, at }) => connections.slice(at))).toEqual([['c', 'd']]);
    expect(steps.schedule.waves[0]?.request.configsUpdated).toEqual(['ServiceEntry/ns/b', 'ServiceEntry/ns/c']);
    expect([...steps.schedule.next.keys()]).toEqual(['a', 'b']);
  });

  it('makes a connection due again whose push in the wave that still waits is done', () => {
    const steps = new Steps(['a', 'b', 'c', 'd']);
    steps.ask(0, endpoint);
    expect(started(steps.done(10, 'a'))).toEqual(['c']);
    steps.ask(200, another);
    expect(started(steps.done(210, 'b'))).toEqual(['d']);
    expect(started(steps.done(220, 'c'))).toEqual(['a']);
  });

  it('stays the same object when an input changes nothing', () => {
    const steps = new Steps(['a', 'b', 'c']);
    const idle = steps.schedule;
    steps.ask(0, noPush);
    expect(steps.schedule).toBe(idle);
    steps.ask(0, endpoint);
    const busy = steps.schedule;
    steps.ask(1, noPush);
    steps.done(2, 'stranger');
    expect([steps.schedule.waves, steps.schedule.next, steps.schedule.slow]).toEqual([
      busy.waves,
      busy.next,
      busy.slow,
    ]);
    steps.ask(3, noPush);
    expect(steps.schedule.waves).toBe(busy.waves);
  });

  it('starts those that waited for one request as one wave', () => {
    const steps = new Steps(['a', 'b', 'c'], { ...settings, windowSize: 3 });
    steps.ask(0, endpoint);
    steps.ask(200, another);
    const narrow = { ...steps.schedule, settings };
    const [after] = stepSchedule(narrow, { kind: 'Done', time: 210, connections: ['a', 'b', 'c'] });
    expect(after.waves.map(({ connections, at }) => [connections, at])).toEqual([[['a', 'b', 'c'], 2]]);
  });

  it('has no effect for the end of a push that is not in flight', () => {
    const steps = new Steps(['a', 'b', 'c']);
    steps.ask(0, endpoint);
    expect(steps.done(10, 'c', 'stranger')).toEqual([]);
    expect([...steps.schedule.active.keys()]).toEqual(['a', 'b']);
    expect(started(steps.done(20, 'a'))).toEqual(['c']);
  });

  it('gives the slot of a connection that closes to the next one, and passes over a closed one that waits', () => {
    const steps = new Steps(['a', 'b', 'c', 'd']);
    steps.ask(0, endpoint);
    expect(steps.on({ kind: 'Disconnected', time: 5, connection: 'c' })).toEqual([]);
    expect(started(steps.on({ kind: 'Disconnected', time: 6, connection: 'a' }))).toEqual(['d']);
    expect([...steps.schedule.connections.keys()]).toEqual(['b', 'd']);
    const { schedule } = steps;
    expect(steps.on({ kind: 'Disconnected', time: 7, connection: 'a' })).toEqual([]);
    expect(steps.schedule).toBe(schedule);
  });

  it('forgets the next push of a connection that closes', () => {
    const steps = new Steps(['a']);
    steps.ask(0, endpoint);
    steps.ask(200, another);
    steps.on({ kind: 'Disconnected', time: 210, connection: 'a' });
    expect(steps.schedule.next.size).toBe(0);
    expect(steps.on({ kind: 'Connected', time: 220, connection: 'a' })).toEqual([]);
  });

  it('releases without a connection, and leaves nothing behind', () => {
    const steps = new Steps([]);
    expect(steps.ask(0, endpoint)).toEqual([{ kind: 'Released', request: endpoint, waitedMs: 0 }]);
    expect(steps.schedule.waves).toEqual([]);
    expect(steps.on({ kind: 'Connected', time: 1, connection: 'a' })).toEqual([]);
  });

  it('refuses a connection that is open already, by name', () => {
    const steps = new Steps(['a']);
    expect(() => steps.on({ kind: 'Connected', time: 0, connection: 'a' })).toThrow('connection a is already open');
  });
});

describe('the settings of the push schedule', () => {
  it('debounce endpoints unless the variable says no in one of the ways of Go', () => {
    const debounces = (value: string): boolean =>
      scheduleSettings({ PILOT_ENABLE_EDS_DEBOUNCE: value }).endpointDebounce;
    expect(['0', 'f', 'F', 'false', 'FALSE', 'False'].map(debounces)).toEqual(Array(6).fill(false));
    expect(['', '1', 'true', 'no', 'fALSE'].map(debounces)).toEqual(Array(5).fill(true));
  });

  it('take a whole window above 0 only', () => {
    const size = (value: string): number => scheduleSettings({ PILOT_PUSH_THROTTLE: value }).windowSize;
    expect(['1', '40'].map(size)).toEqual([1, 40]);
    expect(['0', '-3', '1.5', 'many', ''].map(size)).toEqual(Array(5).fill(PUSH_WINDOW));
  });

  it('default to 100 ms of quiet, ten seconds at most, and a slot held for five', () => {
    expect(defaultScheduleSettings).toEqual({
      debounceAfterMs: 100,
      debounceMaxMs: 10_000,
      endpointDebounce: true,
      windowSize: PUSH_WINDOW,
      slotHoldMs: PUSH_SLOT_HOLD_MS,
    });
    expect([PUSH_WINDOW, PUSH_SLOT_HOLD_MS]).toEqual([1_024, 5_000]);
  });
});
