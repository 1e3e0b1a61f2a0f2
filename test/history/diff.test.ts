// `periplus diff` and `periplus bisect` on the recorded samples and on two folders; what they print is kept in golden/.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { jsonDiff } from '../../src/history/json-diff.ts';
import { summaryOf } from '../../src/history/summary.ts';
import { openJournal } from '../../src/journal/open.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('subset-outage', 'bookinfo-day');
});
afterAll(() => samples.remove());

function file(name: string, text: string): string {
  const path = join(samples.folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const rule = (...subsets: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: { name: 'reviews', namespace: 'shop' },
    spec: { host: 'reviews', subsets: subsets.map(name => ({ name, labels: { version: name } })) },
  });

describe('diff', () => {
  test.each([
    ['event', 3, ['111', '112']],
    ['weights', 1, ['155', '156', '-p', 'productpage']],
    ['nothing', 0, ['54', '55']],
    ['markdown', 3, ['10:11', '10:13', '-o', 'markdown']],
    ['delete', 1, ['--delete', 'Service/shop/ratings', '-p', 'productpage']],
  ] as const)('compares two positions, with or without an object: %s', async (name, exit, args) => {
    const { code, out, err } = await periplus('diff', ...args, '-j', samples.path('subset-outage'));
    expect([code, err]).toEqual([exit, '']);
    await expect(out).toMatchFileSnapshot(`golden/diff-${name}.txt`);
  });

  test('warns of a file that removes a subset from under its route', async () => {
    const path = file('rule.json', rule('v1', 'v2'));
    const { code, out } = await periplus('diff', '-f', path, '--at', '10:11', '-j', samples.path('subset-outage'));
    expect(code).toBe(3);
    expect(out).toContain('WARNING host reviews.shop.svc.cluster.local:9080 sends to outbound|9080|v3|reviews');
    expect(out).toContain('1 proxy: ingressgateway.istio-system');
  });

  test('puts a warning of SARIF and of GitHub at the changed object, also where others change', async () => {
    const journal = samples.path('subset-outage');
    const other = `apiVersion: v1\nkind: Service\nmetadata: {name: aaa, namespace: other}\nspec: {ports: [{name: http, port: 80}]}\n`;
    const path = file('two.yaml', `${other}---\n${rule('v1', 'v2')}\n`);
    const changed = 'DestinationRule shop/reviews';
    const given = ['-f', path, '--at', '10:11', '-j', journal] as const;
    const { out } = await periplus('diff', ...given, '-o', 'sarif');
    const { results } = JSON.parse(out).runs[0];
    expect(results).not.toEqual([]);
    for (const { ruleId, message, locations } of results) {
      expect(ruleId).toBe('PER0016');
      const [object, line] = message.text.includes('aaa.other') ? ['Service other/aaa', 1] : [changed, 6];
      const { artifactLocation, region } = locations[0].physicalLocation;
      expect([message.text.split(': ')[0], artifactLocation.uri, region.startLine]).toEqual([object, path, line]);
    }
    const { out: lines } = await periplus('diff', ...given, '-o', 'github');
    expect(lines).toContain(`::warning file=${path},line=6,col=1,title=PER0016 Outage::${changed}: `);
  });

  test('warns of a subset without endpoints, of a cluster that loses all endpoints, and of refused objects', async () => {
    const journal = samples.path('subset-outage');
    const route = JSON.stringify({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'reviews', namespace: 'shop' },
      spec: { hosts: ['reviews'], http: [{ route: [{ destination: { host: 'reviews', subset: 'v9' } }] }] },
    });
    const paths = [file('v9/rule.json', rule('v1', 'v9')), file('v9/route.json', route)];
    const v9 = await periplus('diff', '-f', ...paths, '-j', journal, '-p', 'productpage');
    expect(v9.out).toMatch(/WARNING host reviews\S+ sends to outbound\|9080\|v9\|reviews\S+, which has no endpoints/);
    const gone = await periplus('diff', '--delete', 'EndpointSlice/shop/ratings-1', '-j', journal, '-p', 'productpage');
    expect(gone.out).toContain('WARNING outbound|9080||ratings.shop.svc.cluster.local loses all its 2 endpoints');
    const bad = await periplus('diff', '-f', file('bad.json', route.replace('"v9"', '9')), '-j', journal);
    expect([bad.code, bad.out]).toEqual([
      3,
      expect.stringMatching(/REFUSED .*bad\.json:1:1: VirtualService is refused: spec\.http/),
    ]);
  });

  test('compares two folders for the proxies of a file', async () => {
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: { name: db, namespace: shop }\nspec: { clusterIP: 10.9.0.1, ports: [{ name: http, port: 80 }] }\n';
    file('main/db.yaml', service);
    file('branch/db.yaml', service.replace('port: 80', 'port: 81'));
    const node = 'sidecar~10.1.0.1~web.shop~shop.svc.cluster.local';
    const proxies = file('proxies.yaml', `- name: web\n  node: { id: "${node}", metadata: { NAMESPACE: shop } }\n`);
    const folders = [join(samples.folder, 'main'), join(samples.folder, 'branch')] as const;
    const { code, out, err } = await periplus('diff', ...folders, '--proxies', proxies);
    expect([code, err]).toEqual([3, '']);
    expect(out).toContain('cluster outbound|80||db.shop.svc.cluster.local: gone');
    expect(out).toContain('cluster outbound|81||db.shop.svc.cluster.local: new');
    expect((await periplus('diff', folders[0], folders[0], '--proxies', proxies)).code).toBe(0);
    expect((await periplus('diff', ...folders)).err).toMatch(
      /there is no Pod and no workload in .* to make a proxy of: give the proxies, --proxies FILE/,
    );
  });

  test('prints every field as JSON, and exits with 2 if it cannot compare', async () => {
    const journal = samples.path('subset-outage');
    const { out } = await periplus('diff', '155', '156', '-j', journal, '-o', 'json');
    const { classes, unchanged } = JSON.parse(out) as {
      classes: { proxies: string[]; resources: unknown[] }[];
      unchanged: number;
    };
    expect(classes.map(({ proxies }) => proxies)).toEqual([['productpage-v1.shop', 'ratings-v1.shop']]);
    expect(unchanged).toBe(1);
    expect((await periplus('diff', '999', '-j', journal)).code).toBe(2);
    expect((await periplus('diff', '--delete', 'Service/shop/none', '-j', journal)).err).toMatch(
      /there is no such object/,
    );
    expect((await periplus('diff', '-j', journal)).code).toBe(2);
  });
});

