// Which addresses stand under which name: of two services with one name, of pods by network and by cluster.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { type NamedAddresses, namedAddresses } from '../../../../../src/core/select/nametable/name-table.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { pod, service, serviceEntry, sidecar, slice } from '../../registry/fixtures.ts';

const query: Query<'', readonly NamedAddresses[]> = { name: 'test/namedAddresses', run: namedAddresses };
const WEB = 'web.default.svc.cluster.local';

function ips(
  parts: readonly WorldPart[],
  {
    metadata = {},
    env = {},
    host = WEB,
  }: { metadata?: JsonObject; env?: Readonly<Record<string, string>>; host?: string } = {},
): readonly string[] | undefined {
  const found = ask(world(parts, { settings: { env } }), query, '', proxyOf(nodeOf({ metadata })));
  return found.find(one => one.host === host)?.ips;
}

const headless = service('web', { clusterIP: 'None' });

describe('a name that a Service and a ServiceEntry share', () => {
  const entry = serviceEntry('web', { hosts: [WEB], addresses: ['240.0.0.3'] }, { namespace: 'ext' });
  const scoped = (first: string, rest: string): JsonObject =>
    sidecar('s', {
      egress: [{ port: { number: 80, protocol: 'HTTP', name: 'p' }, hosts: [`${first}/*`] }, { hosts: [`${rest}/*`] }],
    });

  it('is that of the Service, whichever comes first', () => {
    expect(ips([service('web'), entry, scoped('ext', 'default')])).toEqual(['10.96.0.1']);
    expect(ips([service('web'), entry, scoped('default', 'ext')])).toEqual(['10.96.0.1']);
    expect(ips([entry, scoped('default', 'ext')])).toEqual(['240.0.0.3']);
  });
});

describe('a headless service', () => {
  const pods = [
    pod('a', '10.1.0.1', { labels: { app: 'web', 'topology.istio.io/network': 'near' } }),
    pod('b', '10.1.0.2', { labels: { app: 'web', 'topology.istio.io/network': 'far' } }),
    pod('c', '10.1.0.3', { labels: { app: 'web' } }),
    slice(
      'web',
      ['a', 'b', 'c'].map((name, i) => ({ ip: `10.1.0.${i + 1}`, pod: name })),
    ),
  ];

  it('has the pods of the network of the proxy, and those of no known network', () => {
    expect(ips([headless, ...pods], { metadata: { NETWORK: 'near' } })).toEqual(['10.1.0.1', '10.1.0.3']);
    expect(ips([headless, ...pods])).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  });

  it('has no pods without ports', () => {
    expect(ips([service('web', { clusterIP: 'None', ports: [] }), ...pods])).toBeUndefined();
  });

  it('has pods of other clusters, if a flag says so', () => {
    const far = inCluster('far', headless, pod('d', '10.2.0.1'), slice('web', [{ ip: '10.2.0.1', pod: 'd' }]));
    const parts = [headless, ...pods, far];
    const env = (value: string) => ({ env: { ENABLE_MULTICLUSTER_HEADLESS: value } });
    expect(ips(parts, env('true'))).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.2.0.1']);
    expect(ips(parts, env('false'))).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  });
});

it('a ServiceEntry without an address has none of its endpoints', () => {
  const entry = serviceEntry('ext', { hosts: ['ext.example.com'], endpoints: [{ address: '192.0.2.1' }] });
  expect(ips([entry], { host: 'ext.example.com' })).toBeUndefined();
});
