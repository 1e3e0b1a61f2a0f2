// Which ServiceEntries select or hold a workload: what the indexes find is what comparing with everything would find.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { type Labels, selects } from '../../../../src/core/base/labels.ts';
import { labelKeys, selectorKey, withoutTopology } from '../../../../src/core/model/selection.ts';
import type { Reader } from '../../../../src/core/query/reader.ts';
import { untrackedReader } from '../../../../src/core/query/untracked.ts';
import { reduce } from '../../../../src/core/reduce.ts';
import { candidateEntries, entriesAt, selectingEntries } from '../../../../src/core/registry/selecting.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { parameters } from '../../../property/seed.ts';

const labels: fc.Arbitrary<Labels> = fc.dictionary(
  fc.constantFrom('app', 'env', 'version', 'topology.istio.io/network', 'topology.kubernetes.io/zone'),
  fc.constantFrom('a', 'b'),
);
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
      fc.property(world, fc.array(labels, { maxLength: 3 }), ([selectors, inline, workloads], asked) => {
        const reader = worldOf(selectors, inline, workloads);
        const all = reader.objects('ServiceEntry', 'ns/').filter(({ spec }) => {
          const selector = spec.workloadSelector;
          return selector !== undefined && asked.some(one => selects(withoutTopology(selector.labels ?? {}), one));
        });
        expect(selectingEntries(reader, 'ns', asked)).toEqual(all);
      }),
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
