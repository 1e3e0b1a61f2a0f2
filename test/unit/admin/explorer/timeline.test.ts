import { createReadStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventFacts } from '../../../../src/admin/explorer/event-facts.ts';
import { searchQuestions, stateQuestions } from '../../../../src/admin/explorer/state-questions.ts';
import { timelineQuestions } from '../../../../src/admin/explorer/timeline.ts';
import { canonicalJson, type JsonObject } from '../../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { managerOf } from '../../../../src/history/last-change.ts';
import { linesOf } from '../../../../src/journal/lines.ts';
import { type Reply, type Served, served } from './served.ts';

const api = '/api/v1';

describe('the timeline of a recorded journal', () => {
  let explorer: Served;
  beforeAll(async () => {
    explorer = await served('subset-outage');
  });
  afterAll(() => explorer.close());

  it('counts its events by kind, source, manager and namespace once all are indexed', async () => {
    const { json } = await explorer.ask(`${api}/info`);
    expect(json).toMatchObject({
      api: 1,
      mode: 'file',
      viewer: 'all',
      events: 163,
      index: { from: 1, complete: true },
    });
    expect(json.kinds[0]).toEqual({ name: 'Update', events: 70 });
    expect(json.managers.map((one: { name: string }) => one.name)).toContain('argocd');
  });

  it.each(['seq', 'time'])('puts every event into one bucket, evenly by %s', async by => {
    const { json } = await explorer.ask(`${api}/density?by=${by}&buckets=7&split=source`);
    expect(json.buckets).toHaveLength(7);
    const events = json.buckets.map((one: { events: number }) => one.events);
    expect(events.reduce((sum: number, count: number) => sum + count, 0)).toBe(163);
    expect(json.buckets[0].from).toBe(1);
    expect(json.buckets.at(-1).to).toBe(163);
    for (const { events: count, parts } of json.buckets) {
      expect(parts.reduce((sum: number, part: number) => sum + part, 0)).toBe(count);
    }
    expect(json.buckets.map((one: { marks: { pushes: number } }) => one.marks.pushes).some(Boolean)).toBe(true);
  });

  it('lists the events of a filter page by page, each once', async () => {
    const seqs: number[] = [];
    let before = '';
    for (;;) {
      const { json } = await explorer.ask(`${api}/events?kind=Receipt&limit=20${before}`);
      expect(json.total).toBe(51);
      seqs.unshift(...json.rows.map((row: { seq: number }) => row.seq));
      if (!json.earlier) break;
      before = `&before=${seqs[0]}`;
    }
    expect(seqs).toHaveLength(51);
    expect([...seqs].sort((a, b) => a - b)).toEqual(seqs);
  });

  it('searches words in the kind, the writer and the object of an event', async () => {
    const { json } = await explorer.ask(`${api}/events?text=DestinationRule%20reviews&limit=5`);
    expect(json.rows.length).toBeGreaterThan(0);
    for (const row of json.rows) expect(row.object).toBe('DestinationRule/shop/reviews');
  });

  it('takes an object by its short name', async () => {
    const { json } = await explorer.ask(`${api}/events?object=vs/shop/reviews`);
    expect(json.rows.every((row: { object: string }) => row.object === 'VirtualService/shop/reviews')).toBe(true);
    expect(json.total).toBeGreaterThan(0);
  });

  it('takes positions as the commands do', async () => {
    expect((await explorer.ask(`${api}/position?at=head~3`)).json.seq).toBe(160);
    const wrong = await explorer.ask(`${api}/position?at=yesterday`);
    expect([wrong.status, wrong.json.error]).toEqual([400, expect.stringContaining('is no position')]);
  });

  it('answers a question that it does not know with 404, and a wrong number with 400', async () => {
    expect((await explorer.ask(`${api}/nothing`)).status).toBe(404);
    expect((await explorer.ask(`${api}/constructor`)).status).toBe(404);
    expect((await explorer.ask(`${api}/events?limit=many`)).status).toBe(400);
  });

  it('streams the head first, and then what is new', async () => {
    const { json } = await explorer.ask(`${api}/live?after=160`);
    expect(json).toMatchObject({ head: { seq: 163 }, rows: [{ seq: 161 }, { seq: 162 }, { seq: 163 }], skipped: 0 });
  });
});