describe('the summary of a change', () => {
  const LDS = 'type.googleapis.com/envoy.config.listener.v3.Listener';
  const EDS = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
  const said = (typeUrl: string, before: JsonObject | undefined, after: JsonObject | undefined): readonly string[] =>
    summaryOf([
      {
        typeUrl,
        name: 'it',
        change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
        before,
        after,
        changes: jsonDiff(before, after),
      },
    ]);
  const chains = (...names: readonly string[]): JsonObject => ({
    name: 'it',
    filterChains: names.map(name => ({ name })),
  });
  const at = (...addresses: readonly string[]): JsonObject => ({
    endpoints: [
      {
        lbEndpoints: addresses.map(address => ({
          endpoint: { address: { socketAddress: { address, portValue: 80 } } },
        })),
      },
    ],
  });

  test('tells which listeners drain because they are removed, replaced or reordered', () => {
    expect(said(LDS, undefined, chains('a'))).toEqual(['listener it: new']);
    expect(said(LDS, chains('a'), undefined)).toEqual(['listener it: gone, its connections drain']);
    expect(said(LDS, chains('a', 'b'), chains('b', 'a'))).toEqual([
      'listener it: only the order changes, and it drains all the same',
    ]);
    expect(said(LDS, chains('a'), chains('a', 'b'))[0]).toMatch(
      /^listener it: the connections of these filter chains drain: filterChains\[b\] is new/,
    );
    expect(said(LDS, { ...chains('a'), trafficDirection: 'INBOUND' }, chains('a'))[0]).toMatch(
      /^listener it: it is replaced and drains/,
    );
  });

  test('tells which endpoints are added and removed', () => {
    expect(said(EDS, at('10.0.0.1', '10.0.0.2'), at('10.0.0.2', '10.0.0.3'))).toEqual([
      'endpoints of it: 2 → 2 endpoints (+ 10.0.0.3:80; - 10.0.0.1:80)',
    ]);
    expect(said(EDS, at('10.0.0.1'), {})).toEqual(['endpoints of it: 1 → 0 endpoints (- 10.0.0.1:80)']);
  });
});

