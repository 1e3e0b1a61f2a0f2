// Which network a workload is in, which clusters name one, and the trust domain of each cluster.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { untrackedReader } from '../../../../src/core/query/untracked.ts';
import {
  meshConfigMapName,
  networkOf,
  REMOTE_MESH_CHARS_MAX,
  trustDomainIn,
} from '../../../../src/core/registry/clusters.ts';
import { ask, inCluster, type WorldPart, world } from '../../world.ts';
import { namespace } from './fixtures.ts';

const NETWORK = 'topology.istio.io/network';

describe('the network of a workload', () => {
  const found = (
    networks: JsonObject,
    address: string,
    { cluster = 'Kubernetes', labels = {}, parts = [] as readonly WorldPart[], systemNamespace = 'istio-system' } = {},
  ): string => {
    const state = world(parts, { networks: { networks }, settings: { systemNamespace } });
    return networkOf(untrackedReader(state), cluster, labels, address);
  };
  const range = (fromCidr: string): JsonObject => ({ endpoints: [{ fromCidr }] });
  const registry = (...names: readonly string[]): JsonObject => ({
    endpoints: names.map(fromRegistry => ({ fromRegistry })),
  });

  test('is that of its label before that of its cluster, of its registry, and of its address', () => {
    const system = namespace('istio-system', { labels: { [NETWORK]: 'of-cluster' } });
    const all = { a: range('10.0.0.0/8'), r: registry('Kubernetes') };
    const labels = { [NETWORK]: 'of-label' };
    expect(found(all, '10.0.0.1', { labels, parts: [system] })).toBe('of-label');
    expect(found(all, '10.0.0.1', { parts: [system] })).toBe('of-cluster');
    expect(found(all, '10.0.0.1')).toBe('r');
    expect(found(all, '10.0.0.1', { cluster: 'east' })).toBe('a');
    expect(found(all, '11.0.0.1', { cluster: 'east' })).toBe('');
    expect(found({}, '10.0.0.1')).toBe('');
  });

  test('is that of the system namespace of its own cluster, under the name that it has here', () => {
    const of = (name: string, network: string) => namespace(name, { labels: { [NETWORK]: network } });
    const parts = [of('istio-system', 'here'), of('shop', 'shop'), inCluster('east', of('istio-system', 'there'))];
    expect(found({}, '', { parts })).toBe('here');
    expect(found({}, '', { parts, cluster: 'east' })).toBe('there');
    expect(found({}, '', { parts, cluster: 'west' })).toBe('');
    expect(found({}, '', { parts, systemNamespace: 'shop' })).toBe('shop');
    expect(found({ r: registry('Kubernetes') }, '', { parts: [of('istio-system', '')] })).toBe('r');
  });

  test('of one registry or range in several networks is the first by name, in whichever order they are written', () => {
    expect(found({ b: registry('Kubernetes'), a: registry('east', 'Kubernetes') }, '')).toBe('a');
    expect(found({ b: range('10.0.0.0/8'), a: range('10.0.0.0/8') }, '10.0.0.1')).toBe('a');
    expect(found({ b: { endpoints: [{ fromRegistry: 'Kubernetes' }] }, a: {} }, '')).toBe('b');
  });

  test('is none for what is no address, or one with a zone, or of another family', () => {
    const networks = { four: range('0.0.0.0/0'), six: range('fe80::/10') };
    const addresses = ['', 'host.example.com', '10.0.0.1', 'fe80::1', 'fe80::1%eth0', '2001:db8::1'];
    expect(addresses.map(address => found(networks, address))).toEqual(['', '', 'four', 'six', '', '']);
  });
});

describe('the trust domain of a cluster', () => {
  const map = (name: string, mesh: string, where = 'istio-system'): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: where },
    data: { mesh },
  });
  const found = (parts: readonly WorldPart[], settings: Readonly<Record<string, string>> = {}, cluster = 'east') =>
    ask(world(parts, { mesh: { trustDomain: 'td' }, settings }), trustDomainIn, cluster);

  test('is that of the mesh for the config cluster, whatever a ConfigMap there says', () => {
    const parts = [map('istio', 'trustDomain: other')];
    expect(found(parts, {}, 'Kubernetes')).toBe('td');
    expect(found(parts)).toBe('td');
    expect(found([inCluster('Kubernetes', ...parts)], { clusterId: 'east' }, 'Kubernetes')).toBe('other');
  });

  test.each([
    ['', 'istio'],
    ['default', 'istio'],
    ['canary', 'istio-canary'],
  ])('is named by the ConfigMap of its revision "%s": %s', (revision, name) => {
    expect(meshConfigMapName(revision)).toBe(name);
    expect(found([inCluster('east', map(name, 'trustDomain: far'))], { revision })).toBe('far');
    expect(found([inCluster('east', map(`${name}-x`, 'trustDomain: far'))], { revision })).toBe('td');
  });

  test('is that of the line in a mesh configuration too long to be parsed', () => {
    const filler = '- {pem: x}\n'.repeat(REMOTE_MESH_CHARS_MAX / 10);
    const long = (line: string): string => `caCertificates:\n${filler}${line}\n`;
    const of = (mesh: string): string => found([inCluster('east', map('istio', mesh))]);
    expect(of(long('trustDomain: "far" # away'))).toBe('far');
    expect(of(long('  trustDomain: far'))).toBe('td');
    // What stands around the line is not looked at.
    expect(of(`a: [${long('trustDomain: far')}`)).toBe('far');
  });

  test('is that of the mesh where its own is empty, no text, or of another namespace', () => {
    for (const mesh of ['trustDomain: ""', 'trustDomain: 7', '[]', 'text']) {
      expect(found([inCluster('east', map('istio', mesh))])).toBe('td');
    }
    expect(found([inCluster('east', map('istio', 'trustDomain: far', 'shop'))])).toBe('td');
    expect(found([inCluster('east', map('istio', 'trustDomain: far', 'shop'))], { systemNamespace: 'shop' })).toBe(
      'far',
    );
    const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio', namespace: 'istio-system' } };
    expect(found([inCluster('east', { ...empty, data: { other: 'trustDomain: far' } })])).toBe('td');
  });
});
