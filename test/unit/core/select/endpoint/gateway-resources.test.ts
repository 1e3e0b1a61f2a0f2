// Gateways of the Gateway API as gateways of networks.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { gatewayNames, namedNetworkGateways } from '../../../../../src/core/select/endpoint/network.ts';
import { ask, inCluster, type WorldPart, world } from '../../../world.ts';

const NETWORK = 'topology.istio.io/network';
const passthrough: JsonObject = {
  name: 'tls',
  port: 15_443,
  protocol: 'TLS',
  tls: { mode: 'Passthrough', options: { 'gateway.istio.io/listener-protocol': 'auto-passthrough' } },
};
const hbone: JsonObject = { name: 'hbone', port: 15_008, protocol: 'HBONE' };

interface Options {
  readonly name?: string;
  readonly gatewayClassName?: string;
  readonly listeners?: readonly JsonObject[];
  readonly addresses?: readonly JsonObject[];
  readonly annotations?: JsonObject;
  readonly network?: string;
}

function gateway(options: Options = {}): JsonObject {
  const { name = 'gw', gatewayClassName = 'istio', listeners = [passthrough], annotations = {} } = options;
  const { addresses = [{ type: 'IPAddress', value: '192.0.2.1' }], network = 'n2' } = options;
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'edge', labels: { [NETWORK]: network }, annotations },
    spec: { gatewayClassName, listeners, addresses },
  };
}

const gateways = (parts: readonly WorldPart[], value = 'true') =>
  ask(
    world(parts, { settings: { env: { PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: value } } }),
    namedNetworkGateways,
    '',
  );

/** As the adapter of a remote cluster hands it on. */
const remote = (object: JsonObject) =>
  inCluster('remote', { ...object, apiVersion: 'periplus.internal/v1', kind: 'RemoteGateway' });

const ONE = { network: 'n2', cluster: 'Kubernetes', address: '192.0.2.1', port: 15_443, hbonePort: 0 };

describe('a Gateway with the label of a network', () => {
  it('is a gateway of it, unless they are not to be discovered', () => {
    expect(gateways([gateway()])).toEqual([{ ...ONE, serviceAccount: 'edge/gw' }]);
    expect(gateways([gateway()], 'false')).toEqual([]);
  });

  it('is one for each of its addresses and listeners that lead to other networks', () => {
    const plain = { name: 'http', port: 80, protocol: 'HTTP' };
    const ends = {
      name: 'https',
      port: 443,
      protocol: 'HTTPS',
      tls: { mode: 'Terminate', certificateRefs: [{ name: 'c' }] },
    };
    const addresses = [
      { type: 'IPAddress', value: '192.0.2.1' },
      { type: 'Hostname', value: 'gw.example.com' },
      { type: 'example.com/other', value: 'x' },
    ];
    const found = gateways([gateway({ listeners: [plain, ends, passthrough, hbone], addresses })]);
    expect(found.map(({ address, port, hbonePort }) => [address, port, hbonePort])).toEqual([
      ['192.0.2.1', 15_008, 15_008],
      ['192.0.2.1', 15_443, 0],
      ['gw.example.com', 15_008, 15_008],
      ['gw.example.com', 15_443, 0],
    ]);
  });

  it('stands in the cluster where it is written', () => {
    expect(gateways([remote(gateway())])).toEqual([{ ...ONE, cluster: 'remote', serviceAccount: 'edge/gw' }]);
  });

  it('of the class for elsewhere counts in the config cluster alone, with an account named after the class', () => {
    const elsewhere = gateway({ gatewayClassName: 'istio-remote' });
    expect(gateways([elsewhere])).toEqual([{ ...ONE, serviceAccount: 'edge/gw-istio-remote' }]);
    expect(gateways([remote(elsewhere)])).toEqual([]);
  });

  it('has the account that its annotation names', () => {
    const annotations = { 'gateway.istio.io/service-account': 'named' };
    for (const gatewayClassName of ['istio', 'istio-remote']) {
      expect(gateways([gateway({ annotations, gatewayClassName })])[0]?.serviceAccount).toBe('edge/named');
    }
  });
});

describe('the gateways of networks', () => {
  const at = (name: string, network: string, value: string, listeners = [passthrough]): JsonObject =>
    gateway({ name, network, addresses: [{ type: 'IPAddress', value }], listeners });

  it('are sorted by network, cluster, address and port', () => {
    const second = { ...passthrough, name: 'more', port: 15_444 };
    const found = gateways([
      at('d', 'n3', '192.0.2.1'),
      remote(at('b', 'n2', '192.0.2.1')),
      at('c', 'n2', '192.0.2.3', [second, passthrough]),
      at('a', 'n2', '192.0.2.2'),
    ]);
    expect(found.map(({ network, cluster, address, port }) => `${network} ${cluster} ${address} ${port}`)).toEqual([
      'n2 Kubernetes 192.0.2.2 15443',
      'n2 Kubernetes 192.0.2.3 15443',
      'n2 Kubernetes 192.0.2.3 15444',
      'n2 remote 192.0.2.1 15443',
      'n3 Kubernetes 192.0.2.1 15443',
    ]);
  });

  it('have names to be resolved, sorted, each once', () => {
    const named = (name: string, value: string) =>
      gateway({ name, addresses: [{ type: 'Hostname', value }], network: name });
    const state = world([named('a', 'z.example.com'), named('b', 'a.example.com'), named('c', 'z.example.com')]);
    expect(ask(state, gatewayNames, '')).toEqual(['a.example.com', 'z.example.com']);
  });
});
