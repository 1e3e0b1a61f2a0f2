// `periplus explain` on the recorded samples, and on small worlds for each reason why something is not there.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { explainAbsence } from '../../src/history/absence.ts';
import { effectOf, type ObjectEffect } from '../../src/history/effect-of.ts';
import { explain } from '../../src/history/explain.ts';
import { History } from '../../src/history/history.ts';
import { proxyNamed } from '../../src/history/proxies.ts';
import { clusterSubject, type Subject, virtualHostSubject } from '../../src/history/subject.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('subset-outage', 'bookinfo-day', 'annotation-storm');
});
afterAll(() => samples.remove());

const V3 = 'outbound|9080|v3|reviews.shop.svc.cluster.local';

describe('explain, on the samples', () => {
  test.each([
    ['virtual-host', 0, ['virtual-host', 'reviews', '-p', 'productpage', '--at', '10:20']],
    ['cluster', 0, ['cluster', V3, '-p', 'productpage', '--at', '10:00']],
    ['cluster-gone', 1, ['cluster', V3, '-p', 'productpage', '--at', '10:20']],
    ['listener', 0, ['listener', '0.0.0.0_9080', '-p', 'ratings']],
    ['endpoint', 0, ['endpoint', '10.1.3.3', '-p', 'productpage', '--at', '10:00', '--cluster', V3]],
    ['unknown-host', 1, ['virtual-host', 'review', '-p', 'productpage']],
  ] as const)('answers the question %s', async (name, exit, args) => {
    const { code, out, err } = await periplus('explain', ...args, '-j', samples.path('subset-outage'));
    expect([code, err]).toEqual([exit, '']);
    await expect(out).toMatchFileSnapshot(`golden/explain-${name}.txt`);
  });

  test('explains a push', async () => {
    const journal = samples.path('subset-outage');
    const receipts = JSON.parse(
      (await periplus('journal', 'ls', '--kind', 'Receipt', '-j', journal, '-o', 'json')).out,
    ) as {
      readonly seq: number;
      readonly typeUrl: string;
    }[];
    const clusters = receipts.filter(({ seq, typeUrl }) => seq > 112 && typeUrl.endsWith('.Cluster'));
    const { out, code } = await periplus('explain', 'push', String(clusters[0]!.seq), '-j', journal);
    expect(code).toBe(0);
    await expect(out).toMatchFileSnapshot('golden/explain-push.txt');
  });

  test('explains a NACK, and tells if there is none', async () => {
    const { out, code } = await periplus('explain', 'nack', '-j', samples.path('bookinfo-day'));
    expect(code).toBe(0);
    await expect(out).toMatchFileSnapshot('golden/explain-nack.txt');
    const none = await periplus('explain', 'nack', '-j', samples.path('subset-outage'));
    expect([none.code, none.err]).toEqual([
      1,
      'periplus: the journal has no NACK; `periplus journal ls --kind ProxyNacked` lists them\n',
    ]);
    expect((await periplus('explain', 'push', '3', '-j', samples.path('subset-outage'))).err).toMatch(
      /is Add, not a Receipt/,
    );
  });

  test('prints as JSON what the text leaves out', async () => {
    const { out } = await periplus(
      'explain',
      'host',
      'reviews',
      '-p',
      'productpage',
      '-j',
      samples.path('bookinfo-day'),
      '-o',
      'json',
    );
    const { causes, answer } = JSON.parse(out) as { causes: { lastChange: { object: string } }[]; answer: JsonObject };
    expect(causes.map(({ lastChange }) => lastChange.object)).toContain('VirtualService/shop/reviews');
    expect(answer.name).toBe('reviews.shop.svc.cluster.local:9080');
  });
});

const NODE: JsonObject = {
  id: 'sidecar~10.1.0.1~web.app~app.svc.cluster.local',
  metadata: { NAMESPACE: 'app', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'web' } },
};

const meta = (name: string, namespace: string, more: JsonObject = {}): JsonObject => ({ name, namespace, ...more });

function service(more: JsonObject = {}, port: JsonObject = { name: 'http', port: 80 }): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta('db', 'data', more),
    spec: { clusterIP: '10.96.0.9', ports: [port] },
  };
}

const sidecar: JsonObject = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'Sidecar',
  metadata: meta('default', 'app'),
  spec: { egress: [{ hosts: ['./*'] }] },
};

function virtualService(name: string, created: string, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: meta(name, 'app', { creationTimestamp: created }),
    spec: {
      hosts: ['shop.example.com'],
      http: [{ route: [{ destination: { host: 'db.data.svc.cluster.local' } }], ...more }],
    },
  };
}

async function reasons(subject: Subject, ...objects: readonly JsonObject[]): Promise<readonly string[]> {
  const journal = await openMemoryJournal({ clock: () => 1_000 });
  await journal.append([
    ...objects.map(object => ({ source: 'file/Kubernetes', kind: 'Add', object }) as const),
    { source: 'xds', kind: 'ProxyConnected', connection: 'web', node: NODE, protocol: 'delta', identities: [] },
  ]);
  const history = new History(journal);
  const state = await history.at(journal.head().seq);
  const proxy = proxyNamed(state, 'web');
  expect(await explain(history, state, proxy, subject)).toBeUndefined();
  return (await explainAbsence(history, state, proxy, subject)).reasons.map(({ why }) => why);
}

