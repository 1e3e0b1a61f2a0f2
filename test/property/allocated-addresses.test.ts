// Allocation of addresses to ServiceEntries: unique, the same in every order of arrival, and kept once recorded.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../src/core/mesh/settings.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { allocatedAddresses, type HostAddress } from '../../src/core/registry/allocated-addresses.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { parameters } from './seed.ts';

/** Few places, so that hosts meet. */
const env = { PILOT_IP_AUTOALLOCATE_IPV4_PREFIX: '10.0.0.0/28', PILOT_IP_AUTOALLOCATE_IPV6_PREFIX: '2001:2::/124' };
const settings = settingsToJson({ ...defaultSettings, env });
const hosts = fc.constantFrom('a.com', 'b.com', 'c.com', '*.d.com');
const values = fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:2::1', '2001:2:0::2', '192.0.2.1');

interface Made {
  readonly name: string;
  readonly day: number;
  readonly hosts: readonly string[];
  readonly own: readonly string[];
  readonly given: readonly { readonly value: string; readonly host: string }[];
}

const made: fc.Arbitrary<readonly Made[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('e', 'f', 'g', 'h'),
    day: fc.integer({ min: 1, max: 2 }),
    hosts: fc.array(hosts, { minLength: 1, maxLength: 3 }),
    own: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(values, { maxLength: 1 }) },
    ),
    given: fc.array(fc.record({ value: values, host: hosts }), { maxLength: 2 }),
  }),
  { selector: ({ name }) => name, maxLength: 4 },
);

function objectOf({ name, day, hosts, own, given }: Made): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name, namespace: 'default', uid: name, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    spec: {
      hosts: hosts as Json,
      addresses: own as Json,
      resolution: own.length === 0 && hosts.every(host => host.startsWith('*')) ? 'DYNAMIC_DNS' : 'STATIC',
      ports: [{ name: 'http', number: 80, protocol: 'HTTP' }],
    },
    status: { addresses: given as Json },
  };
}

function allocated(all: readonly Made[]): ReadonlyMap<string, readonly HostAddress[]> {
  const facts: Unrecorded[] = [{ source: 'runtime', kind: 'Engine', settings }];
  for (const one of all) facts.push({ source: 'kube/Kubernetes', kind: 'Add', object: objectOf(one) });
  const { state } = foldFacts(facts);
  const tracker = new Tracker();
  const names = all.map(({ name }) => name).sort();
  return new Map(names.map(name => [name, tracker.get(state, undefined, allocatedAddresses, `default/${name}`)]));
}

describe('addresses that are allocated to ServiceEntries', () => {
  it('do not depend on the order in which the ServiceEntries came', () => {
    fc.assert(
      fc.property(made, all => {
        expect(allocated([...all].reverse())).toEqual(allocated(all));
      }),
      parameters(150),
    );
  });

  it('belong to one ServiceEntry each, and to no author', () => {
    fc.assert(
      fc.property(made, all => {
        const owner = new Map<string, string>();
        for (const { name, own } of all) for (const value of own) owner.set(value.replace('2:0::2', '2::2'), name);
        for (const [name, list] of allocated(all)) {
          for (const { value } of list.filter(({ value }) => value !== '192.0.2.1')) {
            const canonical = value.replace('2:0::2', '2::2');
            expect(owner.get(canonical) ?? name).toBe(name);
            owner.set(canonical, name);
          }
        }
      }),
      parameters(150),
    );
  });

  it('are given again to the same hosts once they are recorded', () => {
    fc.assert(
      fc.property(made, all => {
        const first = allocated(all);
        const recorded = all.map(one => ({ ...one, given: first.get(one.name) ?? [] }));
        expect(allocated(recorded)).toEqual(first);
      }),
      parameters(150),
    );
  });
});
