// `periplus proxy-config` on the recorded samples; what it prints is kept in golden/.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('subset-outage', 'bookinfo-day');
});
afterAll(() => samples.remove());

const golden = (name: string): string => `golden/${name}.txt`;

describe('proxy-config on a journal', () => {
  test.each(['cluster', 'listener', 'route', 'endpoint', 'all'])(
    'shows %s of productpage during the outage',
    async part => {
      const { code, out, err } = await periplus(
        'proxy-config',
        part,
        'productpage',
        '-j',
        samples.path('subset-outage'),
        '--at',
        '10:20',
      );
      expect([code, err]).toEqual([0, '']);
      await expect(out).toMatchFileSnapshot(golden(`proxy-config-${part}`));
    },
  );

  test('shows the cluster of the subset before the outage but not after', async () => {
    const at = (position: string): Promise<{ readonly out: string }> =>
      periplus(
        'pc',
        'c',
        'productpage-v1.shop',
        '-j',
        samples.path('subset-outage'),
        '--at',
        position,
        '--fqdn',
        'reviews.shop.svc.cluster.local',
        '--subset',
        'v3',
      );
    expect((await at('10:11')).out).toContain('reviews.shop');
    expect((await at('10:13')).out).not.toContain('reviews.shop.svc');
  });

  test('prints every field of the requested resources as JSON', async () => {
    const { out } = await periplus(
      'pc',
      'route',
      'productpage',
      '-j',
      samples.path('subset-outage'),
      '--name',
      '9080',
      '-o',
      'json',
    );
    const routes = JSON.parse(out) as readonly { readonly name: string; readonly virtualHosts: readonly unknown[] }[];
    expect(routes.map(({ name }) => name)).toEqual(['9080']);
    expect(routes[0]?.virtualHosts.length).toBeGreaterThan(3);
  });

  test('lists for proxy-status what was sent by then, and what was refused', async () => {
    const { code, out, err } = await periplus('proxy-status', '-j', samples.path('bookinfo-day'), '--at', '13:20');
    expect([code, err]).toEqual([0, '']);
    await expect(out).toMatchFileSnapshot(golden('proxy-status'));
    const all = JSON.parse(
      (await periplus('ps', 'ingressgateway', '-j', samples.path('bookinfo-day'), '-o', 'json')).out,
    );
    expect(all).toMatchObject([{ proxy: 'ingressgateway.istio-system', types: { LDS: { status: 'SENT' } } }]);
  });

  test('generates for the proxies connected at that time', async () => {
    const { code, out } = await periplus(
      'generate',
      '-j',
      samples.path('subset-outage'),
      '--at',
      '10:20',
      '--proxy',
      'productpage',
      '--type',
      'cds',
      '-o',
      'json',
    );
    expect(code).toBe(0);
    const { cds } = JSON.parse(out)['productpage-v1.shop'] as { readonly cds: readonly { readonly name: string }[] };
    expect(cds.map(({ name }) => name)).toContain('outbound|9080|v2|reviews.shop.svc.cluster.local');
    expect((await periplus('generate', '--at', '3', '-f', 'x')).code).toBe(2);
    const typo = await periplus('generate', '-f', 'x', '--proxies', 'y', '--type', 'cds,roots');
    expect([typo.code, typo.err]).toEqual([2, expect.stringMatching(/--type roots: expected some of cds, eds/)]);
  });

  test('an unknown proxy is answered with the names of the known ones', async () => {
    const journal = samples.path('bookinfo-day');
    const missing = await periplus('pc', 'c', 'nobody', '-j', journal);
    expect([missing.code, missing.out]).toEqual([1, '']);
    expect(missing.err).toBe(
      'periplus: no proxy nobody is connected at position 97; connected are ingressgateway.istio-system, productpage-v1.shop\n',
    );
    const early = await periplus('pc', 'c', 'productpage', '-j', journal, '--at', '7:00');
    expect(early.code).toBe(1);
    expect(early.err).toMatch(/begins at 2026-03-10T08:00:/);
  });
});
