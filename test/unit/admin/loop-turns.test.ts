import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LoopTurns } from '../../../src/admin/loop-turns.ts';

/** Milliseconds of the stall, and of the time in which the loop has nothing to do. */
const STALL_MS = 80;
const IDLE_MS = 200;

describe('turns of the event loop', () => {
  it('are as long as what one of them does, whatever the loop waits for before and after', async () => {
    const turns = new LoopTurns();
    await wait(IDLE_MS);
    turns.takeLongest();
    await wait(1);
    spin(STALL_MS);
    await wait(IDLE_MS);
    const longest = turns.takeLongest() * 1_000;
    expect(longest).toBeGreaterThanOrEqual(STALL_MS);
    expect(turns.takeLongest()).toBe(0);
  });

  it('are not caused by their measurement: an idle loop has hardly any', async () => {
    const turns = new LoopTurns();
    let count = 0;
    const counted = (): void => {
      count += 1;
      if (count < 1_000) setImmediate(counted).unref();
    };
    setImmediate(counted).unref();
    await wait(IDLE_MS);
    expect(turns.takeLongest()).toBeGreaterThan(0);
    expect(count).toBeLessThan(IDLE_MS / 20);
  });

  it('have a least, a mean, percentiles and a longest one, in seconds', async () => {
    const turns = new LoopTurns();
    spin(STALL_MS);
    await wait(1);
    const figures = new Map(turns.figures.map(({ name, seconds }) => [name, seconds()]));
    expect([...figures.keys()]).toEqual(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']);
    expect(figures.get('max')).toBeGreaterThanOrEqual(STALL_MS / 1_000);
    expect(figures.get('min')).toBeLessThanOrEqual(figures.get('mean')!);
    expect(figures.get('p99')).toBeLessThanOrEqual(figures.get('max')! * 1.01);
  });
});

function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
