// Which ServiceEntries select or hold a workload: what the indexes find is what comparing with everything would find.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { type Labels, selects } from '../../../../src/core/base/labels.ts';
import { labelKeys, selectorKey, withoutTopology } from '../../../../src/core/model/selection.ts';
import type { Derivation, ProxyReader, Reader } from '../../../../src/core/query/reader.ts';
import { untrackedReader } from '../../../../src/core/query/untracked.ts';
import { reduce } from '../../../../src/core/reduce.ts';
import { proxySelectedBy } from '../../../../src/core/registry/proxy-workload.ts';
import { candidateEntries, entriesAt, selectingEntries } from '../../../../src/core/registry/selecting.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { parameters } from '../../../property/seed.ts';

const labels: fc.Arbitrary<Labels> = fc.dictionary(
  fc.constantFrom('app', 'env', 'version', 'topology.istio.io/network', 'topology.kubernetes.io/zone'),
  fc.constantFrom('a', 'b'),
);
/** More than are looked up one by one. */
const wide = labels.map((own): Labels => ({ ...own, ...MORE }));
const MORE: Labels = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, 'x']));
const named = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind,
  metadata: { name, namespace: 'ns' },
  spec,
});
const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3');
const ports = [{ number: 80, name: 'http', protocol: 'HTTP' }];

function worldOf(
  selectors: readonly Labels[],
  inline: readonly string[],
  workloads: readonly (readonly [Labels, string])[],
): Reader {
  const entry = (name: string, rest: JsonObject): JsonObject =>
    named('ServiceEntry', name, { hosts: [`${name}.example.com`], ports, resolution: 'STATIC', ...rest });
  const objects = [
    ...selectors.map((selector, i) => entry(`selecting-${i}`, { workloadSelector: { labels: selector } })),
    ...inline.map((ip, i) => entry(`inline-${i}`, { endpoints: [{ address: ip }] })),
    ...workloads.map(([own, ip], i) => named('WorkloadEntry', `we-${i}`, { address: ip, labels: own })),
  ];
  const state = objects.reduce<State>(
    (before, object, i) => reduce(before, { seq: i + 1, time: 0, source: 'file/Kubernetes', kind: 'Add', object })[0],
    emptyState,
  );
  expect(state.objects.ServiceEntry.size).toBe(selectors.length + inline.length);
  return untrackedReader(state);
}

describe('selection by index', () => {
  const world = fc.tuple(
    fc.array(labels, { maxLength: 5 }),
    fc.array(address, { maxLength: 3 }),
    fc.array(fc.tuple(labels, address), { maxLength: 5 }),
  );

  it('finds the ServiceEntries that select one of several workloads, whatever the topology', () => {
    fc.assert(
      fc.property(
        world,
        fc.array(fc.oneof(labels, wide), { maxLength: 3 }),
        ([selectors, inline, workloads], asked) => {
          const reader = worldOf(selectors, inline, workloads);
          const all = reader.objects('ServiceEntry', 'ns/').filter(({ spec }) => {
            const selector = spec.workloadSelector;
            return selector !== undefined && asked.some(one => selects(withoutTopology(selector.labels ?? {}), one));
          });
          expect(selectingEntries(reader, 'ns', asked)).toEqual(all);
        },
      ),
      parameters(100),
    );
  });

  it('finds every WorkloadEntry that a selector matches', () => {
    fc.assert(
      fc.property(world, labels, ([selectors, inline, workloads], selector) => {
        const reader = worldOf(selectors, inline, workloads);
        const means = ({ spec }: { readonly spec: { readonly labels?: Labels } }): boolean =>
          selects(selector, spec.labels ?? {});
        const all = reader.objects('WorkloadEntry', 'ns/').filter(means);
        expect(candidateEntries(reader, 'ns', selector).filter(means)).toEqual(all);
      }),
      parameters(100),
    );
  });

  it('finds the owners of an address, direct or by selection', () => {
    const reader = worldOf(
      [{ app: 'a' }, { app: 'b' }, {}],
      ['10.0.0.1', '10.0.0.2'],
      [
        [{ app: 'a' }, '10.0.0.1'],
        [{ app: 'b' }, '10.0.0.3'],
      ],
    );
    const names = (ips: readonly string[]): readonly string[] => entriesAt(reader, 'ns', ips).map(({ name }) => name);
    expect(names(['10.0.0.1'])).toEqual(['inline-0', 'selecting-0', 'selecting-2']);
    expect(names(['10.0.0.2'])).toEqual(['inline-1']);
    expect(names(['10.0.0.3'])).toEqual(['selecting-1', 'selecting-2']);
    expect(entriesAt(reader, 'other', ['10.0.0.1'])).toEqual([]);
  });

  it('does not index a label that is derived from another object', () => {
    expect(selectorKey({ 'topology.istio.io/network': 'n', version: 'v', app: 'a' })).toBe('app=a');
    expect(selectorKey({ 'topology.kubernetes.io/zone': 'z' })).toBe('');
    // What many have in common comes last.
    expect(selectorKey({ env: 'prod', name: 'a', 'example.com/team': 't' })).toBe('name=a');
    expect(selectorKey({ version: 'v1', env: 'prod' })).toBe('env=prod');
    expect(labelKeys({ 'topology.istio.io/cluster': 'c', b: '2', a: '1' })).toEqual(['a=1', 'b=2']);
    expect(withoutTopology({ 'topology.istio.io/cluster': 'c', b: '2' })).toEqual({ b: '2' });
  });
});

describe('a selector of a thousand labels', () => {
  const selector: Labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 'v']));

  it('has its labels listed once to find machines, while those with one of them are few', () => {
    let listed = 0;
    const counted = new Proxy(selector, {
      ownKeys: of => {
        listed++;
        return Reflect.ownKeys(of);
      },
    });
    const reader = worldOf([], [], [[{ k0: 'v' }, '10.0.0.1']]);
    for (let i = 0; i < 3; i++) {
      expect(candidateEntries(reader, 'ns', counted).map(({ name }) => name)).toEqual(['we-0']);
    }
    expect(listed).toBe(1);
  });

  it.each<[string, Labels, boolean, number]>([
    ['by its first labels when a proxy lacks one of them', { k1: 'v' }, false, 1],
    ['in parts when a proxy has all of them', { ...selector, other: 'x' }, true, 16],
    ['as far as the last when a proxy lacks that', { ...selector, k999: 'x' }, false, 16],
  ])('is decided %s', (_, labels, selected, questions) => {
    const names: string[] = [];
    const own = { derived: () => labels } as unknown as ProxyReader;
    const reader = {
      derived: (derivation: Derivation<boolean>) => {
        names.push(derivation.name);
        return derivation.run(own);
      },
    } as unknown as ProxyReader;
    expect(proxySelectedBy(reader, selector)).toBe(selected);
    expect(names).toHaveLength(questions);
    expect(Math.max(...names.map(name => name.length))).toBeLessThan(1_000);
  });
});
