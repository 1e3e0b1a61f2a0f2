// Law 5: PushRequest is a monoid; merging never loses a key, a reason or `full`, whatever the order, and stays bounded.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import {
  CAUSE_BLOCKS_MAX,
  type Causes,
  mergeAllPushRequests,
  mergePushRequests,
  noPush,
  type PushRequest,
  pushRequest,
  type Reason,
} from '../../src/core/push-request.ts';
import { anyFact, anyHistory, numbered } from '../../src/testing/facts.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

const reasons: readonly Reason[] = ['endpoint', 'config', 'service', 'global', 'secret', 'proxy'];

interface Single {
  readonly seq: number;
  readonly reason: Reason;
  readonly keys: readonly string[];
  readonly full: boolean;
  readonly forced: boolean;
}

const single: fc.Arbitrary<Single> = fc.record({
  seq: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 10_000_000 })),
  reason: fc.constantFrom(...reasons),
  keys: fc.array(fc.constantFrom('VirtualService/ns/a', 'ServiceEntry/ns/b', 'Secret/ns/c', 'Sidecar/ns/d'), {
    maxLength: 3,
  }),
  full: fc.boolean(),
  forced: fc.boolean(),
});
const singles = fc.array(single, { maxLength: 80, size: 'max' });

function one({ seq, reason, keys, full, forced }: Single): PushRequest {
  return pushRequest(seq, reason, keys, { full, forced });
}

function merged(all: readonly Single[], merge = mergePushRequests): PushRequest {
  return all.map(one).reduce(merge, noPush);
}

function loses(all: readonly Single[], merge: typeof mergePushRequests): string | undefined {
  const whole = merged(all, merge);
  if (whole.full !== all.some(({ full }) => full)) return 'full';
  if (whole.forced !== all.some(({ forced }) => forced)) return 'forced';
  if ([...whole.configsUpdated].join() !== [...new Set(all.flatMap(({ keys }) => keys))].sort().join()) return 'keys';
  for (const reason of reasons) {
    if ((whole.reasons[reason] ?? 0) !== all.filter(other => other.reason === reason).length) return `reason ${reason}`;
  }
  if (whole.causes.count !== all.length) return 'the count of causes';
  const ranges = causeRanges(whole.causes);
  const uncovered = all.find(({ seq }) => !ranges.some(({ first, last }) => first <= seq && seq <= last));
  return uncovered === undefined ? undefined : `cause ${uncovered.seq}`;
}

/** The seq ranges that hold every cause, ascending, both ends included; neighbouring blocks are joined. */
function causeRanges(causes: Causes): readonly { readonly first: number; readonly last: number }[] {
  const ranges: { first: number; last: number }[] = [];
  for (const block of causes.blocks) {
    const first = Math.max(causes.first, block * causes.blockSize);
    const last = Math.min(causes.last, (block + 1) * causes.blockSize - 1);
    const previous = ranges.at(-1);
    if (previous !== undefined && previous.last + 1 >= first) previous.last = last;
    else ranges.push({ first, last });
  }
  return ranges;
}

function requestsOf(events: readonly Event[]): readonly PushRequest[] {
  return foldAll(events).effects.flatMap(effect => (effect.kind === 'Push' ? [effect.request] : []));
}

/** Merged batch by batch, then the batches, as the world and the schedule do. */
function inBatches(requests: readonly PushRequest[], sizes: readonly number[]): PushRequest {
  const batches: PushRequest[] = [];
  for (let at = 0, i = 0; at < requests.length; i++) {
    const size = 1 + (sizes[i % sizes.length] ?? 0);
    batches.push(requests.slice(at, at + size).reduce(mergePushRequests, noPush));
    at += size;
  }
  return batches.reduce(mergePushRequests, noPush);
}

/** What the merged request lacks of its parts. */
function losesAny(requests: readonly PushRequest[], merge: typeof mergePushRequests): string | undefined {
  const whole = requests.reduce(merge, noPush);
  const ranges = causeRanges(whole.causes);
  for (const { full, forced, configsUpdated, reasons: given, causes } of requests) {
    if ((full && !whole.full) || (forced && !whole.forced)) return 'how far it goes';
    if (configsUpdated.some(key => !whole.configsUpdated.includes(key))) return 'a key';
    if (Object.keys(given).some(reason => whole.reasons[reason as Reason] === undefined)) return 'a reason';
    if (!ranges.some(({ first, last }) => first <= causes.first && causes.last <= last)) return 'a cause';
  }
  return undefined;
}

