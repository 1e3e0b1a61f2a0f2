import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { clusterNamed } from '../../../../../src/xds/assemble/cluster/resources.ts';
import { endpointPieces, endpointsOf } from '../../../../../src/xds/assemble/endpoint/resources.ts';
import { Scene, sidecarNode } from '../route/scene.ts';
import { clustersOf, HTTP_PORT, rule, slice, workload } from './cluster-scene.ts';

const COUNT = 12;

function scene(): Scene {
  const objects: JsonObject[] = [];
  for (let i = 0; i < COUNT; i++) objects.push(...workload(`web${i}`, 'default', `10.0.1.${i + 1}`, [HTTP_PORT]));
  const made = new Scene(objects);
  made.connect('a', sidecarNode('default', { LABELS: { app: 'a' } }));
  made.connect('b', sidecarNode('default', { LABELS: { app: 'b' } }));
  return made;
}

const host = (i: number) => `outbound|80||web${i}.default.svc.cluster.local`;

function changed(before: ReturnType<typeof clustersOf>, after: ReturnType<typeof clustersOf>): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter(name => before.get(name) !== after.get(name)).sort();
}

describe('sharing of clusters', () => {
  it('gives proxies with the same view the same object', () => {
    const made = scene();
    const forA = clustersOf(made, 'a');
    const runs = made.tracker.stats.generated;
    expect(changed(forA, clustersOf(made, 'b'))).toEqual([]);
    expect(made.tracker.stats.generated).toBe(runs);
  });

  it('gives proxies of other namespaces the same object without evaluating it again', () => {
    const made = scene();
    made.connect('far', sidecarNode('elsewhere', { LABELS: { app: 'far' } }));
    const near = clustersOf(made, 'a');
    const runs = made.tracker.stats.runs;
    expect(changed(near, clustersOf(made, 'far'))).toEqual([]);
    expect(made.tracker.stats.runs - runs).toBeLessThan(3 * COUNT);
    made.put({ ...rule('web3', { exportTo: ['.'], trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }) });
    expect(changed(clustersOf(made, 'a'), clustersOf(made, 'far'))).toEqual([host(3)]);
  });

  it('gives by name the same objects as in the full set', () => {
    const made = scene();
    made.put(rule('web3', { subsets: [{ name: 'v1', labels: { version: 'v1' } }] }));
    const all = clustersOf(made, 'a');
    expect(all.size).toBeGreaterThan(COUNT + 1);
    for (const [name, cluster] of all) {
      const named = made.tracker.get(made.state, made.state.proxies.get('a'), clusterNamed, name);
      expect(named, name).toBe(cluster);
    }
  });

  it('rebuilds only the service whose rule changes', () => {
    const made = scene();
    const before = clustersOf(made, 'a');
    made.put(rule('web3', { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }));
    expect(changed(before, clustersOf(made, 'a'))).toEqual([host(3)]);
  });

  it('does not depend on endpoints of EDS services', () => {
    const made = scene();
    const before = clustersOf(made, 'a');
    made.put({
      ...slice('web3', 'default', '10.0.1.4', [HTTP_PORT]),
      endpoints: [{ addresses: ['10.0.7.7'], conditions: {} }],
    });
    const after = clustersOf(made, 'a');
    // The endpoint that left took its service account with it; nothing else may have moved.
    expect(changed(before, after)).toEqual([host(3)]);
    made.put({
      ...slice('web3', 'default', '10.0.1.4', [HTTP_PORT]),
      endpoints: [{ addresses: ['10.0.7.8'], conditions: {} }],
    });
    expect(changed(after, clustersOf(made, 'a'))).toEqual([]);
  });

  it('ignores a rule for an unknown host', () => {
    const made = scene();
    const before = clustersOf(made, 'a');
    made.put(rule('nobody.example.com', { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }));
    expect(changed(before, clustersOf(made, 'a'))).toEqual([]);
  });

  it('separates the workloads that a rule selects from the others', () => {
    const made = scene();
    const selector = { workloadSelector: { matchLabels: { app: 'a' } } };
    made.put(rule('web3', { ...selector, trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }));
    expect(changed(clustersOf(made, 'a'), clustersOf(made, 'b'))).toEqual([host(3)]);
  });
});

describe('sharing of assignments', () => {
  it('gives for many names what it gives for each', () => {
    const made = scene();
    made.put(rule('web3', { subsets: [{ name: 'v1', labels: { version: 'v1' } }] }));
    const names = [host(1), 'outbound|80|v1|web3.default.svc.cluster.local', 'nonsense', host(COUNT), host(3)];
    const proxy = made.state.proxies.get('a');
    const list: Query<'', readonly unknown[]> = {
      name: 'all',
      run: reader => reader.selectEach(endpointPieces.each, endpointPieces.list(reader, names)),
    };
    const all = made.tracker.get(made.state, proxy, list, '');
    const each: readonly unknown[] = names.map(name => made.tracker.get(made.state, proxy, endpointsOf, name));
    expect(all).toEqual(each.filter(made => made !== undefined));
    expect(all.every(one => each.includes(one))).toBe(true);
    // Over state of the world the two names that are no services have assignments too.
    expect(all).toHaveLength(5);
  });

  const assignmentOf = (made: Scene, connection: string, i: number) =>
    made.tracker.get(made.state, made.state.proxies.get(connection), endpointsOf, host(i));

  it('gives proxies with the same view the same object, and rebuilds one alone', () => {
    const made = scene();
    const three = assignmentOf(made, 'a', 3);
    const four = assignmentOf(made, 'a', 4);
    expect(assignmentOf(made, 'b', 3)).toBe(three);
    made.put({ ...slice('web3', 'default', '10.0.1.4', [HTTP_PORT]), endpoints: [] });
    expect(assignmentOf(made, 'a', 3)).not.toBe(three);
    expect(assignmentOf(made, 'a', 4)).toBe(four);
  });

  it('spans proxies of different zones until localities matter', () => {
    const made = scene();
    const zoned = (zone: string): JsonObject => ({ ...sidecarNode('default'), locality: { region: 'r', zone } });
    made.connect('east', zoned('east'));
    made.connect('west', zoned('west'));
    expect(assignmentOf(made, 'east', 3)).toBe(assignmentOf(made, 'west', 3));
  });
});
