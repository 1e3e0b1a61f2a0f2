// What a ztunnel gets that asks for addresses by name. Source of the rules: Istio pilot/pkg/xds/workload.go
// (generateDeltasOndemand), pilot/pkg/serviceregistry/ambient/ambientindex.go (Lookup).

import { describe, expect, it } from 'vitest';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { workloadsIn } from '../../../../src/core/select/ambient/workloads.ts';
import { resourceSources } from '../../../../src/xds/assemble/types.ts';
import { Engine } from '../../../../src/xds/engine/engine.ts';
import { WORKLOAD, WORKLOAD_ADDRESS } from '../../../../src/xds/session/types.ts';
import { pod, service, serviceEntry, workloadEntry } from '../../core/registry/fixtures.ts';
import { ambientWorld } from '../../core/select/ambient/fixtures.ts';
import { proxyOf, put, withObjects } from '../../world.ts';

const app = { labels: { app: 'web' } };
const state = ambientWorld([
  service('web', { clusterIP: '10.96.0.1' }),
  pod('a', '10.0.0.1', app),
  pod('b', '10.0.0.2'),
  pod('near', '10.0.0.3', { node: 'mine' }),
]);
const WEB = 'default/web.default.svc.cluster.local';
const at = (name: string): string => `Kubernetes//Pod/default/${name}`;

function ztunnel(node: string) {
  return proxyOf({
    id: 'ztunnel~10.9.9.9~z.istio-system~istio-system.svc.cluster.local',
    metadata: { NAMESPACE: 'istio-system', NODE_NAME: node },
  });
}

function namesOf(names: readonly string[], node = 'elsewhere', type = WORKLOAD_ADDRESS, of = state): readonly string[] {
  const set = new Engine(resourceSources).resourcesFor(of, ztunnel(node), type, { wildcard: false, names });
  return [...set!.versions.keys()];
}

describe('an address on demand is found', () => {
  it.each<[string, string, readonly string[]]>([
    ['by uid', at('b'), [at('b')]],
    ['by network and address', '/10.0.0.2', [at('b')]],
    ['by host, with its workloads', WEB, [at('a'), WEB]],
    ['by the address of a service, with its workloads', '/10.96.0.1', [at('a'), WEB]],
    ['not in another network', 'n/10.0.0.2', []],
  ])('%s', (_, name, expected) => {
    expect(namesOf([name])).toEqual(expected);
  });
  it('by the shortest text of an IPv6 address, however the object has it', () => {
    const of = ambientWorld([
      workloadEntry('vm', { address: 'FD00:0:0::1' }),
      serviceEntry('ext', { hosts: ['a.com'], addresses: ['FD00:0:0::2', 'fd01:0::/32'] }),
    ]);
    const asked = ['/fd00::1', '/fd00::2', '/fd01::/32'];
    expect(asked.map(name => namesOf([name], 'elsewhere', WORKLOAD_ADDRESS, of))).toEqual([
      ['Kubernetes/networking.istio.io/WorkloadEntry/default/vm'],
      ['default/a.com'],
      ['default/a.com'],
    ]);
  });
  it('and the workloads of the client’s node come without being asked for', () => {
    expect(namesOf([], 'mine')).toEqual([at('near')]);
    expect(namesOf([])).toEqual([]);
  });
  it('as a plain workload too', () => {
    expect(namesOf([WEB], 'elsewhere', WORKLOAD)).toEqual([at('a')]);
  });
});

it('ztunnels share one set, and a change makes one resource anew', () => {
  const engine = new Engine(resourceSources);
  const wildcard = { wildcard: true, names: [] };
  const hold = (of: typeof state, node: string) => engine.resourcesFor(of, ztunnel(node), WORKLOAD_ADDRESS, wildcard)!;
  const before = hold(state, 'n1');
  expect(hold(state, 'n2')).toBe(before);
  const after = hold(put(state, pod('b', '10.0.0.2', { ready: false })).state, 'n1');
  const changed = [...after.resources.values()].filter(made => before.resources.get(made.name) !== made);
  expect(changed.map(({ name }) => name)).toEqual([at('b')]);
});

it('a change makes the list of its own namespace anew', () => {
  const tracker = new Tracker();
  const far = pod('far', '10.1.0.1', { namespace: 'far' });
  const listsIn = (of: typeof state) =>
    ['default', 'far'].map(namespace => tracker.get(of, undefined, workloadsIn, namespace));
  const before = withObjects(state, far);
  const [own, other] = listsIn(before);
  const [ownAfter, otherAfter] = listsIn(put(before, pod('b', '10.0.0.2', { ready: false })).state);
  expect(ownAfter).not.toBe(own);
  expect(otherAfter).toBe(other);
});
