// Machines that connect and belong to a WorkloadGroup, as WorkloadEntries: the source `registration/<cluster>`. A
// machine registers when its proxy connects, its health is what its agent reports, and what it registered goes when it
// did not come back within a grace period.
//
// Time enters the state here, as texts of facts: when a machine came and went, how its probe ended. The rules are pure
// (core/registration/, core/wishes/registrations.ts). Invariant: one fact for each change of a machine, in order.
// Source: Istio pilot/pkg/autoregistration/controller.go.

import { parseTimestamp } from '../../core/base/time.ts';
import {
  CONNECTED_AT,
  DISCONNECTED_AT,
  REGISTRATION_GROUP,
  takesHealth,
  WORKLOAD_CONTROLLER,
} from '../../core/kinds/istio/workload-entry.ts';
import { configKey, type Obj } from '../../core/model/object.ts';
import {
  claimedEntry,
  type EntryName,
  entryFromGroup,
  entryInForce,
  groupOf,
  whyNotRegistered,
} from '../../core/registration/registration.ts';
import type { State } from '../../core/state.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { Submissions } from '../kit/submissions.ts';
import { HEALTH_CHARS_MAX, MACHINES_MAX, STALE_AGES, SWEEP_GRACES, SWEPT_MAX } from './limits.ts';
import { factOf, type Machine, newMachine, recoveredMachine, refOf } from './machine.ts';

/** As istiod counts them: auto_registration_<what>_total. */
export type Registered = 'deletes' | 'errors' | 'success' | 'unregister' | 'updates';

export interface RegistrarOptions {
  readonly cluster: string;
  /** The name of this process in WorkloadEntries. */
  readonly controller: string;
  /** An API server keeps the WorkloadEntries, and this process may write them. */
  readonly isWritten: boolean;
  readonly graceMs: number;
  /** Undefined: connections may last for ever. */
  readonly connectionAgeMsMax: number | undefined;
  readonly clock: Pick<Chance, 'now' | 'after'>;
  readonly log: AdapterLog;
  readonly observe?: (what: Registered) => void;
}

