// Which Kubernetes services and ServiceEntries a machine's labels are looked up under.

import { describe, expect, it, vi } from 'vitest';
import type { Labels } from '../../../../src/core/base/labels.ts';
import { groupsSelecting } from '../../../../src/core/handlers/selecting-entries.ts';
import { servicesSelecting } from '../../../../src/core/handlers/selecting-services.ts';
import type { State } from '../../../../src/core/state.ts';
import { world } from '../../world.ts';
import { service, serviceEntry } from '../registry/fixtures.ts';

describe('services that select a workload', () => {
  const selectors: readonly Labels[] = [
    {},
    { app: 'web' },
    { app: 'web', v: '1' },
    { 'topology.istio.io/network': 'n' },
  ];
  const state = world(selectors.map((selector, i) => service(`s${i}`, { selector })));
  const found = (of: State, ...workloads: readonly Labels[]): readonly string[] =>
    servicesSelecting(of, 'Kubernetes', 'default', workloads)
      .map(({ name }) => name)
      .sort();

  it.each<readonly [Labels, readonly string[]]>([
    [{ app: 'web' }, ['s1']],
    [{ app: 'web', v: '1' }, ['s1', 's2']],
    [{ v: '1' }, []],
    [{ app: 'other', 'topology.istio.io/network': 'n' }, ['s3']],
    [{}, []],
  ])('with the labels %o are %o', (labels, names) => {
    expect(found(state, labels)).toEqual(names);
  });

  it('are those of any of several', () => {
    expect(found(state, { app: 'web' }, { 'topology.istio.io/network': 'n' })).toEqual(['s1', 's3']);
    expect(found(world([]), { app: 'web' })).toEqual([]);
  });

  it('are not looked through one by one', () => {
    const many = world(Array.from({ length: 100 }, (_, i) => service(`s${i}`, { selector: { app: 'vm', k: `${i}` } })));
    const table = many.objects.Service;
    let ranges = 0;
    const range: typeof table.range = prefix => {
      ranges++;
      return table.range(prefix);
    };
    const state = { objects: { Service: { range } } } as unknown as State;
    for (let i = 0; i < 100; i++) expect(found(state, { app: 'vm', k: `${i}` })).toEqual([`s${i}`]);
    expect(ranges).toBe(1);
  });
});

describe('ServiceEntries of which none selects a machine', () => {
  it('are not compared with each of thousands', () => {
    const labels = (i: number): Labels => ({ app: 'vm', [`k${i}`]: 'x' });
    const selecting = (i: number) =>
      serviceEntry(`e${i}`, { hosts: [`h${i}.com`], workloadSelector: { labels: labels(i) } });
    const { indexes, objects } = world(Array.from({ length: 100 }, (_, i) => selecting(i)));
    const state = { indexes, objects } as State;
    groupsSelecting(state, 'default', [{ app: 'vm' }]);
    const looks = vi.spyOn(Object, 'keys');
    expect(groupsSelecting(state, 'default', [{ app: 'vm' }])).toEqual([]);
    const { length } = looks.mock.calls;
    looks.mockRestore();
    expect(length).toBeLessThan(10);
  });

  it('are found for a machine with thousands of labels, each of which is looked up once', () => {
    const count = 2_000;
    const labels: Labels = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x']));
    const selecting = serviceEntry('e', { hosts: ['h.com'], workloadSelector: { labels: { k7: 'x', k8: 'x' } } });
    const { indexes, objects } = world([selecting, service('s', { selector: { k9: 'x' } })]);
    const state = { indexes, objects } as State;
    const looks = vi.spyOn(Map.prototype, 'get');
    const groups = groupsSelecting(state, 'default', [labels]);
    const services = servicesSelecting(state, 'Kubernetes', 'default', [labels]);
    const { length } = looks.mock.calls;
    looks.mockRestore();
    expect(groups.map(({ hosts }) => [...hosts])).toEqual([['h.com']]);
    expect(services.map(({ name }) => name)).toEqual(['s']);
    expect(length).toBeLessThan(2 * count);
  });
});
