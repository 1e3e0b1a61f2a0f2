// A term whose time runs out for a moment: facts were refused meanwhile, so sources list anew in a term of its own.

import { expect, it } from 'vitest';
import { Leadership, MARGIN_MS, RENEW_MS } from '../../../src/replicas/leadership.ts';
import type { Mirror } from '../../../src/replicas/mirror.ts';
import type { Proposals } from '../../../src/replicas/proposals.ts';
import { LEASE_TTL_MS } from '../../../src/replicas/world-log.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

it.each([
  ['goes on when the lease is renewed in its time', LEASE_TTL_MS - MARGIN_MS - RENEW_MS - 1, ['term 1 begins']],
  [
    'is over when its time ran out although the lease is held again',
    LEASE_TTL_MS - MARGIN_MS - RENEW_MS,
    ['term 1 begins', 'a term is over', 'term 2 begins'],
  ],
] as const)('a term %s', async (_what, tookMs, expected) => {
  const clock = new FakeClock();
  const did: string[] = [];
  const position = { position: 0, term: 0 };
  const mirror = { lost: undefined, position, listen: () => undefined, check: async () => 'same' };
  const begin = async (term: number): Promise<boolean> => {
    position.term = term;
    return true;
  };
  let asked = 0;
  const leadership = new Leadership({
    id: 'a',
    lease: {
      // The second answer is late.
      hold: () => {
        asked += 1;
        if (asked !== 2) return Promise.resolve('held');
        return new Promise(resolve => clock.after(tookMs, () => resolve('held')));
      },
      release: async () => undefined,
    },
    mirror: mirror as unknown as Mirror,
    proposals: () => ({ begin, giveUp: () => undefined }) as unknown as Proposals,
    lastInLog: async () => 0,
    furthestPeer: () => 0,
    clock,
    onLead: term => void did.push(`term ${term} begins`),
    onFollow: () => void did.push('a term is over'),
    say: () => undefined,
  });
  leadership.start();
  await settle();
  expect(leadership.term).toBe(1);
  clock.next(clock.now() + RENEW_MS);
  await settle();
  clock.next(clock.now() + tookMs);
  await settle();
  expect(did).toEqual(expected);
  await leadership.stop();
});
