// Services that ztunnel knows: which of several objects with one host counts, and which select workloads.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/services.go (ServicesCollection).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { untrackedReader } from '../../../../../src/core/query/untracked.ts';
import type { AmbientService } from '../../../../../src/core/select/ambient/service.ts';
import {
  ambientServiceNamed,
  ambientServices,
  ambientServicesOfHost,
  selectingServices,
  servicesOwnedBy,
} from '../../../../../src/core/select/ambient/services.ts';
import { ask, inCluster, type WorldPart, world } from '../../../world.ts';
import { service, serviceEntry } from '../../registry/fixtures.ts';
import { ambientWorld } from './fixtures.ts';

const WEB = 'web.default.svc.cluster.local';
const entry = (name: string, hosts: readonly string[], meta: { day?: number; namespace?: string } = {}): JsonObject =>
  serviceEntry(name, { hosts }, meta);
const namesOf = (services: readonly AmbientService[]): readonly string[] =>
  services.map(({ namespace, hostname, name }) => `${namespace}/${hostname} of ${name}`);

describe('the services of a mesh', () => {
  it('are those of its Services and ServiceEntries, by host and then by namespace', () => {
    const state = ambientWorld([
      service('web', {}, { namespace: 'b' }),
      entry('ext', ['z.com', 'a.com'], { namespace: 'b' }),
      entry('ext', ['a.com'], { namespace: 'a' }),
    ]);
    expect(namesOf(ask(state, ambientServices, ''))).toEqual([
      'a/a.com of ext',
      'b/a.com of ext',
      'b/web.b.svc.cluster.local of web',
      'b/z.com of ext',
    ]);
  });
  it('do not have the Services of other clusters', () => {
    const state = ambientWorld([inCluster('remote', service('web'))]);
    expect(ask(state, ambientServices, '')).toEqual([]);
    expect(ask(state, selectingServices, 'default')).toEqual([]);
  });
  it('are none where ambient mode is off', () => {
    const parts = [service('web'), entry('ext', ['a.com'])];
    expect(ask(world(parts), ambientServices, '')).toEqual([]);
    expect(ask(world(parts), ambientServicesOfHost, 'a.com')).toEqual([]);
    expect(ask(world(parts), selectingServices, 'default')).toEqual([]);
  });
});

describe('the service of a host in a namespace', () => {
  const named = (key: string, ...parts: readonly WorldPart[]): string | undefined =>
    ask(ambientWorld(parts), ambientServiceNamed, key)?.name;
  it('is the Service before an older ServiceEntry', () => {
    expect(named(`default/${WEB}`, entry('old', [WEB]), service('web', {}, { day: 9 }))).toBe('web');
  });
  it('is that of its own namespace', () => {
    expect(named('b/a.com', entry('x', ['a.com'], { namespace: 'a' }), entry('y', ['a.com'], { namespace: 'b' }))).toBe(
      'y',
    );
    expect(named('b/a.com', entry('x', ['a.com'], { namespace: 'a' }))).toBeUndefined();
  });
  it('is that of the oldest ServiceEntry, and of the first by name among those of one age', () => {
    expect(named('default/a.com', entry('a', ['a.com'], { day: 2 }), entry('b', ['a.com']))).toBe('b');
    expect(named('default/a.com', entry('b', ['a.com']), entry('a', ['a.com']))).toBe('a');
  });
});

describe('a ServiceEntry', () => {
  const owned = (one: JsonObject, ...others: readonly JsonObject[]): readonly string[] => {
    const reader = untrackedReader(ambientWorld([one, ...others]));
    const { name, namespace } = one.metadata as { readonly name: string; readonly namespace: string };
    return namesOf(servicesOwnedBy(reader, reader.object('ServiceEntry', `${namespace}/${name}`)!));
  };
  it('keeps the hosts that no older one of its namespace has', () => {
    const others = [entry('old', ['a.com']), entry('old', ['b.com'], { namespace: 'other' })];
    expect(owned(entry('young', ['b.com', 'a.com'], { day: 2 }), ...others)).toEqual(['default/b.com of young']);
  });
  it('loses the host of a Service of its namespace, even one of its own name', () => {
    expect(owned(entry('web', [WEB]), service('web', {}, { day: 9 }))).toEqual([]);
  });
});

describe('the services that select workloads of a namespace', () => {
  it('are its own with a selector', () => {
    const selecting = (name: string, namespace: string): JsonObject =>
      serviceEntry(name, { hosts: [`${name}.com`], workloadSelector: { labels: { app: name } } }, { namespace });
    const state = ambientWorld([
      service('web'),
      service('bare', { selector: {} }),
      service('web', {}, { namespace: 'other' }),
      service('alias', { type: 'ExternalName', externalName: 'a.com', selector: { app: 'x' } }),
      selecting('vm', 'default'),
      selecting('far', 'other'),
      entry('plain', ['plain.com']),
    ]);
    expect(namesOf(ask(state, selectingServices, 'default'))).toEqual([
      `default/${WEB} of web`,
      'default/vm.com of vm',
    ]);
  });
});
