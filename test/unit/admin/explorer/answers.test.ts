import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type Served, served } from './served.ts';

/** DestinationRule/shop/reviews loses its subset v3, to which a VirtualService still sends. */
const BREAK = 112;
const V3 = 'outbound|9080|v3|reviews.shop.svc.cluster.local';

describe('the explorer over the history of an outage', () => {
  let explorer: Served;
  beforeAll(async () => {
    explorer = await served('subset-outage');
  });
  afterAll(() => explorer.close());
  const ask = (path: string): Promise<Reply> => explorer.ask(`/api/v1/${path}`);
  const post = (body: object): Promise<Reply> =>
    explorer.ask('/api/v1/what-if?at=head', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('shows an event with the version before it, the difference, and the responses made of it', async () => {
    const { json } = await ask(`event?seq=${BREAK}`);
    expect(json.row).toMatchObject({ object: 'DestinationRule/shop/reviews', manager: 'helm' });
    expect(json.object.before.yaml).toContain('v3');
    expect(json.object.after.yaml).not.toContain('v3');
    expect(json.object.changes.map((one: { path: string }) => one.path)).toEqual(['spec.subsets[v3]']);
    expect(json.pushes[0]).toMatchObject({ seq: BREAK + 1, type: 'EDS', stateSeq: BREAK });
    // Later ones are of later events: every proxy has had its EDS and CDS.
    expect(json.pushes.map((one: { seq: number }) => one.seq)).toEqual([113, 114, 115, 116]);
    expect((await ask('event?seq=999')).status).toBe(404);
  });

  it('shows each proxy as tables, with what a request meets there', async () => {
    const { json } = await ask(`proxy?proxy=productpage&at=${BREAK}`);
    const route = json.routes.find((row: { virtualHost: string }) => row.virtualHost.startsWith('reviews.'));
    expect(route).toMatchObject({ virtualService: 'reviews.shop', problems: [{ kind: 'missing-cluster' }] });
    expect(route.splits.map((one: { share: number }) => one.share)).toEqual([0.8, 0.2]);
    expect(json.proxy).toMatchObject({ id: 'productpage-v1.shop', workload: 'productpage-v1' });
    expect(json.proxy.types.RDS.status).toBe('SENT');
  });

  it('explains why a cluster is not there', async () => {
    const name = encodeURIComponent(V3);
    const { json } = await ask(`why?proxy=productpage&kind=cluster&name=${name}&at=${BREAK}`);
    expect(json.goneSince).toMatchObject({ seq: BREAK, object: 'DestinationRule/shop/reviews' });
  });

  it('shows the versions of an object, and the references both ways', async () => {
    const { json } = await ask('object?object=vs/shop/reviews');
    expect(json.versions[0].row.seq).toBe(156);
    expect(json.versions.map((one: { change: string }) => one.change)).toContain('changed');
    expect(json.refersTo).toContainEqual({
      object: 'Service/shop/reviews',
      path: expect.stringContaining('spec.http[0].route[0]'),
      exists: true,
    });
    const service = await ask('object?object=svc/shop/reviews');
    const referring = service.json.referredBy.map((one: { object: string }) => one.object);
    expect(new Set(referring)).toContain('VirtualService/shop/reviews');
    expect((await ask('object?object=vs/shop/nothing')).status).toBe(404);
  });

  it('names the subset that a reference misses, and not the service that is there', async () => {
    const { json } = await ask(`object?object=vs/shop/reviews&at=${BREAK}`);
    const path = 'spec.http[0].route[1].destination';
    expect(json.refersTo.filter((one: { path: string }) => one.path === path)).toEqual([
      { object: 'Service/shop/reviews', path, exists: true },
      { object: 'subset v3 of reviews.shop.svc.cluster.local', path, exists: false },
    ]);
  });

  it('finds the versions of an object by its index, up to a position and apart from the object', async () => {
    const { json } = await ask('object?object=vs/shop/reviews');
    const apart = await ask('object/versions?object=vs/shop/reviews');
    expect(apart.json).toEqual({
      object: 'VirtualService/shop/reviews',
      versions: json.versions,
      more: false,
      index: expect.objectContaining({ complete: true }),
    });
    const earlier = await ask('object/versions?object=vs/shop/reviews&to=155');
    expect(earlier.json.versions).toEqual(json.versions.slice(1));
    const without = await ask('object?object=vs/shop/reviews&versions=false');
    expect(without.json).toEqual({ ...json, versions: [] });
    expect((await ask('object/versions?object=vs/shop/nothing')).json.versions).toEqual([]);
  });

  it('says what an object does for each class of proxies', async () => {
    const { json } = await ask('object/effect?object=dr/shop/reviews');
    expect(json.classes.flatMap((one: { proxies: string[] }) => one.proxies)).toContain('productpage-v1.shop');
  });

  it('traces a request over every way that chance takes', async () => {
    const { json } = await ask('trace?source=productpage&to=reviews:9080&path=/x&header=end-user:jason');
    expect(json.branches.map((one: { probability: number }) => one.probability)).toEqual([
      expect.closeTo(0.8),
      expect.closeTo(0.2),
    ]);
    expect(json.branches[0]).toMatchObject({ outcome: 'forwarded', cluster: expect.stringContaining('|v1|') });
    expect(json.branches[0].steps.map((one: { stage: string }) => one.stage)).toContain('route');
  });

  it('draws the mesh with weights, and marks routes to what is not there', async () => {
    const well = await ask(`mesh?at=${BREAK - 1}`);
    expect(well.json.problems).toEqual([]);
    const { json } = await ask(`mesh?at=${BREAK}`);
    const edge = json.edges.find(
      (one: { from: string; to: string }) =>
        one.from === 'workload/shop/productpage-v1' && one.to === 'service/reviews.shop.svc.cluster.local',
    );
    expect(edge).toMatchObject({ kind: 'routes', share: 0.8, problems: [{ kind: 'missing-cluster' }] });
    expect(json.problems[0]).toMatchObject({
      kind: 'missing-cluster',
      workloads: 2,
      proxies: ['productpage-v1.shop', 'ratings-v1.shop'],
    });
    const ids = new Set(json.nodes.map((one: { id: string }) => one.id));
    for (const { from, to } of json.edges) expect([ids.has(from), ids.has(to)]).toEqual([true, true]);
  });

  it('folds namespaces to one node each, and keeps every problem', async () => {
    const { json } = await ask(`mesh?fold=all&at=${BREAK}`);
    expect(json.nodes.map((one: { id: string }) => one.id)).toEqual(['namespace/istio-system', 'namespace/shop']);
    expect(json.problems.length).toBeGreaterThan(0);
    const shop = json.nodes.find((one: { id: string }) => one.id === 'namespace/shop');
    expect(shop.problems.length + json.edges.flatMap((one: { problems: [] }) => one.problems).length).toBeGreaterThan(
      0,
    );
  });

  it('compares two positions, and says the command that does the same', async () => {
    const { json } = await ask(`diff?from=${BREAK - 1}&to=${BREAK}`);
    expect(json.classes[0].warnings[0].kind).toBe('missing-cluster');
    expect(json.markdown).toContain(`### xDS: event ${BREAK - 1} → event ${BREAK}`);
    expect(json.command).toMatch(/^periplus diff 111 112 --journal /);
  });

  it('says what YAML would change before it is applied, and what of it would be refused', async () => {
    const { json } = await post({ yaml: '', delete: ['dr/shop/reviews'] });
    expect(json.classes[0].warnings.map((one: { kind: string }) => one.kind)).toContain('missing-cluster');
    const wrong = await post({
      yaml: 'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: x}\nspec: {hosts: 7}\n',
    });
    expect(wrong.json.refused.length).toBeGreaterThan(0);
    expect((await post({ yaml: '' })).status).toBe(400);
    expect((await post({ yaml: 7 })).status).toBe(400);
    expect((await post({ delete: ['dr/shop/nothing'] })).status).toBe(404);
  });

  it('shows pushes, their causes and how a change spread', async () => {
    const page = await ask('pushes?limit=3');
    expect(page.json.pushes.map((one: { seq: number }) => one.seq)).toEqual([163, 160, 157]);
    const next = await ask('pushes?limit=3&before=157');
    expect(next.json.pushes[0].seq).toBeLessThan(157);
    const { json } = await ask('push?seq=114');
    expect(json.causes.map((one: { object: string }) => one.object)).toContain('DestinationRule/shop/reviews');
    const spread = await ask(`convergence?seq=${BREAK}`);
    expect(spread.json.curve.at(-1).proxies).toBe(3);
    expect(spread.json.curve.every((one: { afterMs: number }) => one.afterMs < 1_000)).toBe(true);
  });

  it('finds the event that broke it, and says on the way how far it is', async () => {
    const headers = { accept: 'text/event-stream' };
    const path = '/api/v1/bisect?proxy=productpage&condition=cluster-missing';
    const { text } = await explorer.ask(path, { headers, watched: true });
    const answer = /^event: answer\ndata: (.*)$/m.exec(text);
    expect(JSON.parse(answer![1]!)).toMatchObject({
      found: { seq: BREAK, event: { object: 'DestinationRule/shop/reviews' } },
      command: expect.stringContaining('--cluster-missing'),
    });
    const { json } = await ask('incident');
    expect(json.breaks[0]).toMatchObject({ seq: BREAK, symptoms: [{ kind: 'cluster-missing' }] });
  });

  it('marks outages by the event that each began with, and leaves long ranges to the reader', async () => {
    const { json } = await ask('outages');
    expect(json).toMatchObject({ from: 0, to: 163, looked: true });
    expect(json.outages[0]).toMatchObject({ seq: BREAK, warnings: [{ kind: 'cluster-missing', lasts: false }] });
    expect(await ask('outages?from=163')).toMatchObject({ status: 200, json: { outages: [] } });
  });

  it('ranks proxies by how long after a change they were sent it', async () => {
    const { json } = await ask('slow');
    expect(json.proxies).toHaveLength(3);
    const waits = json.proxies.map((one: { longestMs: number }) => one.longestMs);
    expect(waits).toEqual([...waits].sort((a, b) => b - a));
    const [first] = json.proxies;
    const push = await ask(`push?seq=${first.longest.seq}`);
    expect(push.json.connections).toContain(first.connection);
    expect(first.longestMs).toBeGreaterThanOrEqual(first.medianMs);
    // Each of them was connected before any change: what it asked for at first is no push.
    expect(waits[0]).toBeLessThan(1_000);
  });

  it('lists the versions of a resource with the events that made them', async () => {
    const { json } = await ask('proxy/history?proxy=productpage&type=RDS&name=9080');
    expect(json.versions[0]).toMatchObject({ at: { seq: 156 }, change: 'changed', causes: [{ seq: 156 }] });
  });

  it('answers of one client and path the newest question only', async () => {
    const headers = { 'x-periplus-client': 'page' };
    const older = explorer.ask('/api/v1/incident', { headers });
    const newer = explorer.ask('/api/v1/incident?from=100', { headers });
    expect((await older).status).toBe(409);
    expect((await newer).json.from).toBe(100);
  });
});
