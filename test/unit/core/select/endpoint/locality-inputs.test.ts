// What of the locality and the labels of a proxy counts for a cluster.

import { describe, expect, it } from 'vitest';
import type { Endpoint, Service, TrafficDistribution } from '../../../../../src/core/model/service.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import type { LocalityLoadBalancerSetting } from '../../../../../src/core/schema/istio-types.gen.ts';
import {
  type LocalityInputs,
  localityInputs,
  noLocality,
} from '../../../../../src/core/select/endpoint/locality-inputs.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const AT = { region: 'r', zone: 'z', subzone: 's' };
const failover = [{ from: 'r', to: 'q' }];

interface Asked {
  /** It has neither labels nor a place. */
  readonly bare?: boolean;
  readonly detects?: boolean;
  readonly dns?: boolean;
  readonly subset?: boolean;
  readonly sniDnat?: boolean;
  readonly endpoints?: readonly Endpoint[];
  readonly trafficDistribution?: TrafficDistribution;
}

function inputs(setting: LocalityLoadBalancerSetting | undefined, asked: Asked = {}): LocalityInputs {
  const { bare = false, detects = true, endpoints = [{} as Endpoint] } = asked;
  const policy = {
    ...(setting && { loadBalancer: { localityLbSetting: setting } }),
    ...(detects && { outlierDetection: {} }),
  };
  const question = {
    service: { trafficDistribution: asked.trafficDistribution ?? 'Any' } as Service,
    subset: asked.subset ? { name: 'v1' } : undefined,
    policy,
    dns: asked.dns ?? false,
    sniDnat: asked.sniDnat ?? false,
  };
  const query: Query<'', LocalityInputs> = {
    name: 'test/localityInputs',
    run: reader => localityInputs(reader, question, endpoints),
  };
  const locality = { region: 'r', zone: 'z', sub_zone: 's' };
  const { id } = nodeOf() as { readonly id: string };
  const node = bare ? { id, metadata: { NAMESPACE: 'default' } } : { ...nodeOf({ labels: { app: 'web' } }), locality };
  return ask(world([]), query, '', proxyOf(node));
}

describe('localities count', () => {
  it('for shares, those of the entry that matches the proxy, whether or not errors are detected', () => {
    const distribute: LocalityLoadBalancerSetting['distribute'] & object = [
      { from: 'q/*', to: { q: 100 } },
      { from: 'r/z/*', to: { r: 80, q: 20 } },
      { from: 'r', to: { q: 100 } },
    ];
    for (const detects of [true, false]) {
      expect(inputs({ distribute }, { detects })).toEqual({
        ...noLocality,
        localityMode: 'distribute',
        distributeTo: { r: 80, q: 20 },
      });
    }
    expect(inputs({ distribute: distribute.slice(0, 1) })).toEqual(noLocality);
  });

  it('for failover by distance where errors are detected', () => {
    expect(inputs({ failover })).toEqual({ ...noLocality, localityMode: 'failover', failover, ...AT });
    expect(inputs({})).toEqual({ ...noLocality, localityMode: 'failover', ...AT });
    expect(inputs({ failover }, { detects: false })).toEqual(noLocality);
  });

  it('not at all without a setting or without endpoints', () => {
    expect(inputs({ failover }, { endpoints: [] })).toEqual(noLocality);
    expect(inputs({ enabled: false, failover })).toEqual(noLocality);
  });
});

describe('labels count', () => {
  const byLabels = { failoverPriority: ['topology.kubernetes.io/region', 'version', 'app=api', 'tier='] };
  const priority = {
    localityMode: 'priority',
    priorityKeys: ['topology.kubernetes.io/region', 'version', 'app', 'tier'],
    priorityValues: ['r', undefined, 'api', ''],
  };

  it('with the value of the proxy, or the value that is written', () => {
    expect(inputs(byLabels)).toEqual({ ...noLocality, ...priority });
  });

  it('before the distance, if there is a failover, too', () => {
    expect(inputs({ ...byLabels, failover })).toEqual({ ...noLocality, ...priority, failover, ...AT });
    expect(inputs({ ...byLabels, failover: [] })).toEqual({ ...noLocality, ...priority });
  });

  it('not for a proxy without labels, which fails over by distance alone', () => {
    expect(inputs(byLabels, { bare: true })).toEqual(noLocality);
    expect(inputs({ ...byLabels, failover }, { bare: true })).toMatchObject({ localityMode: 'failover', failover });
  });

  it.each<[Asked, boolean]>([
    [{ dns: true }, true],
    [{ dns: true, subset: true }, false],
    [{ dns: true, sniDnat: true }, false],
    [{ subset: true }, true],
    [{ sniDnat: true }, true],
  ])('for the cluster %j: %s', (asked, expected) => {
    expect(inputs(byLabels, asked).localityMode).toBe(expected ? 'priority' : 'none');
  });

  it('those of places, for a service that prefers endpoints in its zone', () => {
    expect(inputs(undefined, { trafficDistribution: 'PreferSameZone', detects: false })).toMatchObject({
      localityMode: 'priority',
      priorityValues: [undefined, 'r', 'z'],
    });
  });
});