describe('callers', () => {
  const hostile = '<img src=x onerror=alert(1)>';
  let explorer: Served;
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bundle-'));
  beforeAll(async () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>explorer</title>');
    writeFileSync(join(folder, 'assets/main-4f3a9c21.js'), 'void 0;');
    writeFileSync(join(folder, '..', 'periplus-outside.json'), '{}');
    explorer = await served(facts(hostile), folder);
  });
  afterAll(async () => {
    await explorer.close();
    rmSync(folder, { recursive: true, force: true });
    rmSync(join(folder, '..', 'periplus-outside.json'), { force: true });
  });

  it('get hostile names as text of JSON that no browser takes for a page', async () => {
    const { headers, json } = await explorer.ask(`${api}/events`);
    expect(json.rows.map((row: { summary: string }) => row.summary).join('\n')).toContain(hostile);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  it('see which versions of objects are refused, once they are judged', async () => {
    let density: Reply;
    do density = await explorer.ask(`${api}/density?buckets=1`);
    while (density.json.verdicts.complete !== true);
    expect(density.json.buckets[0].marks).toMatchObject({ refusedObjects: 1, nacks: 0, troubles: 0, connects: 3 });
    const { json } = await explorer.ask(`${api}/events`);
    const refused = json.rows.filter((row: { refused?: true }) => row.refused === true);
    expect(refused.map((row: { seq: number; object: string }) => [row.seq, row.object])).toEqual([
      [2, `VirtualService/shop/${hostile}`],
    ]);
  });

  it('see why a version of an object is refused', async () => {
    const { json } = await explorer.ask(`${api}/object/versions?object=${encodeURIComponent(`vs/shop/${hostile}`)}`);
    expect(json.versions).toMatchObject([{ row: { seq: 2 }, change: 'refused', problems: [expect.any(String)] }]);
  });

  it('never get the private values of a Secret', async () => {
    for (const path of [
      'events?limit=100',
      'event?seq=3',
      'proxies',
      'proxy/raw?proxy=web.shop',
      'object?object=Secret/shop/key',
      'object/versions?object=Secret/shop/key',
      'object/effect?object=Secret/shop/key',
      'diff?from=2&to=3',
      'objects',
      'incident',
    ]) {
      const { text } = await explorer.ask(`${api}/${path}`);
      expect(text).not.toContain(Buffer.from('very private').toString('base64'));
      expect(text).not.toContain('very private');
    }
  });

  it('of one namespace get the proxies that prove an identity of it, at every position, and nothing of the mesh', async () => {
    const headers = { host: 'shop.test' };
    const ids = async (at: string): Promise<readonly string[]> =>
      (await explorer.ask(`${api}/proxies?at=${at}`, { headers })).json.proxies.map((one: { id: string }) => one.id);
    expect(await ids('head')).toEqual(['web.shop']);
    expect(await ids('1')).toEqual([]);
    const info = await explorer.ask(`${api}/info`, { headers });
    expect(info.json).toMatchObject({ viewer: { namespace: 'shop' }, managers: [] });
    expect((await explorer.ask(`${api}/proxy/raw?proxy=web.shop`, { headers })).status).toBe(200);
    expect((await explorer.ask(`${api}/proxy/raw?proxy=db.bank`, { headers })).status).toBe(404);
    for (const path of REFUSED_TO_NAMESPACES) {
      expect([path, (await explorer.ask(`${api}/${path}`, { headers })).status]).toEqual([path, 403]);
    }
    const posted = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"yaml":"a: b"}',
    };
    expect((await explorer.ask(`${api}/what-if`, posted)).status).toBe(403);
  });

  it('of one namespace are refused every question but those of their proxies', () => {
    const questions = Object.keys({ ...timelineQuestions, ...stateQuestions, ...searchQuestions });
    const refused = REFUSED_TO_NAMESPACES.map(path => `/${path.split('?')[0]}`);
    const allowed = ['/info', '/position', '/proxies', '/proxy', '/proxy/raw'];
    expect([...refused, ...allowed, '/what-if'].sort()).toEqual(questions.sort());
  });

  it('without the right get neither the page nor the API', async () => {
    for (const path of ['/ui/', `${api}/info`, `${api}/live`]) {
      expect((await explorer.ask(path, { headers: { host: 'none.test' } })).status).toBe(403);
    }
  });

  it('from a page of another origin are refused, though their browser is on this machine', async () => {
    const crossed = await explorer.ask(`${api}/info`, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(crossed.status).toBe(403);
    const origin = await explorer.ask(`${api}/info`, { headers: { origin: 'https://evil.test' } });
    expect(origin.status).toBe(403);
  });

  it('get the files of the page by their names alone', async () => {
    const page = await explorer.ask('/ui/');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    const script = await explorer.ask('/ui/assets/main-4f3a9c21.js');
    expect([script.status, script.headers['cache-control']]).toEqual([200, 'max-age=31536000, immutable']);
    for (const path of [
      '/ui/../periplus-outside.json',
      '/ui/%2e%2e/periplus-outside.json',
      '/ui/assets',
      '/ui/no.js',
    ]) {
      expect((await explorer.ask(path)).status).toBe(404);
    }
    expect((await explorer.ask('/')).headers.location).toBe('/ui/');
  });

  it('may only ask, and post only what may be posted', async () => {
    expect((await explorer.ask(`${api}/info`, { method: 'POST' })).status).toBe(405);
    expect((await explorer.ask(`${api}/what-if`)).status).toBe(405);
    const typed = await explorer.ask(`${api}/what-if`, { method: 'POST', body: '{}' });
    expect(typed.status).toBe(415);
    const headers = { 'content-type': 'application/json' };
    const large = await explorer.ask(`${api}/what-if`, { method: 'POST', headers, body: ' '.repeat(2 ** 20 + 1) });
    expect(large.status).toBe(413);
  });
});

