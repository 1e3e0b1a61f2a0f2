// What `/live` knows: work that goes on is never stuck, however long it takes; a commit that never ends is.

import { describe, expect, it } from 'vitest';
import { emptyState } from '../../../src/core/state.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { Progress, STUCK_MS } from '../../../src/runtime/progress.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };

/** A world whose commits end when the test says so. */
function worldOf() {
  const clock = new FakeClock();
  let answer: ((error: Error) => void) | undefined;
  const append = (): Promise<never> => new Promise((_, reject) => (answer = reject));
  const journal = { append, asStored: () => [], path: 'j.db' } as unknown as Journal;
  const world = new World({ journal, state: emptyState, clock, strict: true, log: () => undefined });
  return { world, clock, answer: (error: Error) => answer?.(error) };
}

describe('progress', () => {
  it('of a world whose commit never ends is stuck after a minute', async () => {
    const { world, clock } = worldOf();
    void world.record([{ source: 'file/Kubernetes', kind: 'Add', object: namespace }]).catch(() => undefined);
    await settle();
    clock.next(clock.now() + STUCK_MS - 1);
    expect(world.stuckMs).toBe(0);
    clock.next(clock.now() + 1);
    expect(world.stuckMs).toBe(STUCK_MS);
  });

  it('of a world that has nothing to do is never stuck', async () => {
    const { world, clock } = worldOf();
    clock.next(clock.now() + 10 * STUCK_MS);
    expect(world.stuckMs).toBe(0);
  });

  it('with a step now and then is never stuck, and is over when the work is', async () => {
    const clock = new FakeClock();
    const progress = new Progress(clock);
    let end = (): void => undefined;
    const work = progress.of(() => new Promise<void>(resolve => (end = resolve)));
    for (let i = 0; i < 5; i++) {
      clock.next(clock.now() + STUCK_MS - 1);
      expect(progress.stuckMs).toBe(0);
      progress.step();
    }
    end();
    await work;
    clock.next(clock.now() + 10 * STUCK_MS);
    expect(progress.stuckMs).toBe(0);
  });
});
