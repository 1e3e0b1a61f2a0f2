// Gateways of networks that are Services of the type NodePort: which of the nodes' addresses, and which ports.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { networkGateways } from '../../../../../src/core/select/endpoint/network.ts';
import { ask, world } from '../../../world.ts';
import { node, service } from '../../registry/fixtures.ts';

const SELECTOR = 'traffic.istio.io/nodeSelector';

const onNodes = (selector: string, spec: JsonObject = {}): JsonObject =>
  service(
    'gw',
    { type: 'NodePort', ports: [{ name: 'tls', port: 15_443, nodePort: 30_443 }], ...spec },
    { labels: { 'topology.istio.io/network': 'n2' }, annotations: { [SELECTOR]: selector } },
  );
const at = (name: string, region: string, ...addresses: readonly string[]): JsonObject => ({
  ...node(name, region, 'z'),
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      ...addresses.map(address => ({ type: 'ExternalIP', address })),
    ],
  },
});
const nodes = [at('a', 'r', '8.8.8.8', '2001:db8::8'), at('b', 'r', '', '9.9.9.9'), at('c', 's', '7.7.7.7')];
const of = (gateway: JsonObject): readonly string[] =>
  ask(world([gateway, ...nodes]), networkGateways, '').map(({ address, port }) => `${address} ${port}`);

describe('a gateway on node ports', () => {
  test('is at the first external address of each selected node', () => {
    expect(of(onNodes('{"topology.kubernetes.io/region":"r"}'))).toEqual(['8.8.8.8 30443', '9.9.9.9 30443']);
  });
  test.each(['', '{}', 'no json'])('is on every node with the selector %o', selector => {
    expect(of(onNodes(selector))).toEqual(['7.7.7.7 30443', '8.8.8.8 30443', '9.9.9.9 30443']);
  });
  test('is at the external IPs of its Service, if it has any', () => {
    expect(of(onNodes('{}', { externalIPs: ['192.0.2.1'] }))).toEqual(['192.0.2.1 30443']);
  });
});
