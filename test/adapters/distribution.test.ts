// How far configuration is distributed: the counts, and the condition that is written from them, against an API server
// in memory. What proxies have accepted is a list of positions that the tests set.

import { afterEach, describe, expect, it } from 'vitest';
import {
  type DistributionOptions,
  DistributionSource,
  SETTLE_MS,
} from '../../src/adapters/distribution/distribution-source.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { RawObject } from '../../src/core/event.ts';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { distributionObserves, distributionWishes } from '../../src/core/wishes/distribution.ts';
import { CLUSTER, type Plane, plane, type Rig, rig } from './write-rig.ts';

const MINUTE = 60_000;
const PATH = '/apis/networking.istio.io/v1/namespaces/shop/virtualservices/reviews';
const on = { ...defaultSettings, env: { PILOT_ENABLE_STATUS: 'true' } };
const running: Plane[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(one => one.stop()));
});

function virtualService(generation: number, host = `v${generation}`, status?: JsonObject): RawObject {
  const spec = { hosts: ['reviews'], http: [{ route: [{ destination: { host } }] }] };
  const metadata = { namespace: 'shop', name: 'reviews', generation };
  const object = { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec };
  return status === undefined ? object : { ...object, status };
}

const mesh = (...objects: readonly RawObject[]): Rig => rig(1, objects);

/** A control plane whose proxies have accepted up to these positions. */
function start(
  { server, time }: Rig,
  proxies: { accepted: readonly number[] },
  more: Partial<DistributionOptions> = {},
): Plane {
  const settings = more.settings ?? on;
  const source = new DistributionSource({
    ...{ settings, accepted: () => proxies.accepted, log: () => undefined },
    ...{ now: () => time.now(), after: (ms: number, run: () => void) => time.after(ms, run) },
    ...more,
  });
  const features = [{ query: distributionWishes, observes: distributionObserves }];
  const started = plane(server, time, 'pod-1', true, { features, settings, further: [source] });
  running.push(started);
  return started;
}

function statusOf({ server }: Rig): JsonObject | undefined {
  return server.object(PATH).status as JsonObject | undefined;
}

/** `status message` of the condition; '' while there is none. */
function reconciled(made: Rig): string {
  const conditions = (statusOf(made)?.conditions ?? []) as readonly JsonObject[];
  const found = conditions.find(({ type }) => type === 'Reconciled');
  return found === undefined ? '' : `${String(found.status)} ${String(found.message)}`;
}

const statusWrites = ({ server }: Rig): number => server.writes.filter(write => write.includes('/status')).length;
const ALL = Number.MAX_SAFE_INTEGER;

