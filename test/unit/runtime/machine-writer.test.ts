// When a replica writes the WorkloadEntries of its machines itself: while it follows, and has some.

import { describe, expect, it } from 'vitest';
import type { State } from '../../../src/core/state.ts';
import { emptyState } from '../../../src/core/state.ts';
import { type MachineConnection, MachineWriter } from '../../../src/runtime/machine-writer.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

interface Scene {
  readonly writer: MachineWriter;
  readonly did: string[];
  /** Resolves the connection that is waited for. */
  connects(): void;
  readonly clock: FakeClock;
}

/** `refusals`: connections that are refused first. */
function scene(isSlow = false, refusals = 0): Scene {
  const clock = new FakeClock();
  const did: string[] = [];
  let connects: () => void = () => undefined;
  let count = 0;
  const connect = async (): Promise<MachineConnection> => {
    const name = String(++count);
    did.push(`${name} connects`);
    if (count <= refusals) throw new Error('the token file is not there');
    if (isSlow) {
      await new Promise<void>(resolve => {
        connects = resolve;
      });
    }
    const part = (what: string) => ({
      start: async () => void did.push(`${name} ${what} starts`),
      stop: async () => void did.push(`${name} ${what} stops`),
    });
    const onState = (): void => void did.push(`${name} looks`);
    const close = (): void => void did.push(`${name} closes`);
    return { watch: part('watch'), writer: { ...part('writer'), onState }, close };
  };
  const after: FakeClock['after'] = (ms, run) => clock.after(ms, run);
  const writer = new MachineWriter({ connect, after, random: () => 0, log: () => undefined });
  return { writer, did, clock, connects: () => connects() };
}

const withMachines = {
  ...emptyState,
  objects: { ...emptyState.objects, WorkloadRegistration: { size: 1 } },
} as unknown as State;
const OPENED = ['1 connects', '1 watch starts', '1 looks', '1 writer starts'];
const CLOSED = ['1 writer stops', '1 watch stops', '1 closes'];

describe('a replica that follows', () => {
  it('connects to the API server once a machine has registered, and writes after the list', async () => {
    const { writer, did } = scene();
    writer.onState(emptyState);
    await settle();
    expect(did).toEqual([]);
    writer.onState(withMachines);
    await settle();
    expect(did).toEqual(OPENED);
    writer.onState(withMachines);
    expect(did.slice(4)).toEqual(['1 looks']);
  });

  it('stops when it begins to lead, and begins anew when it does not lead any more', async () => {
    const { writer, did } = scene();
    writer.onState(withMachines);
    await settle();
    writer.turn(true);
    writer.onState(withMachines);
    await settle();
    expect(did.slice(4)).toEqual(CLOSED);
    writer.turn(false);
    await settle();
    expect(did.slice(7, 9)).toEqual(['2 connects', '2 watch starts']);
  });

  it('writes nothing by a connection that comes after it began to lead, or after the stop', async () => {
    const { writer, did, connects } = scene(true);
    writer.onState(withMachines);
    await settle();
    writer.turn(true);
    connects();
    await settle();
    expect(did).toEqual(['1 connects', '1 watch stops', '1 closes']);
    await writer.stop();
    writer.turn(false);
    await settle();
    expect(did).toHaveLength(3);
  });

  it('connects again, with a pause that grows, after the API server could not be connected to', async () => {
    const { writer, did, clock } = scene(false, 2);
    writer.onState(withMachines);
    await settle();
    writer.onState(withMachines);
    expect(did).toEqual(['1 connects']);
    clock.next(clock.now() + 1_000);
    await settle();
    expect(did).toEqual(['1 connects', '2 connects']);
    expect(clock.next(clock.now() + 1_999)).toBe(false);
    clock.next(clock.now() + 1);
    await settle();
    expect(did.slice(2)).toEqual(OPENED.map(line => line.replace('1', '3')));
  });

  it('connects no more once it leads or has stopped', async () => {
    const { writer, did, clock } = scene(false, 1);
    writer.onState(withMachines);
    await settle();
    await writer.stop();
    expect(clock.waiting).toBe(0);
    expect(did).toEqual(['1 connects']);
  });
});
