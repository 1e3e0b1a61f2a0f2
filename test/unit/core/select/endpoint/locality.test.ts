// Which settings decide how a cluster treats localities.

import { describe, expect, it } from 'vitest';
import type { TrafficDistribution } from '../../../../../src/core/model/service.ts';
import type { LocalityLoadBalancerSetting } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { ClusterPolicy } from '../../../../../src/core/select/cluster/traffic-policy.ts';
import { localityChoice, weighsLocalities } from '../../../../../src/core/select/endpoint/locality.ts';
import { localityMatches } from '../../../../../src/core/select/endpoint/locality-inputs.ts';

const failover = [{ from: 'a', to: 'b' }];
const distribute = [{ from: 'a', to: { b: 100 } }];
const detects = { outlierDetection: {} };

function choice(
  own: LocalityLoadBalancerSetting | undefined,
  distribution: TrafficDistribution,
  mesh: LocalityLoadBalancerSetting | undefined,
  more: Partial<ClusterPolicy> = {},
) {
  return localityChoice({ ...(own && { loadBalancer: { localityLbSetting: own } }), ...more }, distribution, mesh);
}

describe('the locality settings of a cluster', () => {
  it('are those of its rule, then the traffic distribution of the service, then those of the mesh', () => {
    expect(choice({ failover }, 'PreferSameZone', { distribute })).toMatchObject({ failover, distribute: undefined });
    expect(choice(undefined, 'PreferSameZone', { distribute })).toEqual({
      distribute: undefined,
      failover: undefined,
      failoverPriority: ['topology.istio.io/network', 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone'],
      failoverActive: true,
    });
    expect(choice(undefined, 'Any', { distribute })).toMatchObject({ failover: undefined, distribute });
    expect(choice(undefined, 'Any', undefined)).toBeUndefined();
  });

  it('are switched off by the rule for a service with a traffic distribution, too, and by the mesh', () => {
    expect(choice({ enabled: false, failover }, 'PreferSameZone', { distribute })).toBeUndefined();
    expect(choice(undefined, 'Any', { enabled: false, distribute })).toBeUndefined();
    expect(choice({ enabled: true, failover }, 'Any', { enabled: false })).toMatchObject({ failover });
  });

  it('fail over only where errors are detected, or by the traffic distribution', () => {
    expect(choice({ failover }, 'Any', undefined)?.failoverActive).toBe(false);
    expect(choice({ failover }, 'Any', undefined, detects)?.failoverActive).toBe(true);
    expect(localityChoice(undefined, 'Any', { failover })?.failoverActive).toBe(false);
  });
});

describe('the localities of a cluster are weighed', () => {
  it.each<[string, Parameters<typeof weighsLocalities>[0], boolean]>([
    ['not without settings', undefined, false],
    ['for shares', choice({ distribute }, 'Any', undefined), true],
    ['not for a failover without detection', choice({ failover }, 'Any', undefined), false],
    ['for a failover with detection', choice({ failover }, 'Any', undefined, detects), true],
    ['for a failover by labels', choice({ failoverPriority: ['x'] }, 'Any', undefined, detects), true],
    ['not for nothing with detection', choice({ failover: [], distribute: [] }, 'Any', undefined, detects), false],
    ['for a traffic distribution', choice(undefined, 'PreferSameNode', undefined), true],
  ])('%s', (_what, settings, expected) => {
    expect(weighsLocalities(settings)).toBe(expected);
  });
});

describe('the pattern of a locality', () => {
  const at = { region: 'r', zone: 'z', subzone: 's' };
  it.each([
    ['r', true],
    ['r/z', true],
    ['r/z/s', true],
    ['*', true],
    ['r/*', true],
    ['r/z/*', true],
    ['*/z/s', true],
    ['', false],
    ['q', false],
    ['r/y', false],
    ['r/z/t', false],
    ['r/*/t', false],
    ['*/y', false],
  ])('%s matches a place in its zone: %s', (pattern, expected) => {
    expect(localityMatches(pattern, at)).toBe(expected);
  });
});