async function effect(object: string, ...objects: readonly JsonObject[]): Promise<ObjectEffect> {
  const journal = await openMemoryJournal({ clock: () => 1_000 });
  await journal.append([
    ...objects.map(one => ({ source: 'file/Kubernetes', kind: 'Add', object: one }) as const),
    { source: 'xds', kind: 'ProxyConnected', connection: 'web', node: NODE, protocol: 'delta', identities: [] },
  ]);
  const history = new History(journal);
  const state = await history.at(journal.head().seq);
  return effectOf(history, state, proxyNamed(state, 'web'), object);
}

describe('explain for an object', () => {
  const route = (name: string, created: string, more: JsonObject = {}): JsonObject => {
    const made = virtualService(name, created);
    return { ...made, spec: { ...(made.spec as JsonObject), hosts: ['db.data.svc.cluster.local'], ...more } };
  };
  const why = ({ obstacles }: ObjectEffect): readonly string[] => obstacles.map(one => one.why);

  test('shows the effect of the objects in the samples', async () => {
    const journal = samples.path('subset-outage');
    const does = await periplus('explain', 'object', 'VirtualService/shop/reviews', '-p', 'productpage', '-j', journal);
    expect([does.code, does.err]).toEqual([0, '']);
    await expect(does.out).toMatchFileSnapshot('golden/explain-object.txt');
    const nothing = await periplus('explain', 'object', 'Gateway/shop/front-door', '-p', 'productpage', '-j', journal);
    expect([nothing.code, nothing.out]).toEqual([
      1,
      expect.stringMatching(/it does nothing\n {2}nothing that productpage-v1\.shop has/),
    ]);
    expect((await periplus('explain', 'object', 'Gateway/shop/none', '-p', 'ratings', '-j', journal)).err).toMatch(
      /^periplus: Gateway\/shop\/none: there is no such object at position \d+; nearest: Gateway\/shop\/front-door$/m,
    );
  });

  test('names the older VirtualService that hides it', async () => {
    const both = [route('old', '2026-01-01T00:00:00Z'), route('young', '2026-02-01T00:00:00Z')];
    expect((await effect('VirtualService/app/old', service(), ...both)).effect?.summary.length).toBeGreaterThan(0);
    expect(why(await effect('VirtualService/app/young', service(), ...both))).toEqual([
      'VirtualService/app/old is older or comes first, and hides it',
    ]);
  });

  test('tells that it is not exported, outside a Sidecar’s scope, or refused', async () => {
    const foreign = { ...route('far', '2026-01-01T00:00:00Z', { exportTo: ['.'] }), metadata: meta('far', 'data') };
    expect(why(await effect('VirtualService/data/far', service(), foreign))).toEqual([
      'it is not exported to namespace app',
    ]);
    expect(why(await effect('Service/data/db', service(), sidecar))).toEqual([
      'Sidecar/app/default keeps it from web.app',
    ]);
    const bad = route('bad', '2026-01-01T00:00:00Z', { http: [{ timeout: '5' }] });
    expect(why(await effect('VirtualService/app/bad', service(), bad))).toEqual([
      expect.stringMatching(/^it was refused: spec\.http/),
    ]);
  });
});

describe('explain for a missing resource', () => {
  const db = clusterSubject('outbound|80||db.data.svc.cluster.local');
  const host = virtualHostSubject('db.data.svc.cluster.local:80');

  test('tells that the service is not exported', async () => {
    const hidden = service({ annotations: { 'networking.istio.io/exportTo': '.' } });
    expect(await reasons(db, hidden)).toEqual(['Service/data/db is not exported to namespace app']);
  });

  test('tells that no Sidecar imports the service', async () => {
    expect(await reasons(db, service(), sidecar)).toEqual(['Sidecar/app/default does not let web.app see it']);
    expect(await reasons(host, service(), sidecar)).toEqual(['Sidecar/app/default does not let web.app see it']);
  });

  test('tells the protocol of the port', async () => {
    expect(await reasons(host, service({}, { name: 'tcp', port: 80 }))).toEqual([
      'a port of Service/data/db is not named as HTTP: it is taken for another protocol and has no routes',
    ]);
  });

  test('tells that the object is refused', async () => {
    const bad = virtualService('bad', '2026-01-01T00:00:00Z', { timeout: '5' });
    const [why] = await reasons(virtualHostSubject('shop.example.com'), bad);
    expect(why).toMatch(
      /^VirtualService\/app\/bad was refused by event 1, nothing of it is in force: spec\.http\[0\]\.timeout/,
    );
  });

  test('tells that no rule has the subset', async () => {
    const rule = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: meta('db', 'data'),
      spec: { host: 'db', subsets: [{ name: 'v1', labels: { version: 'v1' } }] },
    };
    expect(await reasons(clusterSubject('outbound|80|v2|db.data.svc.cluster.local'), service(), rule)).toEqual([
      'DestinationRule/data/db has no subset v2; it has v1',
    ]);
  });

  test('an unknown name, with similar names', async () => {
    const [why] = await reasons(virtualHostSubject('d.data.svc.cluster.local'), service());
    expect(why).toMatch(
      /no Service, ServiceEntry, VirtualService or route of the Gateway API in force makes virtual host .*; named like it are Service\/data\/db/,
    );
  });
});
