// Endpoints of slices that are no pods, as workloads of ztunnel.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/workloads.go (endpointSlicesBuilder).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { sliceWorkloads } from '../../../../../src/core/select/ambient/slice-workloads.ts';
import type { AmbientWorkload } from '../../../../../src/core/select/ambient/workload.ts';
import { ask, inCluster, type WorldPart } from '../../../world.ts';
import { service, serviceEntry, slice } from '../../registry/fixtures.ts';
import { ambientWorld, namespace } from './fixtures.ts';

const bare = service('web', { selector: {} });
const endpoint = (ip: string, more: JsonObject = {}): JsonObject => ({ addresses: [ip], ...more });
const web = (endpoints: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  ...slice('web', []),
  endpoints,
  ...more,
});
const workloads = (parts: readonly WorldPart[], key = 'default/web-slice'): readonly AmbientWorkload[] =>
  ask(ambientWorld(parts), sliceWorkloads, key);
const addresses = (...parts: readonly WorldPart[]): unknown => workloads(parts).map(found => found.addresses);

describe('an endpoint of a slice', () => {
  it('is a workload of the network and the trust domain of its cluster', () => {
    const parts = [
      namespace('istio-system', { 'topology.istio.io/network': 'net1' }),
      bare,
      web([endpoint('10.3.0.1')]),
    ];
    const state = ambientWorld(parts, {}, { trustDomain: 'td1' });
    expect(ask(state, sliceWorkloads, 'default/web-slice')).toMatchObject([
      { addresses: ['10.3.0.1'], network: 'net1', trustDomain: 'td1', hostNetwork: true, serviceAccount: '' },
    ]);
  });
  it('is none of its own if it is a pod, whatever else the slice refers to', () => {
    const refers = (kind: string) => ({ targetRef: { kind, name: 'x', namespace: 'default' } });
    const endpoints = [
      endpoint('10.3.0.1', refers('Pod')),
      endpoint('10.3.0.2', refers('VirtualMachine')),
      endpoint('10.3.0.3'),
    ];
    expect(addresses(bare, web(endpoints))).toEqual([['10.3.0.2'], ['10.3.0.3']]);
  });
  it('is one workload with all of its addresses, named after the first', () => {
    const found = workloads([bare, web([{ addresses: ['10.3.0.1', '10.3.0.2'] }])]);
    expect(found.map(({ uid }) => uid)).toEqual([
      'Kubernetes/discovery.k8s.io/EndpointSlice/default/web-slice/10.3.0.1',
    ]);
    expect(found[0]?.addresses).toEqual(['10.3.0.1', '10.3.0.2']);
  });
  it('counts once if its first address is that of an earlier one', () => {
    const endpoints = [endpoint('10.3.0.1'), { addresses: ['10.3.0.1', '10.3.0.2'] }];
    expect(addresses(bare, web(endpoints))).toEqual([['10.3.0.1']]);
  });
  it.each<[JsonObject, boolean]>([
    [{}, true],
    [{ ready: true }, true],
    [{ ready: false }, false],
  ])('with conditions %j is healthy: %s', (conditions, healthy) => {
    expect(workloads([bare, web([endpoint('10.3.0.1', { conditions })])])[0]?.healthy).toBe(healthy);
  });
});

describe('a slice has no workloads', () => {
  const endpoints = [endpoint('10.3.0.1')];
  it('if it does not exist', () => {
    expect(workloads([bare], 'default/none')).toEqual([]);
  });
  it('if it names no Service', () => {
    const unnamed = web(endpoints, { metadata: { name: 'web-slice', namespace: 'default' } });
    expect(addresses(bare, service('undefined'), unnamed)).toEqual([]);
  });
  it('if its Service does not exist, or is another name of a host', () => {
    expect(addresses(web(endpoints))).toEqual([]);
    expect(addresses(service('web', { type: 'ExternalName', externalName: 'a.com' }), web(endpoints))).toEqual([]);
  });
  it('if only a ServiceEntry has the host of its Service', () => {
    expect(addresses(serviceEntry('web', { hosts: ['web.default.svc.cluster.local'] }), web(endpoints))).toEqual([]);
  });
  it('if its addresses are names, even such as look like an address', () => {
    expect(addresses(bare, web(endpoints, { addressType: 'FQDN' }))).toEqual([]);
  });
  it('if it is of another cluster', () => {
    expect(addresses(bare, inCluster('remote', web(endpoints)))).toEqual([]);
  });
});

it('a port of a slice belongs to the port of its Service with the same name, if it has a number and is TCP', () => {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'tcp', port: 81 },
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'all', port: 82 },
  ];
  const ofSlice = [
    { name: 'tcp', port: 9001, protocol: 'TCP' },
    { name: 'http', port: 9000 },
    { name: 'other', port: 9002, protocol: 'TCP' },
    { name: 'dns', port: 5353, protocol: 'UDP' },
    { name: 'all', protocol: 'TCP' },
  ];
  const found = workloads([service('web', { selector: {}, ports }), web([endpoint('10.3.0.1')], { ports: ofSlice })]);
  expect(found[0]?.services).toEqual([
    {
      name: 'default/web.default.svc.cluster.local',
      ports: [
        [81, 9001],
        [80, 9000],
      ],
    },
  ]);
});
