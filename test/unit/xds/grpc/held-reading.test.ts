// Connections that are read from in turns, on a clock that stands still until it is moved.

import { describe, expect, it } from 'vitest';
import { READ_IN_TURN_MAX, READ_PAUSE_MS, ReadInTurns } from '../../../../src/xds/grpc/held-reading.ts';
import { FakeClock, settle } from '../../../sim/fake-clock.ts';

/** Notes whether it is read from. */
class Connection {
  isRead = true;
  isOver = false;
  turns = 0;
  readonly _handle = {
    readStop: () => {
      this.isRead = false;
    },
    readStart: () => {
      this.isRead = true;
      this.turns++;
    },
  };
}

function held(count: number) {
  const clock = new FakeClock();
  const turns = new ReadInTurns(clock);
  const connections = Array.from({ length: count }, () => new Connection());
  for (const one of connections) turns.add(one as never, () => one.isOver);
  const isRead = (): readonly number[] => connections.flatMap((one, i) => (one.isRead ? [i] : []));
  const next = async (): Promise<readonly number[]> => {
    clock.next(clock.now() + READ_PAUSE_MS);
    const found = isRead();
    await settle(2);
    return found;
  };
  return { clock, connections, isRead, next };
}

const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('connections that are held', () => {
  it('are read from a few at once, for one turn of the event loop, in order', async () => {
    const { isRead, next } = held(READ_IN_TURN_MAX + 3);
    expect(isRead()).toEqual([]);
    expect(await next()).toEqual(numbers(0, READ_IN_TURN_MAX));
    expect(isRead()).toEqual([]);
    expect(await next()).toEqual([
      ...numbers(0, READ_IN_TURN_MAX - 3),
      ...numbers(READ_IN_TURN_MAX, READ_IN_TURN_MAX + 3),
    ]);
    expect(isRead()).toEqual([]);
  });

  it('are let go when they are over, before a turn or in it', async () => {
    const { clock, connections, isRead, next } = held(2);
    const [first, second] = connections as [Connection, Connection];
    first.isOver = true;
    expect(await next()).toEqual([1]);
    clock.next(clock.now() + READ_PAUSE_MS);
    second.isOver = true;
    await settle(2);
    expect(isRead()).toEqual([1]);
    expect(first.turns).toBe(0);
    expect(clock.waiting).toBe(0);
  });

  it('are none where Node has no handle to hold them by', () => {
    const clock = new FakeClock();
    new ReadInTurns(clock).add({} as never, () => false);
    expect(clock.waiting).toBe(0);
  });
});
