// Which Gateways lead ztunnel to other networks, and the workloads that they are there.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/networks.go (localK8sGatewayToNetworkGateways),
// pilot/pkg/serviceregistry/ambient/workloads.go (convertGateway, getNetworkGatewayAddress).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { gatewayWorkloads } from '../../../../../src/core/select/ambient/gateway-workloads.ts';
import { ambientGateways, gatewayOfNetwork } from '../../../../../src/core/select/ambient/network-gateways.ts';
import { ask, world } from '../../../world.ts';
import { ambientWorld, type GatewayOptions, hbone, waypoint } from './fixtures.ts';

const address = (value: string): JsonObject => ({ type: 'IPAddress', value });

function remote(name: string, network: string, more: GatewayOptions = {}): JsonObject {
  const labels = { 'topology.istio.io/network': network };
  return waypoint(name, { gatewayClass: 'istio-remote', labels, addresses: [address('9.9.9.9')], ...more });
}
/** `network address:port` of each. */
const targets = (...gateways: readonly JsonObject[]): readonly string[] =>
  ask(ambientWorld(gateways), ambientGateways, '').map(one => `${one.network} ${one.address}:${one.port}`);

describe('a Gateway leads to its network', () => {
  it('by each address and host name of its status, on the port that takes HBONE', () => {
    const addresses = [address('9.9.9.9'), { type: 'Hostname', value: 'far.example' }];
    const listeners = [
      { name: 'web', port: 80, protocol: 'HTTP' },
      { ...hbone(), port: 15009 },
    ];
    expect(targets(remote('far', 'n2', { addresses, listeners }))).toEqual([
      'n2 9.9.9.9:15009',
      'n2 far.example:15009',
    ]);
  });

  it.each<[string, JsonObject]>([
    ['of another class', remote('far', 'n2', { gatewayClass: 'istio-east-west' })],
    ['without a listener for HBONE', remote('far', 'n2', { listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] })],
    ['without the label of a network', remote('far', '')],
    ['with an address of another type', remote('far', 'n2', { addresses: [{ type: 'NamedAddress', value: 'a' }] })],
    ['with an address without a type', remote('far', 'n2', { addresses: [{ value: '9.9.9.9' }] })],
    ['without addresses', remote('far', 'n2', { addresses: [] })],
  ])('unless it is one %s', (_, gateway) => {
    expect(targets(gateway)).toEqual([]);
  });
});

it('what is in a network is reached through its first gateway by namespace and name', () => {
  const gateways = [
    remote('b', 'n2', { addresses: [address('2.2.2.2')] }),
    remote('a', 'n3', { addresses: [address('3.3.3.3')] }),
    remote('c', 'n2', { addresses: [address('4.4.4.4')] }),
  ];
  const state = ambientWorld(gateways);
  expect(['n2', 'n3', 'n4'].map(network => ask(state, gatewayOfNetwork, network)?.address)).toEqual([
    '2.2.2.2',
    '3.3.3.3',
    undefined,
  ]);
});

describe('a gateway of a network is a workload', () => {
  const named = remote('named', 'n3', { addresses: [{ type: 'Hostname', value: 'far.example' }] });
  it('at its address, or of its host name', () => {
    const found = ask(ambientWorld([remote('far', 'n2'), named]), gatewayWorkloads, '');
    expect(found.map(({ uid, name, addresses, hostname }) => [uid, name, addresses, hostname])).toEqual([
      ['NetworkGateway/n2/9.9.9.9/15008', 'NetworkGateway/n2/9.9.9.9/15008', ['9.9.9.9'], ''],
      ['NetworkGateway/n3/far.example/15008', 'NetworkGateway/n3/far.example/15008', [], 'far.example'],
    ]);
  });

  it('in the trust domain of the mesh, in ambient mode alone', () => {
    const found = ask(ambientWorld([named], {}, { trustDomain: 'td' }), gatewayWorkloads, '');
    expect(found.map(({ trustDomain }) => trustDomain)).toEqual(['td']);
    expect(ask(world([named]), gatewayWorkloads, '')).toEqual([]);
  });
});
