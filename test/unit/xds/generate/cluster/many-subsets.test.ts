// DestinationRules with more subsets than clusters are made of in one run.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { SUBSETS_TOGETHER } from '../../../../../src/core/select/scope/subsets.ts';
import type { State } from '../../../../../src/core/state.ts';
import { clusters, outwardClusters } from '../../../../../src/xds/assemble/cluster/resources.ts';
import { destinationRule } from '../../../core/registry/fixtures.ts';
import { ambientWorld } from '../../../core/select/ambient/fixtures.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { shop, waypointProxy } from '../../ambient/mesh.ts';

const WEB = 'web.shop.svc.cluster.local';
const rule = (count: number): JsonObject => {
  const subsets = Array.from({ length: count }, (_, i) => ({ name: `s${i}`, labels: { v: `${i}` } }));
  return destinationRule('r', WEB, { subsets }, { namespace: 'shop' });
};
const sidecar = proxyOf(nodeOf({ namespace: 'shop' }));
const subsetNames = (count: number): readonly string[] => ['', ...Array.from({ length: count }, (_, i) => `s${i}`)];
const several = 2 * SUBSETS_TOGETHER + 5;

/** Values that are looked up again while all clusters are made in slices of 60 runs. */
function lookUps(state: State, proxy: ProxyRecord): number {
  const tracker = new Tracker();
  while (tracker.within(60, () => tracker.get(state, proxy, clusters, '')).value === undefined);
  return tracker.stats.hits;
}

describe('clusters of a rule with many subsets', () => {
  it('are those of each port with each subset, in order', () => {
    const names = ask(world([...shop(), rule(several)]), outwardClusters, '', sidecar).map(({ name }) => name);
    const expected = [80, 9000, 7000].flatMap(port =>
      subsetNames(several).map(subset => `outbound|${port}|${subset}|${WEB}`),
    );
    expect(names.filter(name => name.endsWith(WEB))).toEqual(expected);
  });

  it('are those of each port, protocol and subset behind a waypoint', () => {
    const made = ask(ambientWorld([...shop(), rule(several)]), clusters, '', waypointProxy());
    const expected = ['80|http', '9000|tcp', '7000|http', '7000|tcp'].flatMap(target =>
      subsetNames(several).map(subset => `inbound-vip|${target}${subset === '' ? '' : `/${subset}`}|${WEB}`),
    );
    const names = made.map(({ name }) => name).filter(name => name.startsWith('inbound-vip|') && name.endsWith(WEB));
    expect(names).toEqual(expected.sort());
  });

  it.each([
    ['sidecar', (count: number) => lookUps(world([...shop(), rule(count)]), sidecar)],
    ['waypoint', (count: number) => lookUps(ambientWorld([...shop(), rule(count)]), waypointProxy())],
  ])('look up four times the values for four times the subsets when a %s is served in slices', (_, costOf) => {
    expect(costOf(512) / costOf(128)).toBeLessThan(5);
  });
});
