// Drives the push schedule (push/schedule.ts): keeps its value and its timer, stamps inputs with the time and carries
// out effects. It decides nothing itself.

import type { PushRequest } from '../../core/push-request.ts';
import { openSchedule, type Schedule, type ScheduleInput, stepSchedule } from '../push/schedule.ts';
import type { ScheduleSettings } from '../push/settings.ts';
import type { HostTimer, XdsHost } from './host.ts';

/** An input of the schedule without its time. */
type Unstamped = ScheduleInput extends infer I ? (I extends ScheduleInput ? Omit<I, 'time'> : never) : never;

export class Pusher {
  readonly #host: XdsHost;
  readonly #start: (connection: string, request: PushRequest) => void;
  readonly #startedAt = new Map<string, number>();
  #schedule: Schedule;
  #releasedAt = 0;
  #timer: HostTimer | undefined;
  #inputs: Unstamped[] = [];
  #over: string[] = [];

  constructor(host: XdsHost, settings: ScheduleSettings, start: (connection: string, request: PushRequest) => void) {
    this.#host = host;
    this.#start = start;
    this.#schedule = openSchedule(settings);
  }

  request(request: PushRequest): void {
    this.#enqueue({ kind: 'Requested', request });
  }

  connected(connection: string): void {
    this.#enqueue({ kind: 'Connected', connection });
  }

  disconnected(connection: string): void {
    this.#enqueue({ kind: 'Disconnected', connection });
  }

  done(connection: string): void {
    const since = this.#startedAt.get(connection);
    if (since !== undefined) this.#host.observe?.({ kind: 'Settled', tookMs: this.#host.clock.now() - since });
    this.#startedAt.delete(connection);
    // Pushes that complete in one tick are reported together.
    if (this.#over.push(connection) === 1) this.#enqueue({ kind: 'Done', connections: this.#over });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /**
   * Inputs are collected and applied in a tick of their own, so that a push to many proxies yields to the event loop
   * between windows.
   */
  #enqueue(input: Unstamped): void {
    this.#inputs.push(input);
    if (this.#inputs.length === 1) setImmediate(() => this.#drain());
  }

  #drain(): void {
    const inputs = this.#inputs;
    this.#inputs = [];
    this.#over = [];
    for (const input of inputs) this.#step(input);
  }

  #step(input: Unstamped): void {
    const time = this.#host.clock.now();
    const [schedule, effects] = stepSchedule(this.#schedule, { ...input, time } as ScheduleInput);
    this.#schedule = schedule;
    for (const effect of effects) {
      if (effect.kind === 'Arm') {
        this.#timer?.cancel();
        this.#timer = this.#host.clock.after(Math.max(0, effect.at - time), () =>
          this.#enqueue({ kind: 'TimerFired' }),
        );
      } else if (effect.kind === 'Start') {
        this.#startedAt.set(effect.connection, time);
        this.#host.observe?.({ kind: 'Started', queuedMs: time - this.#releasedAt });
        this.#start(effect.connection, effect.request);
      } else {
        this.#releasedAt = time;
        this.#host.observe?.(effect);
      }
    }
    // Not sooner: an input before this one may have started a push to it.
    if (input.kind === 'Disconnected') this.#startedAt.delete(input.connection);
  }
}
