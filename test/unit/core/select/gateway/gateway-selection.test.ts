// Which Gateways a router has, and the ports of each.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { type GatewayChoice, gatewayChoices } from '../../../../../src/core/select/gateway/gateway-selection.ts';
import { istio, routerNode, Scene, service } from '../../../xds/generate/route/scene.ts';

const choicesOf: Query<'', readonly GatewayChoice[]> = {
  name: 'test/gatewayChoices',
  run: reader => reader.derived(gatewayChoices),
};

const EDGE = 'gw.edge.svc.cluster.local';
const gateway = (numbers: readonly number[], annotations: JsonObject = {}, more: JsonObject = {}): JsonObject =>
  istio(
    'Gateway',
    'edge',
    'a',
    {
      selector: { istio: 'ingressgateway' },
      servers: numbers.map((number, i) => ({
        port: { number, name: `p${i}`, protocol: 'HTTP' },
        hosts: [`h${i}.com`],
      })),
      ...more,
    },
    { annotations },
  );
const own = (name: string, ports: readonly JsonObject[], namespace = 'edge'): JsonObject =>
  service(name, namespace, { clusterIP: '10.96.0.9', selector: { istio: 'ingressgateway' }, ports });
const tcp = (port: number, targetPort: number): JsonObject => ({ name: `tcp-${port}`, port, targetPort });
const udp = (port: number): JsonObject => ({ name: `udp-${port}`, port, protocol: 'UDP' });

function choices(objects: readonly JsonObject[], env: Readonly<Record<string, string>> = {}): readonly GatewayChoice[] {
  const scene = new Scene(objects, { env });
  scene.connect('gw', routerNode('edge'));
  return scene.tracker.get(scene.state, scene.state.proxies.get('gw')!, choicesOf, '');
}

describe('the Gateways of a router', () => {
  it('are none if none selects it', () => {
    expect(choices([gateway([80], {}, { selector: { istio: 'other' } })])).toEqual([]);
  });

  it('have the ports that its services lead to, and their own numbers where none does', () => {
    expect(choices([own('gw', [tcp(80, 8080), tcp(81, 8081)]), gateway([80, 90, 80])])).toEqual([
      { key: 'edge/a', ports: { 80: [8080], 90: [90] }, udp: [] },
    ]);
  });

  it('chosen for a Service have the ports of that Service alone', () => {
    const chosen = gateway([80, 90], { 'internal.istio.io/gateway-service': EDGE });
    expect(choices([own('gw', [tcp(80, 8080), tcp(81, 8081)]), chosen])).toEqual([
      { key: 'edge/a', ports: { 80: [8080], 90: [] }, udp: [] },
    ]);
  });

  it('chosen for a Service are for its proxies alone', () => {
    const chosen = gateway([80], { 'internal.istio.io/gateway-service': 'other.edge.svc.cluster.local' });
    expect(choices([own('gw', [tcp(80, 8080)]), chosen])).toEqual([]);
  });

  it.each([{}, { 'internal.istio.io/gateway-service': EDGE }])(
    'know which of their numbers a service has for UDP, if QUIC is on (annotations %j)',
    annotations => {
      const objects = [own('gw', [tcp(80, 8080), udp(80), tcp(90, 90), udp(91)]), gateway([80, 90], annotations)];
      const found = (value: string) => choices(objects, { PILOT_ENABLE_QUIC_LISTENERS: value }).map(one => one.udp);
      expect(found('true')).toEqual([[80]]);
      expect(found('false')).toEqual([[]]);
    },
  );
});
