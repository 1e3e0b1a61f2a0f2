// The oracle as a command on a recorded outage, proxies that are made of workloads, and the words of completion.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSamples, type Samples } from '../../history/fixtures.ts';
import { periplus } from '../../history/running.ts';

let samples: Samples;
let folder: string;
beforeAll(async () => {
  samples = await openSamples('subset-outage');
  folder = mkdtempSync(join(tmpdir(), 'periplus-trace-'));
});
afterAll(() => {
  samples.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe('trace', () => {
  test('shows the share of requests that an outage answers with 503, and the way there', async () => {
    const args = ['--from', 'productpage', '--to', 'reviews:9080', '/reviews/1', '-j', samples.path('subset-outage')];
    const { code, out } = await periplus('trace', ...args, '--at', '10:20');
    expect(code).toBe(1);
    expect(out).toContain(
      '20% answered with 503: cluster outbound|9080|v3|reviews.shop.svc.cluster.local is not there',
    );
    expect(out).toContain('virtual host reviews.shop.svc.cluster.local:9080: its domain reviews matches reviews:9080');
    expect(out).toMatch(/not settled by this answer\n {2}10\.1\.3\.1:9080: no proxy is connected there/);
  });

  test.each([
    [['--from', 'productpag', '--to', 'reviews'], 'nearest: productpage-v1.shop'],
    [['--from', 'productpage', '--to', 'review'], 'there is no service review in shop; nearest: reviews'],
    [['--from', 'productpage', '--to', 'reviews', '-H', 'x'], '-H x: expected "name: value"'],
  ])('refuses %j', async (args, words) => {
    const { code, err } = await periplus('trace', ...args, '-j', samples.path('subset-outage'));
    expect([code > 0, err]).toEqual([true, expect.stringContaining(words)]);
  });
});

describe('proxies of workloads', () => {
  const service = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.1.1.1, ports: [{name: http, port: 80}], selector: {app: web}}
`;
  const workload = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: x}]}}}
`;
  test('let generate do without a list of nodes', async () => {
    const file = join(folder, 'mesh.yaml');
    writeFileSync(file, service + workload);
    const { code, out } = await periplus('generate', '-f', file, '--type', 'cds', '-o', 'json');
    expect([code, Object.keys(JSON.parse(out))]).toEqual([0, ['web.shop']]);
    expect(out).toContain('inbound|80||');
  });

  test('are asked for where there is none', async () => {
    const file = join(folder, 'bare.yaml');
    writeFileSync(file, service);
    const { code, err } = await periplus('generate', '-f', file);
    expect([code, err]).toEqual([2, expect.stringContaining('there is no Pod and no workload')]);
  });
});

describe('completion', () => {
  test.each([
    [['pro'], 'proxy-config\nproxy-status\n'],
    [['journal', 'ls', '--fo'], '--follow\n'],
    [['completion', 'z'], 'zsh\n'],
  ])('of %j', async (words, found) => {
    expect((await periplus('complete', '--', ...words)).out).toBe(found);
  });

  test('knows the proxies and objects of a journal', async () => {
    const journal = samples.path('subset-outage');
    expect((await periplus('complete', '--', 'bisect', '-j', journal, '-p', 'prod')).out).toBe('productpage-v1.shop\n');
    const objects = await periplus('complete', '--', 'explain', 'object', '-j', journal, 'VirtualService/shop/r');
    expect(objects.out).toBe('VirtualService/shop/reviews\n');
  });

  test.each(['bash', 'zsh', 'fish', 'powershell'])('has a script for %s that asks this program', async shell => {
    expect((await periplus('completion', shell)).out).toContain('periplus complete --');
  });
});
