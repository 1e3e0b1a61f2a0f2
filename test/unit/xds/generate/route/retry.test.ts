import { describe, expect, it, vi } from 'vitest';
import { retryPolicy } from '../../../../../src/xds/generate/route/retry.ts';

const DEFAULT = 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';

describe('retries of a route', () => {
  it('are two by default, on connection failures, on hosts not yet tried', () => {
    const policy = retryPolicy(undefined, false);
    expect(policy?.retryOn).toBe(DEFAULT);
    expect(policy?.numRetries).toEqual({ value: 2 });
    expect(policy?.retryHostPredicate?.map(predicate => predicate.name)).toEqual([
      'envoy.retry_host_predicates.previous_hosts',
    ]);
    expect(retryPolicy(undefined, true)?.retryHostPredicate).toBeUndefined();
  });

  it.each([0, -1, undefined])('are none with %s attempts', attempts => {
    expect(retryPolicy({ attempts, retryOn: '5xx' } as never, false)).toBeUndefined();
  });

  it.each([
    ['', DEFAULT, undefined],
    ['5xx, reset', '5xx,reset', undefined],
    ['503,5xx', '5xx,retriable-status-codes', [503]],
    ['503,retriable-status-codes', 'retriable-status-codes', [503]],
    ['503,504', ',retriable-status-codes', [503, 504]],
    ['599,,x', '599,x', undefined],
  ])('for %j are %j', (retryOn, text, retriableStatusCodes) => {
    const policy = retryPolicy({ attempts: 3, retryOn }, false);
    expect(policy?.retryOn).toBe(text);
    expect(policy?.retriableStatusCodes).toEqual(retriableStatusCodes);
  });

  it('for thousands of codes are found without matching the text of each', () => {
    const codes = Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? 503 : 504));
    const matching = vi.spyOn(RegExp.prototype, 'test');
    const policy = retryPolicy({ attempts: 3, retryOn: `5xx,${codes.join(',')}` }, false);
    const matched = matching.mock.calls.length;
    matching.mockRestore();
    expect(policy?.retriableStatusCodes).toEqual(codes);
    expect(matched).toBe(0);
  });

  it('copy timeouts, locality and host settings', () => {
    const seconds = (n: number): { readonly seconds: number; readonly nanos: number } => ({ seconds: n, nanos: 0 });
    const policy = retryPolicy(
      {
        attempts: 1,
        perTryTimeout: seconds(2),
        backoff: seconds(1),
        retryRemoteLocalities: true,
        retryIgnorePreviousHosts: false,
      },
      false,
    );
    expect(policy?.perTryTimeout).toEqual(seconds(2));
    expect(policy?.retryBackOff).toEqual({ baseInterval: seconds(1) });
    expect(policy?.retryPriority?.typedConfig).toMatchObject({ updateFrequency: 2 });
    expect(policy?.retryHostPredicate).toBeUndefined();
    expect(retryPolicy({ attempts: 1, retryIgnorePreviousHosts: true }, true)?.retryHostPredicate).toHaveLength(1);
  });
});
