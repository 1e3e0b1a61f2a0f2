// The state does not depend on whether anybody wants the effects: a restart folds without asking the handlers.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fold } from '../../src/core/fold/fold-event.ts';
import { emptyState } from '../../src/core/state.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { anyHistory } from '../../src/testing/facts.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

it('folding without effects gives the same state', () => {
  fc.assert(
    fc.property(anyHistory(60), events => {
      const silent = events.reduce((state, event) => fold(state, event, new Set(), false).state, emptyState);
      const { state } = foldAll(events);
      expect(stateHash(silent)).toBe(stateHash(state));
      expect([...silent.records.keys()]).toEqual([...state.records.keys()]);
      for (const event of events) {
        const quiet = fold(state, { ...event, seq: state.seq + 1 }, new Set(), false).effects;
        if (event.kind === 'Add' || event.kind === 'Delete')
          expect(quiet.some(({ kind }) => kind === 'Push')).toBe(false);
      }
    }),
    parameters(50),
  );
});
