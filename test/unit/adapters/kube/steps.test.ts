import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../../src/adapters/kube/backoff.ts';
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, PAGE_OBJECTS_MAX } from '../../../../src/adapters/kube/limits.ts';
import { Lines } from '../../../../src/adapters/kube/lines.ts';
import { type Bucket, fullBucket, takeToken } from '../../../../src/adapters/kube/rate-limit.ts';
import {
  type Effect,
  type Input,
  isNewer,
  newReflector,
  type Reflector,
  step,
} from '../../../../src/adapters/kube/reflector.ts';
import { parameters } from '../../../property/seed.ts';

const moment = { now: 0, random: 0 };

function steps(...inputs: readonly Input[]): readonly [Reflector, readonly Effect[]] {
  let now: readonly [Reflector, readonly Effect[]] = [newReflector, []];
  for (const input of inputs) now = step(now[0], input, moment);
  return now;
}

const failed = (status: number, more: object = {}): Input => ({
  kind: 'failed',
  failure: { status, message: 'no', ...more },
});
const page = (resourceVersion: string, token = ''): Input => ({
  kind: 'page',
  objects: [],
  resourceVersion,
  continue: token,
});

describe('the reflector', () => {
  it('requests a smaller page if one is too large', () => {
    const [, effects] = steps({ kind: 'start' }, failed(0, { tooLarge: true }));
    expect(effects.at(-1)).toEqual({ kind: 'list', limit: PAGE_OBJECTS_MAX / 4, continue: '' });
  });

  it('lists in one piece after its pages became too old twice', () => {
    const again: readonly Input[] = [page('5', 'more'), failed(410), { kind: 'waited' }];
    const [, effects] = steps({ kind: 'start' }, ...again, ...again);
    expect(effects.at(-1)).toEqual({ kind: 'list', limit: 0, continue: '' });
  });

  it('delays lists when every watch is too old', () => {
    const [, first] = steps({ kind: 'start' }, page('5'), failed(410));
    expect(first.at(-1)?.kind).toBe('list');
    const [, second] = steps({ kind: 'start' }, page('5'), failed(410), page('6'), failed(410));
    expect(second.at(-1)?.kind).toBe('wait');
  });

  it('waits at least as long as the server demands', () => {
    const [, effects] = steps({ kind: 'start' }, failed(429, { retryAfterMs: 20_000 }));
    expect(effects.at(-1)).toEqual({ kind: 'wait', ms: 20_000 });
  });

  it('delays watches that end as they begin', () => {
    const [, effects] = steps({ kind: 'start' }, page('5'), { kind: 'opened' }, { kind: 'ended' });
    expect(effects.at(-1)?.kind).toBe('wait');
  });

  it('ends every step with the effect that gives the next input, and never deletes for a failure', () => {
    const status = fc.constantFrom(0, 400, 401, 403, 404, 410, 429, 500, 503);
    const input: fc.Arbitrary<Input> = fc.oneof(
      status.map(one => failed(one)),
      fc.constantFrom<Input>({ kind: 'opened' }, { kind: 'ended' }, { kind: 'silent' }, { kind: 'waited' }),
      fc.tuple(fc.nat(50), fc.constantFrom('', 'more')).map(([version, token]) => page(String(version), token)),
    );
    const last = new Set(['list', 'watch', 'read', 'wait']);
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40, size: 'max' }), inputs => {
        let reflector: Reflector = newReflector;
        for (const one of inputs) {
          const [next, effects] = step(reflector, one, moment);
          reflector = next;
          expect(last.has(effects.at(-1)?.kind ?? '')).toBe(true);
          expect(effects.slice(0, -1).some(({ kind }) => last.has(kind))).toBe(false);
          if (one.kind === 'failed')
            expect(effects.some(({ kind }) => kind === 'replace' || kind === 'change')).toBe(false);
        }
      }),
      parameters(100),
    );
  });
});

describe('resource versions', () => {
  it('are compared as numbers, and as different text otherwise', () => {
    expect([isNewer('10', '9'), isNewer('9', '10'), isNewer('9', '9'), isNewer('', '9')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([isNewer('abc', '9'), isNewer('9', 'abc')]).toEqual([true, true]);
  });
});

describe('waiting between requests', () => {
  it('doubles up to a limit, with half of it random', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (n, random) => {
        const ms = backoffMs(n, random);
        expect(ms).toBeGreaterThanOrEqual(BACKOFF_MS_MIN / 2);
        expect(ms).toBeLessThanOrEqual(BACKOFF_MS_MAX);
      }),
      parameters(100),
    );
  });

  it('allows at most burst + qps × time requests in any time', () => {
    const limit = { qps: 10, burst: 5 };
    fc.assert(
      fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 100, size: 'max' }), pauses => {
        let now = 0;
        let bucket: Bucket = fullBucket(limit, now);
        const sent: number[] = [];
        for (const pause of pauses) {
          now += pause;
          const [next, ms] = takeToken(limit, bucket, now);
          bucket = next;
          sent.push(now + ms);
        }
        sent.forEach((from, i) => {
          const within = sent.filter((at, k) => k >= i && at <= from + 1_000).length;
          expect(within).toBeLessThanOrEqual(limit.burst + limit.qps + 1);
        });
      }),
      parameters(100),
    );
  });
});

describe('lines of a response', () => {
  it('are independent of how the bytes are divided', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(20)), (texts, cuts) => {
        const wanted = texts.map(text => text.replaceAll('\n', ' ').trim()).filter(text => text !== '');
        const bytes = Buffer.from(wanted.map(text => `${text}\n`).join(''));
        const lines = new Lines(1_000_000);
        const got: string[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          got.push(...(lines.push(bytes.subarray(at, at + cut)) ?? []));
          at += cut;
        }
        expect(got).toEqual(wanted);
      }),
      parameters(100),
    );
  });

  it('are refused past a length limit', () => {
    const lines = new Lines(10);
    expect(lines.push(Buffer.from('12345'))).toEqual([]);
    expect(lines.push(Buffer.from('678901'))).toBeUndefined();
  });
});
