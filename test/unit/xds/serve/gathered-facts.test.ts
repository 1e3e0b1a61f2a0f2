// While streams wait for admission, facts go to the host together, in order, and each caller gets its own result.

import { expect, test } from 'vitest';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { emptyState } from '../../../../src/core/state.ts';
import { GATHER_MS, GatheredFacts } from '../../../../src/xds/serve/gathered-facts.ts';

function rig() {
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const recorded: string[] = [];
  let busy = false;
  const gathered = new GatheredFacts(
    {
      clock: {
        now: () => 0,
        after: (ms, run) => {
          timers.push({ ms, run });
          return { cancel: () => undefined };
        },
      },
      record: async ([fact]) => {
        recorded.push(fact!.source);
        if (fact!.source === 'unfit') throw new Error('unfit');
        return { ...emptyState, seq: recorded.length };
      },
    },
    () => busy,
  );
  const say = (source: string): Promise<number> =>
    gathered.record([{ source, kind: 'Synced' } satisfies Unrecorded]).then(({ seq }) => seq);
  const during = (now: boolean): void => {
    busy = now;
  };
  return { timers, recorded, say, during };
}

test('gathered facts are recorded at once while no stream waits for admission', async () => {
  const { timers, recorded, say } = rig();
  expect(await say('a')).toBe(1);
  expect([recorded, timers]).toEqual([['a'], []]);
});

test('gathered facts share one call in their order while streams wait for admission', async () => {
  const { timers, recorded, say, during } = rig();
  during(true);
  const answers = [say('a'), say('unfit'), say('b')];
  during(false);
  answers.push(say('c'));
  expect([recorded, timers.map(({ ms }) => ms)]).toEqual([[], [GATHER_MS]]);
  timers[0]!.run();
  expect(recorded).toEqual(['a', 'unfit', 'b', 'c']);
  const [a, unfit, b, c] = await Promise.allSettled(answers);
  expect([a, b, c]).toEqual([1, 3, 4].map(value => ({ status: 'fulfilled', value })));
  expect(unfit).toMatchObject({ status: 'rejected' });
  expect(await say('d')).toBe(5);
});
