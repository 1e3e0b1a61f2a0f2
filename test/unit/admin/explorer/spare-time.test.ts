// What a thread of the explorer does for later waits for questions, and is done in the end whatever is asked.

import { describe, expect, it } from 'vitest';
import {
  PATIENT_MS_MAX,
  SpareTime,
  UNQUIET_MS_MAX,
  UNQUIET_SLICES_MAX,
} from '../../../../src/admin/explorer/spare-time.ts';

const SLICE_MS = 30;
const SLICES = 100;

/** A clock that moves by what is waited for and worked; `onTick` sees every millisecond. */
class Clock {
  ms = 0;
  onTick = (): void => undefined;

  readonly now = (): number => this.ms;

  readonly pause = async (ms: number): Promise<void> => {
    this.pass(Math.max(1, ms));
  };

  pass(ms: number): void {
    for (let i = 0; i < ms; i++) {
      this.ms++;
      this.onTick();
    }
  }
}

async function worked(clock: Clock, spareTime: SpareTime): Promise<readonly number[]> {
  const starts: number[] = [];
  await spareTime.work(async () => {
    starts.push(clock.ms);
    clock.pass(SLICE_MS);
    return starts.length < SLICES;
  });
  return starts;
}

/** A question every 20 ms, answered at once. */
function askedAlways(clock: Clock, spareTime: SpareTime): void {
  clock.onTick = () => {
    if (clock.ms % 20 !== 0) return;
    spareTime.begun();
    spareTime.ended();
  };
}

describe('spare time', () => {
  it('is all of the time while nothing is asked', async () => {
    const clock = new Clock();
    const starts = await worked(clock, new SpareTime(clock));
    expect(starts).toHaveLength(SLICES);
    expect(clock.ms).toBeLessThan(SLICES * (SLICE_MS + 2) + 200);
  });

  it('begins after a group of questions', async () => {
    const clock = new Clock();
    const spareTime = new SpareTime(clock);
    clock.onTick = () => {
      if (clock.ms >= 400 || clock.ms % 50 !== 0) return;
      spareTime.begun();
      spareTime.ended();
    };
    expect((await worked(clock, spareTime))[0]).toBeGreaterThan(400);
  });

  it('is a share of the time while a program asks all the time', async () => {
    const clock = new Clock();
    const spareTime = new SpareTime(clock);
    askedAlways(clock, spareTime);
    await worked(clock, spareTime);
    expect(clock.ms).toBeLessThan(UNQUIET_MS_MAX + SLICES * (SLICE_MS * (1 + UNQUIET_SLICES_MAX) + 20));
    expect(clock.ms).toBeGreaterThan(SLICES * SLICE_MS * UNQUIET_SLICES_MAX);
  });

  it('is waited for longer by what only makes later answers quicker', async () => {
    const clock = new Clock();
    const spareTime = new SpareTime(clock);
    askedAlways(clock, spareTime);
    let slices = 0;
    await spareTime.work(async () => ++slices < 3, PATIENT_MS_MAX);
    expect(clock.ms).toBeGreaterThanOrEqual(3 * PATIENT_MS_MAX);
  });

  it('lets a question that is being answered end first', async () => {
    const clock = new Clock();
    const spareTime = new SpareTime(clock);
    spareTime.begun();
    clock.onTick = () => {
      if (clock.ms === 70) spareTime.ended();
    };
    await spareTime.answered();
    expect(clock.ms).toBeGreaterThanOrEqual(70);
    expect(clock.ms).toBeLessThan(100);
  });

  it('waits for a question that another thread answers, but not for ever', async () => {
    const clock = new Clock();
    let isElsewhere = true;
    const spareTime = new SpareTime(clock, () => isElsewhere);
    clock.onTick = () => {
      if (clock.ms === 300) isElsewhere = false;
    };
    expect((await worked(clock, spareTime))[0]).toBeGreaterThanOrEqual(390);
    isElsewhere = true;
    const start = clock.ms;
    await worked(clock, spareTime);
    expect(clock.ms - start).toBeLessThan(UNQUIET_MS_MAX + SLICES * (SLICE_MS * (1 + UNQUIET_SLICES_MAX) + 20));
  });

  it('begins soon if nothing is asked at all, and at the first question otherwise', async () => {
    const clock = new Clock();
    await new SpareTime(clock).asked();
    expect(clock.ms).toBeGreaterThanOrEqual(UNQUIET_MS_MAX);
    const spareTime = new SpareTime(clock);
    const start = clock.ms;
    clock.onTick = () => {
      if (clock.ms === start + 40) spareTime.begun();
    };
    await spareTime.asked();
    expect(clock.ms - start).toBeLessThan(60);
  });

  it('ends with a journal that cannot be read', async () => {
    const clock = new Clock();
    await expect(new SpareTime(clock).work(() => Promise.reject(new Error('damaged')))).resolves.toBeUndefined();
  });
});