describe('JSON differences', () => {
  test('compare lists of named items by name, and mark those that differ in order alone', () => {
    const [a, b, c] = [{ name: 'a', x: 1 }, { name: 'b', x: 2 }, { name: 'c' }];
    expect(jsonDiff({ l: [a, b] }, { l: [c, a, { name: 'b', x: 3 }] })).toEqual([
      { path: 'l[b].x', before: 2, after: 3 },
      { path: 'l[c]', after: c },
    ]);
    expect(jsonDiff({ l: [a, b] }, { l: [b, a] })).toEqual([
      { path: 'l', before: [a, b], after: [b, a], reordered: true },
    ]);
    expect(jsonDiff({ l: [1, 1] }, { l: [1] })).toEqual([{ path: 'l[1]', before: 1 }]);
    expect(jsonDiff(a, { ...a })).toEqual([]);
  });
});

describe('bisect', () => {
  test.each([
    ['cluster-missing', 'subset-outage', ['-p', 'productpage', '--cluster-missing']],
    ['resource-changed', 'subset-outage', ['-p', 'productpage', '--resource-changed', 'route/9080', '--from', '60']],
    ['nack', 'bookinfo-day', ['--nack']],
  ] as const)('finds the event by its condition: %s', async (name, sample, args) => {
    const { code, out, err } = await periplus('bisect', ...args, '-j', samples.path(sample));
    expect([code, err]).toEqual([0, '']);
    await expect(out).toMatchFileSnapshot(`golden/bisect-${name}.txt`);
  });

  test('takes O(log n) steps, also with a test command', async () => {
    const command = [
      'sh',
      '-c',
      `grep -q '"name": "outbound|9080|v3|reviews' "$PERIPLUS_DUMP" && test "$PERIPLUS_SEQ" -lt 112`,
    ];
    const range = ['--from', '60', '--to', '140', '-p', 'productpage'];
    const { code, out, err } = await periplus(
      'bisect',
      '-j',
      samples.path('subset-outage'),
      ...range,
      '-o',
      'json',
      '--',
      ...command,
    );
    expect([code, err]).toEqual([0, '']);
    const { seq, evaluated } = JSON.parse(out) as { seq: number; evaluated: number };
    expect(seq).toBe(112);
    expect(evaluated).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(80)));
  });

  test('positions without a verdict of the command are passed over', async () => {
    const command = ['sh', '-c', 'test $((PERIPLUS_SEQ % 3)) -eq 0 && exit 125; test "$PERIPLUS_SEQ" -lt 100'];
    const { out } = await periplus(
      'bisect',
      '-j',
      samples.path('subset-outage'),
      '--to',
      '160',
      '--from',
      '1',
      '-o',
      'json',
      '--',
      ...command,
    );
    expect(JSON.parse(out)).toMatchObject({ seq: 100 });
  });

  test('prints no content of a Secret that broke it', async () => {
    const path = join(samples.folder, 'secret.db');
    const journal = await openJournal(path);
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key', namespace: 'shop' },
      data: { token: 'Z2VoZWlt' },
    };
    await journal.append([{ source: 'runtime', kind: 'TimerFired', name: 'first' }]);
    await journal.append([{ source: 'file/Kubernetes', kind: 'Add', object }]);
    await journal.close();
    const test = ['sh', '-c', 'test "$PERIPLUS_SEQ" -lt 2'];
    const { out, code } = await periplus('bisect', '-j', path, '-o', 'json', '--', ...test);
    expect([code, JSON.parse(out)]).toMatchObject([0, { seq: 2, event: { kind: 'Add', object: { kind: 'Secret' } } }]);
    expect(out).not.toContain('Z2VoZWlt');
  });

  test('names the mistake in its arguments', async () => {
    const journal = samples.path('subset-outage');
    const ask = async (...args: readonly string[]): Promise<readonly [number, string]> => {
      const { code, err } = await periplus('bisect', '-j', journal, ...args);
      return [code, err];
    };
    expect(await ask('--nack')).toEqual([
      1,
      expect.stringMatching(/refused something: holds nowhere between 0 and 163/),
    ]);
    expect(await ask()).toEqual([2, expect.stringMatching(/say what to look for/)]);
    expect(await ask('--cluster-missing')).toEqual([2, expect.stringMatching(/say of which proxy/)]);
    expect(await ask('--cluster-missing', '-p', 'productpage', '--from', '120')).toEqual([
      1,
      expect.stringMatching(/holds at position 120 already/),
    ]);
    expect(await ask('--', 'no-such-command-here')).toEqual([1, expect.stringMatching(/cannot be run/)]);
  });
});
