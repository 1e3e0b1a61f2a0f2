// periplus incident on the recorded samples, and a bisect without --from: it begins where the proxy connects.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('subset-outage', 'bookinfo-day');
});
afterAll(() => samples.remove());

describe('incident', () => {
  test('names the event that broke it first, for which proxies, and that it was mended', async () => {
    const { code, out } = await periplus('incident', '-j', samples.path('subset-outage'));
    expect(code).toBe(1);
    expect(out).toContain('first: event 112, 2026-03-11T10:12:00.117Z: Update DestinationRule shop/reviews, by helm');
    expect(out).toMatch(
      /cluster that is not there: outbound\|9080\|v3\|reviews\.shop\.svc\.cluster\.local {2}\(productpage-v1\.shop, .*mended since/,
    );
  });

  test('reaches no further back than the journal, and says so when nothing broke', async () => {
    const { code, out } = await periplus(
      'incident',
      '-j',
      samples.path('subset-outage'),
      '--since',
      '400d',
      '--to',
      '60',
    );
    expect([code, out]).toEqual([0, expect.stringMatching(/^events 0 to 60, .*\nnothing broke\n$/)]);
  });

  test('lists refusals of proxies', async () => {
    const { out } = await periplus('incident', '-j', samples.path('bookinfo-day'), '-o', 'json');
    const kinds = (
      JSON.parse(out) as { readonly breaks: readonly { readonly symptoms: readonly { readonly kind: string }[] }[] }
    ).breaks.flatMap(({ symptoms }) => symptoms.map(({ kind }) => kind));
    expect(kinds).toContain('nack');
  });

  test.each([
    [['--since', 'soon'], 2, '--since soon: expected a time'],
    [['--since', '5m', '--from', '1'], 2, 'give --since or --from'],
    [['-p', 'productpag'], 1, 'nearest: productpage-v1.shop'],
  ])('refuses %j', async (args, exit, words) => {
    const { code, err } = await periplus('incident', '-j', samples.path('subset-outage'), ...args);
    expect([code, err]).toEqual([exit, expect.stringContaining(words)]);
  });
});

describe('bisect without --from', () => {
  test('begins at the first position after the connect where all is well', async () => {
    const { code, out } = await periplus(
      'bisect',
      '-j',
      samples.path('subset-outage'),
      '-p',
      'productpage',
      '--cluster-missing',
    );
    expect([code, out]).toEqual([0, expect.stringContaining('since event 112')]);
  });

  test.each([
    [['--route-lost', 'reviewz'], 'it was never well; nearest: reviews.shop.svc.cluster.local:9080'],
    [['--cluster-missing', 'zzz'], 'the proxy has nothing called zzz'],
  ])('names the nearest names for %j', async (args, words) => {
    const { code, err } = await periplus('bisect', '-j', samples.path('subset-outage'), '-p', 'productpage', ...args);
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
  });

  test('tells a test command of positions where the proxy is connected only', async () => {
    const test = ['sh', '-c', '! grep -q "|v3|" $PERIPLUS_DUMP'];
    const { code, err } = await periplus(
      'bisect',
      '-j',
      samples.path('subset-outage'),
      '-p',
      'productpage',
      '--',
      ...test,
    );
    expect([code, err]).not.toEqual([1, expect.stringContaining('is connected at position')]);
  });
});