const REFUSED_TO_NAMESPACES = [
  'events',
  'density',
  'live',
  'event?seq=1',
  'objects',
  'object?object=Namespace/shop',
  'object/versions?object=Namespace/shop',
  'object/effect?object=Namespace/shop',
  'why?proxy=web.shop&kind=cluster&name=x',
  'proxy/history?proxy=web.shop&type=CDS&name=x',
  'mesh',
  'trace?source=web.shop&to=web',
  'diff',
  'pushes',
  'push?seq=1',
  'nack',
  'convergence?seq=1',
  'bisect?condition=nack',
  'incident',
  'outages',
  'slow',
];

function facts(name: string): readonly Unrecorded[] {
  const source = 'file/Kubernetes';
  const object = (apiVersion: string, kind: string, metadata: JsonObject, more: JsonObject): Unrecorded => ({
    source,
    kind: 'Add',
    object: { apiVersion, kind, metadata, ...more },
  });
  const proxy = (id: string, namespace: string, proven: string): Unrecorded => ({
    source: 'xds',
    kind: 'ProxyConnected',
    connection: `${id}-1-aa-1`,
    node: {
      id: `sidecar~10.1.0.1~${id}~${namespace}.svc.cluster.local`,
      cluster: id,
      metadata: { NAMESPACE: namespace, SERVICE_ACCOUNT: 'sa' },
    },
    protocol: 'delta',
    identities: [`spiffe://cluster.local/ns/${proven}/sa/sa`],
  });
  const data = { token: Buffer.from('very private').toString('base64') };
  return [
    object('v1', 'Namespace', { name: 'shop' }, {}),
    object('networking.istio.io/v1', 'VirtualService', { name, namespace: 'shop' }, { spec: { hosts: [name] } }),
    object('v1', 'Secret', { name: 'key', namespace: 'shop' }, { data }),
    proxy('web.shop', 'shop', 'shop'),
    proxy('db.bank', 'bank', 'bank'),
    // Says that it is of the shop and proves to be of the bank.
    proxy('liar.shop', 'shop', 'bank'),
  ];
}

describe('what the index reads out of stored text', () => {
  it.each(['subset-outage', 'annotation-storm', 'bookinfo-day'])(
    'is what parsing gives, for every event of %s',
    async name => {
      const file = join(import.meta.dirname, `../../../../journal/fixtures/${name}.jsonl`);
      let objects = 0;
      for await (const line of linesOf(createReadStream(file, 'utf8'))) {
        const { kind, body } = JSON.parse(line) as { readonly kind?: string; readonly body?: JsonObject };
        if (kind !== 'Add' && kind !== 'Update') continue;
        const object = body!.object as JsonObject;
        const meta = object.metadata as JsonObject;
        const found = eventFacts({ seq: 1, kind, body: canonicalJson(body!) });
        expect(found.subject).toBe(`${String(object.kind)}/${String(meta.namespace ?? '')}/${String(meta.name)}`);
        expect(found.manager).toBe(managerOf(object));
        objects++;
      }
      expect(objects).toBeGreaterThan(20);
    },
  );

  it('is the manager who wrote last, whatever the objects quote', () => {
    const managedFields = [
      { manager: 'late"r', operation: 'Apply', fieldsV1: { 'f:x': {} }, time: '2026-02-01T00:00:00Z' },
      { manager: 'early', operation: 'Update', time: '2026-01-01T00:00:00Z' },
    ];
    const object: JsonObject = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { managedFields, name: 'a', namespace: 'b' },
      spec: { note: [{ manager: 'not me' }] },
    };
    const { manager } = eventFacts({ seq: 1, kind: 'Update', body: canonicalJson({ object }) });
    expect(manager).toBe(managerOf(object));
  });
});
