// States kept along a history, of a journal that begins at whatever seq.

import { describe, expect, it } from 'vitest';
import { emptyState } from '../../../src/core/state.ts';
import { CHECKPOINT_EVENTS, Checkpoints } from '../../../src/history/checkpoints.ts';

describe('the last state kept before a position', () => {
  it('is found at once, however far from the beginning the position is', () => {
    const kept = new Checkpoints();
    expect(kept.before(Number.MAX_SAFE_INTEGER)).toBeUndefined();
    for (const place of [2, 1, 3]) kept.consider({ ...emptyState, seq: place * CHECKPOINT_EVENTS });
    expect(kept.before(Number.MAX_SAFE_INTEGER)?.seq).toBe(3 * CHECKPOINT_EVENTS);
    expect(kept.before(3 * CHECKPOINT_EVENTS - 1)?.seq).toBe(2 * CHECKPOINT_EVENTS);
    expect(kept.before(CHECKPOINT_EVENTS - 1)).toBeUndefined();
  });
});
