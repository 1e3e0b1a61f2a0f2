// Who is let in when: a lone proxy at once, a stampede in groups, and never more a second than allowed.

import { expect, test } from 'vitest';
import { GATE_TURN_MS, Gate } from '../../../src/xds/write-window.ts';

const PER_SECOND = 25;

test('one that comes alone is let in at once, however often', () => {
  const gate = new Gate(PER_SECOND, 60_000);
  for (let now = 0; now < 60_000; now += 1_000) expect(gate.enter(now)).toBe(0);
});

test('of a stampede a turn is let in at once, the others in groups at the rate that is allowed', () => {
  const gate = new Gate(PER_SECOND, 60_000);
  const start = 1_000_000;
  const waits = Array.from({ length: 400 }, () => gate.enter(start)!);
  const groups = new Map<number, number>();
  for (const wait of waits) groups.set(wait, (groups.get(wait) ?? 0) + 1);
  const aTurn = Math.ceil((GATE_TURN_MS / 1_000) * PER_SECOND);
  expect([...groups.keys()].every(wait => (start + wait) % GATE_TURN_MS === 0)).toBe(true);
  expect(Math.max(...groups.values())).toBeLessThanOrEqual(aTurn + 1);
  expect(groups.get(0)).toBe(aTurn);
  // The last one comes when its time has come, at most a turn later.
  const due = ((400 - aTurn) / PER_SECOND) * 1_000;
  expect(Math.abs(Math.max(...waits) - due)).toBeLessThanOrEqual(GATE_TURN_MS);
});

test('who would wait too long is told to come again', () => {
  const gate = new Gate(PER_SECOND, 1_000);
  const waits = Array.from({ length: 100 }, () => gate.enter(0));
  expect(waits.filter(wait => wait !== undefined).length).toBeLessThan(60);
  expect(waits.at(-1)).toBeUndefined();
  expect(gate.isBusy(0)).toBe(true);
  expect(gate.isBusy(10_000)).toBe(false);
});
