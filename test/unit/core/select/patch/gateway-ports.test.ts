// The ports of servers that a patch of a gateway's routes can name.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { parseGatewayRouteName, serverPorts } from '../../../../../src/core/select/patch/gateway-ports.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { service } from '../../registry/fixtures.ts';

describe('the name of a route configuration of a gateway', () => {
  it.each<[string, number, string, string]>([
    ['http.80', 80, '', ''],
    ['http.80.10.0.0.1', 0, '', ''],
    ['http.x', 0, '', ''],
    ['http.1234567890', 0, '', ''],
    ['https.443.web.gw.edge', 443, 'web', 'edge/gw'],
    ['https.443.web.gw.edge.10.0.0.1', 0, '', ''],
    ['https.443.web.gw', 0, '', ''],
    ['other.443.web.gw.edge', 0, '', ''],
    ['', 0, '', ''],
  ])('%j tells the port %i, its name "%s" and the Gateway "%s"', (name, port, portName, gateway) => {
    expect(parseGatewayRouteName(name)).toEqual({ port, portName, gateway });
  });
});

describe('the ports of servers behind a route configuration', () => {
  const server = (number: number, name: string): JsonObject => ({
    port: { number, name, protocol: 'HTTP' },
    hosts: [`${name}.com`],
  });
  const gateway: JsonObject = {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'default' },
    spec: { selector: { app: 'gw' }, servers: [server(90, 'b'), server(80, 'a'), server(70, 'c')] },
  };
  const leading = [80, 90].map(port =>
    service(`gw-${port}`, { selector: { app: 'gw' }, ports: [{ name: 'http', port, targetPort: 8080 }] }),
  );
  const state = world([...leading, gateway]);
  const proxy = proxyOf(nodeOf({ type: 'router', labels: { app: 'gw' } }));

  it('are all that lead to its port, ascending', () => {
    expect(ask(state, serverPorts, 'http.8080', proxy)).toEqual([80, 90]);
    expect(ask(state, serverPorts, 'http.70', proxy)).toEqual([70]);
  });

  it('are its own port where no server is known', () => {
    expect(ask(state, serverPorts, 'http.9999', proxy)).toEqual([9999]);
  });
});
