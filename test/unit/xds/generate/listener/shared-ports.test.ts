// Services of different protocols on one port of one address: which of them the listener serves.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio } from '../route/scene.ts';
import { clientScene, filterNames, hcm, tcpProxy } from './scene.ts';

const entry = (name: string, protocol: string, created: string): JsonObject =>
  istio(
    'ServiceEntry',
    'prod',
    name,
    { hosts: [`${name}.example.com`], ports: [{ number: 9443, name: 'p', protocol }], resolution: 'DNS' },
    { creationTimestamp: created },
  );

/** `http`: the listener has a chain for HTTP. Otherwise the service that gets all other traffic, if it is not passed. */
function servedOf(older: string, younger: string): readonly (string | undefined)[] {
  const scene = clientScene([
    entry('older', older, '2024-01-01T00:00:00Z'),
    entry('younger', younger, '2024-01-02T00:00:00Z'),
  ]);
  const { filterChains = [], defaultFilterChain } = scene.listener('client', '0.0.0.0_9443');
  const chains = [...filterChains, ...(defaultFilterChain === undefined ? [] : [defaultFilterChain])];
  return chains.map(chain =>
    filterNames(chain).includes('envoy.filters.network.http_connection_manager')
      ? `http ${hcm(chain).rds?.routeConfigName}`
      : tcpProxy(chain).cluster?.split('|').at(-1),
  );
}
const PASS = 'PassthroughCluster';
const HTTP = 'http 9443';

describe('a port of two services', () => {
  it.each<[string, string, readonly string[]]>([
    ['HTTP', 'HTTP', [HTTP, PASS]],
    ['HTTP', 'TCP', [HTTP, 'younger.example.com']],
    ['TCP', 'HTTP', [HTTP, 'older.example.com']],
    ['TCP', 'TCP', ['older.example.com']],
    ['TLS', 'HTTP', ['older.example.com', HTTP, PASS]],
    ['TCP', 'MYSQL', ['older.example.com']],
    ['MYSQL', 'TCP', ['older.example.com']],
    ['HTTP', 'MYSQL', [HTTP, PASS]],
    ['MYSQL', 'HTTP', ['older.example.com']],
    ['MONGO', 'HTTP', ['older.example.com']],
    ['MONGO', 'MONGO', ['older.example.com']],
    ['REDIS', 'HTTP', [HTTP, 'older.example.com']],
  ])('of which the older speaks %s and the younger %s serves %j', (older, younger, expected) => {
    expect(servedOf(older, younger)).toEqual(expected);
  });
});
