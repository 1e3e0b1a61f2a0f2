// The pure parts that registry adapters share: pace, losses, names and labels.

import { describe, expect, it } from 'vitest';
import { heard } from '../../../src/adapters/consul/blocking.ts';
import { serviceOf } from '../../../src/adapters/consul/service.ts';
import { backoffMs } from '../../../src/adapters/kit/backoff.ts';
import { freshPace, GAP_MS_MAX, paced } from '../../../src/adapters/kit/pace.ts';
import { objectsOf, problemsOf, type RegistryService } from '../../../src/adapters/kit/registry-service.ts';
import { judgeLoss, noLosses } from '../../../src/adapters/kit/vanish-guard.ts';
import { definitionOf } from '../../../src/core/kinds/registry.ts';
import { healthOf } from '../../adapters/fake-consul.ts';

describe('the pace of questions', () => {
  const waits = (count: number, everyMs: number): readonly number[] => {
    let pace = freshPace(0);
    let now = 0;
    return Array.from({ length: count }, () => {
      const turn = paced(pace, now);
      pace = turn.pace;
      now += turn.waitMs + everyMs;
      return turn.waitMs;
    });
  };
  it('allows two at once, then slows down while they keep coming', () => {
    expect(waits(8, 0)).toEqual([0, 0, 1_000, 2_000, 4_000, 8_000, GAP_MS_MAX, GAP_MS_MAX]);
  });
  it('does not delay questions that come seldom', () => {
    expect(waits(5, 3_000)).toEqual([0, 0, 0, 0, 0]);
  });
});

describe('a loss of instances', () => {
  const at = (now: number, lost: number, left: number) => ({ now, holdMs: 60_000, lost, left });
  it('is held if it is most of at least ten', () => {
    expect(judgeLoss(noLosses, at(0, 10, 9)).isHeld).toBe(true);
    expect(judgeLoss(noLosses, at(0, 9, 0)).isHeld).toBe(false);
    expect(judgeLoss(noLosses, at(0, 10, 10)).isHeld).toBe(false);
  });
  it('adds up over a minute, so that services that vanish one by one are held too', () => {
    const first = judgeLoss(noLosses, at(0, 10, 20));
    expect(first.isHeld).toBe(false);
    expect(judgeLoss(first.guard, at(1_000, 10, 10)).isHeld).toBe(true);
    expect(judgeLoss(first.guard, at(61_000, 10, 10)).isHeld).toBe(false);
  });
});

it('doubles the backoff up to its bound, half of it by chance', () => {
  const bounds = { minMs: 100, maxMs: 1_000 };
  expect([1, 2, 3, 9].map(failures => backoffMs(failures, 0, bounds))).toEqual([50, 100, 200, 500]);
  expect(backoffMs(9, 0.999, bounds)).toBe(1_000);
});

describe('an index of Consul', () => {
  it.each([
    [0, '12', { next: 12, isCurrent: true }],
    [12, '12', { next: 12, isCurrent: true }],
    [12, '13', { next: 13, isCurrent: true }],
    [12, '11', { next: 0, isCurrent: false }],
    [0, '0', { next: 1, isCurrent: true }],
    [12, '0', { next: 0, isCurrent: false }],
    [0, undefined, { next: 1, isCurrent: true }],
    [0, 'nonsense', { next: 1, isCurrent: true }],
  ])('%s answered by %s', (sent, returned, expected) => {
    expect(heard(sent, returned)).toEqual(expected);
  });
});

const shop: RegistryService = {
  name: 'Shop_Front',
  host: 'shop.service.consul',
  ports: [{ name: 'http', number: 80, protocol: 'HTTP' }],
  instances: [
    { id: 'a', address: '10.0.0.1', ports: { http: 8080 }, labels: { version: 'v1', 'not a key': 'x', k: 'a b' } },
  ],
};
const place = { registry: 'consul', source: 'consul/dc1', namespace: 'default' };

describe('a service of a registry', () => {
  it('becomes objects that Istio accepts, with the legal labels', () => {
    const objects = objectsOf(shop, place);
    expect(objects.map(({ kind }) => kind)).toEqual(['ServiceEntry', 'WorkloadEntry']);
    for (const object of objects) {
      const decoded = definitionOf('networking.istio.io/v1', object.kind as string)?.decode(object);
      expect(decoded).toMatchObject({ _tag: 'Right' });
    }
    expect(objects[1]).toMatchObject({ metadata: { labels: { version: 'v1' } } });
    expect(JSON.stringify(objects[1])).not.toContain('not a key');
  });
  it('has one ServiceEntry in two datacenters, and instances of its own in each', () => {
    const [entry, workload] = objectsOf(shop, place);
    const [other, otherWorkload] = objectsOf(shop, { ...place, source: 'consul/dc2' });
    expect(other).toEqual(entry);
    expect(otherWorkload).not.toEqual(workload);
  });
  it('keeps two keys apart that are written as one name', () => {
    const names = ['shop-front', 'shop.front', 'shop_front'].map(name => objectsOf({ ...shop, name }, place)[0]);
    expect(new Set(names.map(object => JSON.stringify(object))).size).toBe(3);
  });
  it('is refused with every reason', () => {
    const problems = problemsOf({
      ...shop,
      host: 'a_b.service.consul',
      ports: [{ name: 'a b', number: 0, protocol: 'TCP' }],
    });
    expect(problems).toHaveLength(3);
  });
});

describe('a service of Consul', () => {
  const mapped = (...instances: readonly Parameters<typeof healthOf>[1][]) =>
    serviceOf(
      'web',
      instances.map(instance => healthOf('web', instance)),
      { domain: 'service.consul' },
    );

  it('has labels of tags and metadata, the locality of its datacenter, and the protocol of its metadata', () => {
    const service = mapped({
      id: 'a',
      port: 8080,
      tags: ['version|v1', 'zone=z'],
      meta: { zone: 'm', protocol: 'grpc' },
    });
    expect(service).toMatchObject({
      host: 'web.service.consul',
      ports: [{ name: 'grpc', number: 8080, protocol: 'GRPC' }],
      instances: [{ labels: { version: 'v1', zone: 'm' }, locality: 'dc1', ports: { grpc: 8080 } }],
    });
  });
  it('is TCP if its protocol is unknown or missing', () => {
    expect(mapped({ id: 'a', port: 1, meta: { protocol: 'carrier-pigeon' } })).toMatchObject({
      ports: [{ protocol: 'TCP' }],
    });
    expect(mapped({ id: 'a', port: 1 })).toMatchObject({ ports: [{ protocol: 'TCP' }] });
  });
  it('weighs a warning instance by its weight for warnings', () => {
    const weights = { Passing: 10, Warning: 0 };
    expect(mapped({ id: 'a', port: 1, weights, status: 'warning' })).toMatchObject({ instances: [{ weight: 0 }] });
  });
  it('leaves out the proxies of a Consul mesh', () => {
    expect(mapped({ id: 'a', port: 1, kind: 'connect-proxy' })).toBeUndefined();
  });
  it.each([null, {}, [1], [{ Node: {} }]])('reports an answer of another shape: %j', body => {
    expect(serviceOf('web', body as never, { domain: 'service.consul' })).toBeTypeOf('string');
  });
});