describe('the condition Reconciled', () => {
  it('counts the proxies that accepted the version, and names its generation', async () => {
    const made = mesh(virtualService(1));
    const proxies = { accepted: [ALL, -1, ALL] };
    start(made, proxies);
    expect(await made.time.until(() => reconciled(made) === 'False 2/3 proxies up to date.', MINUTE)).toBe(true);
    expect(statusOf(made)).toMatchObject({ observedGeneration: 1, conditions: [{ observedGeneration: 1 }] });
    proxies.accepted = [ALL, ALL, ALL];
    expect(await made.time.until(() => reconciled(made) === 'True 3/3 proxies up to date.', MINUTE)).toBe(true);
  });

  it('starts anew with each generation: a proxy that has the version before does not count', async () => {
    const made = mesh(virtualService(1));
    const proxies = { accepted: [ALL] };
    const { state } = start(made, proxies);
    expect(await made.time.until(() => reconciled(made).startsWith('True'), MINUTE)).toBe(true);
    proxies.accepted = [state().seq];
    made.server.set(virtualService(2, 'v2', statusOf(made)));
    expect(await made.time.until(() => reconciled(made) === 'False 0/1 proxies up to date.', MINUTE)).toBe(true);
    expect(statusOf(made)).toMatchObject({ observedGeneration: 2 });
  });

  it('comes to rest: after every proxy has accepted it, nothing more is written, also when proxies connect or leave', async () => {
    const made = mesh(virtualService(1));
    const proxies = { accepted: [ALL] };
    const { state } = start(made, proxies);
    expect(await made.time.until(() => reconciled(made).startsWith('True'), MINUTE)).toBe(true);
    await made.time.pass(2 * SETTLE_MS);
    const [writes, seq] = [statusWrites(made), state().seq];
    proxies.accepted = [-1, -1, ALL];
    await made.time.pass(10 * MINUTE);
    expect([statusWrites(made), state().seq]).toEqual([writes, seq]);
  });

  it('keeps the conditions and members of others, and the time of a transition that did not happen', async () => {
    const theirs = { type: 'Theirs', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const made = mesh(virtualService(1, 'v1', { conditions: [theirs], validationMessages: [{ level: 3 }] }));
    const proxies = { accepted: [-1, -1] };
    start(made, proxies);
    expect(await made.time.until(() => reconciled(made).includes('0/2'), MINUTE)).toBe(true);
    const timeOf = (): unknown => ((statusOf(made)?.conditions ?? []) as readonly JsonObject[])[1]?.lastTransitionTime;
    const since = timeOf();
    proxies.accepted = [ALL, -1];
    expect(await made.time.until(() => reconciled(made).includes('1/2'), MINUTE)).toBe(true);
    expect(timeOf()).toBe(since);
    expect(statusOf(made)).toMatchObject({ conditions: [theirs, {}], validationMessages: [{ level: 3 }] });
  });

  it('writes nothing without a proxy, nor where the feature is off', async () => {
    const made = mesh(virtualService(1));
    start(made, { accepted: [] });
    await made.time.pass(10 * MINUTE);
    expect(statusWrites(made)).toBe(0);
    const off = mesh(virtualService(1));
    const { state } = start(off, { accepted: [ALL] }, { settings: defaultSettings });
    await off.time.pass(10 * MINUTE);
    expect([statusWrites(off), state().objects.ConfigDistribution.size]).toEqual([0, 0]);
  });

  it('counts the proxies of other replicas, and waits for one that does not answer', async () => {
    const made = mesh(virtualService(1));
    let answer: { acked: number; total: number } | undefined;
    const others: DistributionOptions['others'] = async objects => answer && objects.map(() => answer!);
    start(made, { accepted: [ALL] }, { others });
    await made.time.pass(MINUTE);
    expect(reconciled(made)).toBe('');
    answer = { acked: 4, total: 5 };
    expect(await made.time.until(() => reconciled(made) === 'False 5/6 proxies up to date.', MINUTE)).toBe(true);
  });

  it('is forgotten with its object, and a deleted one is not counted', async () => {
    const made = mesh(virtualService(1));
    const { state } = start(made, { accepted: [ALL] });
    expect(await made.time.until(() => state().objects.ConfigDistribution.size === 1, MINUTE)).toBe(true);
    expect(state().objects.ConfigDistribution.get(`${CLUSTER}/shop/virtualservice.reviews`)).toBeDefined();
    made.server.remove(virtualService(1));
    expect(await made.time.until(() => state().objects.ConfigDistribution.size === 0, MINUTE)).toBe(true);
  });

  it('tells no more counts in a second than PILOT_STATUS_QPS', async () => {
    const many = Array.from({ length: 20 }, (_, i) => {
      const object = virtualService(1);
      return { ...object, metadata: { ...(object.metadata as JsonObject), name: `v${i}` } };
    });
    const made = mesh(...many);
    const settings = { ...on, env: { ...on.env, PILOT_STATUS_QPS: '2' } };
    const proxies = { accepted: [-1] };
    const { state } = start(made, proxies, { settings });
    expect(await made.time.until(() => state().objects.ConfigDistribution.size === 20, MINUTE)).toBe(true);
    const seq = state().seq;
    proxies.accepted = [ALL];
    await made.time.pass(9_000);
    const counted = (): number =>
      [...state().objects.ConfigDistribution.values()].filter(({ spec }) => (spec as { acked: number }).acked === 1)
        .length;
    expect([counted(), state().seq - seq <= 1]).toEqual([0, true]);
    expect(await made.time.until(() => counted() === 20, MINUTE)).toBe(true);
  });
});