describe('law 5: PushRequest is a monoid', () => {
  test('has an identity', () => {
    fc.assert(
      fc.property(singles, all => {
        const request = merged(all);
        expect(mergePushRequests(request, noPush)).toEqual(request);
        expect(mergePushRequests(noPush, request)).toEqual(request);
      }),
      parameters(300),
    );
  });

  test('merges associatively', () => {
    fc.assert(
      fc.property(singles, singles, singles, (a, b, c) => {
        const [x, y, z] = [merged(a), merged(b), merged(c)];
        expect(mergePushRequests(mergePushRequests(x, y), z)).toEqual(mergePushRequests(x, mergePushRequests(y, z)));
      }),
      parameters(500),
    );
  });

  test('merges many at once as one after the other', () => {
    fc.assert(
      fc.property(singles, all => {
        expect(mergeAllPushRequests([noPush, ...all.map(one), noPush])).toEqual(merged(all));
      }),
      parameters(300),
    );
  });

  test('loses nothing and stays bounded when merged', () => {
    fc.assert(
      fc.property(singles, all => {
        expect(loses(all, mergePushRequests)).toBeUndefined();
        const { causes } = merged(all);
        expect(causes.blocks.length).toBeLessThanOrEqual(CAUSE_BLOCKS_MAX);
        // Nothing is added either, but to fill blocks.
        const covered = causeRanges(causes).reduce((sum, { first, last }) => sum + last - first + 1, 0);
        expect(covered).toBeLessThanOrEqual(causes.blocks.length * causes.blockSize);
        if (causes.blockSize === 1) expect(covered).toBe(new Set(all.map(({ seq }) => seq)).size);
      }),
      parameters(500),
    );
  });

  test('holds for the requests of the fold, for any change and any batches', () => {
    fc.assert(
      fc.property(
        anyHistory(60),
        fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 20, size: 'max' }),
        (events, sizes) => {
          const requests = requestsOf(events);
          expect(inBatches(requests, sizes)).toEqual(requests.reduce(mergePushRequests, noPush));
          expect(losesAny(requests, mergePushRequests)).toBeUndefined();
        },
      ),
      parameters(150),
    );
  });

  test('census: the histories request keys of many kinds, and nearly every reason', () => {
    const requests = requestsOf(numbered(fc.sample(anyFact, { numRuns: 3_000, seed: 1 })));
    const kinds = new Set(requests.flatMap(({ configsUpdated }) => configsUpdated.map(key => key.split('/')[0])));
    expect(kinds.size).toBeGreaterThan(12);
    const given = new Set(requests.flatMap(({ reasons: found }) => Object.keys(found)));
    const usual = ['config', 'endpoint', 'global', 'headlessendpoint', 'networks', 'proxy', 'secret', 'service', 'tag'];
    expect([...given]).toEqual(expect.arrayContaining(usual));
    const forgetful = (a: PushRequest, b: PushRequest): PushRequest => ({
      ...mergePushRequests(a, b),
      reasons: b.reasons,
    });
    expect(losesAny(requests, forgetful)).toBe('a reason');
  });

  test('canary: a merge that keeps only the newer keys, or forgets the older full push, is detected', () => {
    const forgetsKeys = (a: PushRequest, b: PushRequest): PushRequest => ({
      ...mergePushRequests(a, b),
      configsUpdated: b.configsUpdated,
    });
    const forgetsFull = (a: PushRequest, b: PushRequest): PushRequest => ({ ...mergePushRequests(a, b), full: b.full });
    const two: readonly Single[] = [
      { seq: 1, reason: 'config', keys: ['VirtualService/ns/a'], full: true, forced: false },
      { seq: 2, reason: 'endpoint', keys: ['ServiceEntry/ns/b'], full: false, forced: false },
    ];
    expect(loses(two, mergePushRequests)).toBeUndefined();
    expect(loses(two, forgetsKeys)).toBe('keys');
    expect(loses(two, forgetsFull)).toBe('full');
  });

  test('canary: joining the nearest ranges, instead of aligned blocks, is not associative', () => {
    type Ranges = readonly (readonly [number, number])[];
    const join = (a: Ranges, b: Ranges): Ranges => {
      const ranges = [...a, ...b].sort(([x], [y]) => x - y).map(range => [...range] as [number, number]);
      while (ranges.length > 2) {
        const gaps = ranges.slice(1).map(([first], i) => first - ranges[i]![1]);
        const at = gaps.indexOf(Math.min(...gaps));
        ranges.splice(at, 2, [ranges[at]![0], Math.max(ranges[at]![1], ranges[at + 1]![1])]);
      }
      return ranges;
    };
    const seq = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 });
    const of = (seqs: readonly number[]): Ranges => seqs.map((n): Ranges => [[n, n]]).reduce(join);
    const found = fc.check(
      fc.property(seq, seq, seq, (a, b, c) => {
        const [x, y, z] = [of(a), of(b), of(c)];
        expect(join(join(x, y), z)).toEqual(join(x, join(y, z)));
      }),
      parameters(1_000),
    );
    expect(found.failed).toBe(true);
  });
});