export class Registrar implements Adapter {
  readonly source: string;
  readonly #options: RegistrarOptions;
  readonly #submissions: Submissions;
  /** By `namespace/name` of the WorkloadEntry. */
  readonly #machines = new Map<string, Machine>();
  readonly #byConnection = new Map<string, Machine>();
  #state: State | undefined;
  #sweeping: { cancel(): void } | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.source = `registration/${options.cluster}`;
    this.#submissions = new Submissions('a registration', options.log);
  }

  onState(state: State): void {
    const before = this.#state?.objects;
    this.#state = state;
    if (this.#machines.size === 0) return;
    const { WorkloadEntry: entries, WorkloadGroup: groups } = state.objects;
    if (before?.WorkloadEntry === entries && before.WorkloadGroup === groups) return;
    for (const machine of [...this.#machines.values()]) this.#follow(machine, state);
  }

  async start(sink: Sink): Promise<void> {
    const { isWritten, controller, graceMs } = this.#options;
    if (!isWritten) this.#recover();
    await this.#submissions.open(sink, async () => {
      const facts = [...this.#machines.values()]
        .filter(({ phase }) => phase !== 'waiting')
        .map(machine => factOf(machine, controller, isWritten));
      await sink.relistKinds(['WorkloadEntry', 'WorkloadRegistration'], facts);
    });
    if (isWritten) this.#sweepAfter(SWEEP_GRACES * graceMs);
  }

  async stop(): Promise<void> {
    this.#sweeping?.cancel();
    for (const { timer } of this.#machines.values()) timer?.cancel();
    await this.#submissions.close();
  }

  /** Nothing that is served waits for it. */
  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: [], unreadable: [] };
  }

  /** A proxy connected, and is in the state. */
  connected(connection: string): void {
    const state = this.#state;
    const proxy = state?.proxies.get(connection);
    if (state === undefined || proxy === undefined) return;
    const entry = claimedEntry(state, proxy);
    if (entry === undefined || whyNotRegistered(state, proxy) !== undefined) return;
    if (entry.group === '' && !this.#mayReport(entry, state)) return;
    const key = configKey(entry.namespace, entry.name);
    const known = this.#machines.get(key);
    if (known === undefined && this.#machines.size >= MACHINES_MAX) {
      this.#options.log('error', `WorkloadEntry ${key} is not registered: there are ${MACHINES_MAX} machines`);
      this.#options.observe?.('errors');
      return;
    }
    const now = this.#options.clock.now();
    const machine = known ?? newMachine(entry, now, 'connected');
    this.#machines.set(key, machine);
    this.#byConnection.set(connection, machine);
    machine.connections.add(connection);
    machine.proxy = proxy;
    machine.timer?.cancel();
    const isNew = entryInForce(state, entry) === undefined;
    this.#register(machine, state, now);
    this.#options.observe?.(isNew ? 'success' : 'updates');
    this.#options.log('info', `WorkloadEntry ${key} is ${isNew ? 'registered' : 'connected'}`);
  }

  disconnected(connection: string): void {
    const machine = this.#byConnection.get(connection);
    this.#byConnection.delete(connection);
    machine?.connections.delete(connection);
    if (machine === undefined || machine.connections.size > 0) return;
    if (machine.phase === 'waiting') {
      this.#machines.delete(keyOf(machine));
      return;
    }
    const { clock, graceMs, observe } = this.#options;
    machine.phase = 'left';
    machine.disconnectedAt = clock.now();
    this.#say(machine);
    observe?.('unregister');
    machine.timer = clock.after(graceMs, () => this.#expire(machine));
  }

  /** What the agent of the machine found. A report equal to the last one is dropped. */
  health(connection: string, healthy: boolean, message: string): void {
    const machine = this.#byConnection.get(connection);
    if (machine === undefined) return;
    const said = healthy ? '' : message.slice(0, HEALTH_CHARS_MAX);
    if (machine.health?.healthy === healthy && machine.health.message === said) return;
    machine.health = { healthy, message: said, at: this.#options.clock.now() };
    if (machine.phase !== 'waiting') this.#say(machine);
  }

  /** Health of a WorkloadEntry that was not registered is written where the API server has it. */
  #mayReport(entry: EntryName, state: State): boolean {
    const found = entryInForce(state, entry);
    return this.#options.isWritten && found !== undefined && takesHealth(found);
  }

  #register(machine: Machine, state: State, now: number): void {
    const { entry, proxy } = machine;
    const group = entry.group === '' ? undefined : groupOf(state, entry);
    // What was made once stays as it is, as long as it is there.
    if (group !== undefined && proxy !== undefined) machine.parts ??= entryFromGroup(group, proxy);
    machine.connectedAt = now;
    machine.disconnectedAt = undefined;
    machine.phase = 'connected';
    this.#say(machine);
  }

  #follow(machine: Machine, state: State): void {
    const { entry, connectedAt = 0, phase } = machine;
    const found = entryInForce(state, entry);
    const isGroupGone = entry.group !== '' && groupOf(state, entry) === undefined;
    if (phase === 'waiting') {
      const { proxy } = machine;
      const isBack = !isGroupGone && entry.group !== '' && proxy !== undefined;
      if (isBack && whyNotRegistered(state, proxy) === undefined)
        this.#register(machine, state, this.#options.clock.now());
    } else if (phase === 'expired') {
      const isDone = entry.group === '' ? found === undefined || !hasHealth(found) : found === undefined;
      if (isDone) this.#withdraw(machine);
    } else if (isGroupGone || (entry.group === '' && found === undefined)) {
      this.#withdraw(machine);
    } else if (found !== undefined && this.#isOfAnother(found, connectedAt)) this.#withdraw(machine);
  }

  /** The machine connected to another process after it did here. */
  #isOfAnother({ annotations }: Obj<'WorkloadEntry'>, connectedAt: number): boolean {
    const { isWritten, controller } = this.#options;
    if (!isWritten || annotations[WORKLOAD_CONTROLLER] === controller) return false;
    return (parseTimestamp(annotations[CONNECTED_AT] ?? '') ?? 0) > connectedAt;
  }

  /** Its facts go; a machine that is still connected is remembered, in case its group comes back. */
  #withdraw(machine: Machine): void {
    machine.timer?.cancel();
    machine.phase = 'waiting';
    machine.parts = undefined;
    if (machine.connections.size === 0) this.#machines.delete(keyOf(machine));
    this.#submissions.submit([{ kind: 'Delete', ref: refOf(machine.entry, this.#options.isWritten) }]);
  }

  #expire(machine: Machine): void {
    if (machine.phase !== 'left') return;
    const { isWritten, controller, observe } = this.#options;
    observe?.('deletes');
    if (!isWritten) {
      this.#withdraw(machine);
      return;
    }
    machine.phase = 'expired';
    machine.judged = { [WORKLOAD_CONTROLLER]: controller, [CONNECTED_AT]: null };
    this.#say(machine);
    if (this.#state !== undefined) this.#follow(machine, this.#state);
  }

  #say(machine: Machine): void {
    const { controller, isWritten } = this.#options;
    this.#submissions.submit([factOf(machine, controller, isWritten)]);
  }

  /** Machines of an earlier process have as long to come back as a sweep takes. */
  #recover(): void {
    const { clock, graceMs } = this.#options;
    for (const record of this.#state?.records.values() ?? []) {
      if (record.kind !== 'WorkloadEntry' || record.source !== this.source || record.raw === undefined) continue;
      const machine = recoveredMachine(record.raw, clock.now());
      if (machine === undefined || this.#machines.has(keyOf(machine))) continue;
      this.#machines.set(keyOf(machine), machine);
      machine.timer = clock.after(SWEEP_GRACES * graceMs, () => this.#expire(machine));
    }
  }

  /** Entries that a process left behind which is gone, or whose machine is. */
  #sweepAfter(ms: number): void {
    this.#sweeping = this.#options.clock.after(ms, () => {
      this.#sweep();
      this.#sweepAfter(ms);
    });
  }

  #sweep(): void {
    let swept = 0;
    for (const found of this.#state?.objects.WorkloadEntry.values() ?? []) {
      const entry = found as Obj<'WorkloadEntry'>;
      const { namespace, name, annotations } = entry;
      if (this.#machines.has(configKey(namespace, name)) || !this.#isStale(entry)) continue;
      if (++swept > SWEPT_MAX) return;
      const group = annotations[REGISTRATION_GROUP] ?? '';
      const machine = newMachine({ namespace, name, group }, 0, 'expired');
      machine.judged = Object.fromEntries(
        [WORKLOAD_CONTROLLER, CONNECTED_AT, DISCONNECTED_AT].map(key => [key, annotations[key] ?? null]),
      );
      this.#machines.set(keyOf(machine), machine);
      this.#options.observe?.('deletes');
      this.#say(machine);
    }
  }

  #isStale(entry: Obj<'WorkloadEntry'>): boolean {
    const { clock, graceMs, connectionAgeMsMax } = this.#options;
    const { annotations } = entry;
    const isRegistered = (annotations[REGISTRATION_GROUP] ?? '') !== '';
    if (!isRegistered && (!hasHealth(entry) || (annotations[WORKLOAD_CONTROLLER] ?? '') === '')) return false;
    const [connectedAt = '', disconnectedAt = ''] = [annotations[CONNECTED_AT], annotations[DISCONNECTED_AT]];
    if (connectedAt !== '') {
      const time = parseTimestamp(connectedAt);
      if (time === undefined || connectionAgeMsMax === undefined) return false;
      return clock.now() - time > STALE_AGES * connectionAgeMsMax;
    }
    if (disconnectedAt === '') return false;
    const time = parseTimestamp(disconnectedAt);
    return time === undefined || clock.now() - time >= graceMs;
  }
}

function keyOf({ entry: { namespace, name } }: Machine): string {
  return configKey(namespace, name);
}

function hasHealth({ spec }: Obj<'WorkloadEntry'>): boolean {
  return (spec.status?.conditions ?? []).some(({ type }) => type === 'Healthy');
}
