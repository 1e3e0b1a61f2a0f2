// Which services have clusters by name or by SNI, the clusters of gRPC clients, and names in statistics.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Service } from '../../../../../src/core/model/service.ts';
import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import { inboundStatPrefix, statName, waypointStatPrefix } from '../../../../../src/core/select/cluster/common.ts';
import { selectProxylessCluster } from '../../../../../src/core/select/cluster/proxyless.ts';
import {
  type ServiceClusters,
  serviceOfCluster,
  servicesOfSniDnatClusters,
} from '../../../../../src/core/select/cluster/service-clusters.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { destinationRule, metadata, pod, service, slice } from '../../registry/fixtures.ts';

function asked<R>(run: (reader: ProxyReader) => R, parts: readonly WorldPart[], node: NodeOptions = {}): R {
  const query: Query<'', R> = { name: 'test/asked', run };
  return ask(world(parts), query, '', proxyOf(nodeOf(node)));
}
const WEB = 'web.default.svc.cluster.local';
const web = service('web');
const rule = (spec: JsonObject = {}) => destinationRule('r', 'web', spec);
const shown = (one: ServiceClusters | undefined) => one && [one.service.hostname, one.rule?.name, one.sniDnat];

describe('the service of a cluster', () => {
  it.each<[string, unknown]>([
    [`outbound|80||${WEB}`, [WEB, 'r', false]],
    [`outbound_.80_._.${WEB}`, [WEB, 'r', true]],
    [`inbound|80||${WEB}`, undefined],
    [`inbound-vip|80|http|${WEB}`, undefined],
    ['outbound|80||other', undefined],
    ['BlackHoleCluster', undefined],
  ])('%s is %j', (name, expected) => {
    expect(shown(asked(reader => serviceOfCluster(reader, name), [web, rule()]))).toEqual(expected);
  });
});

describe('services have clusters by SNI', () => {
  const gateway = (mode: string): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: metadata('g'),
    spec: {
      selector: { app: 'gw' },
      servers: [{ port: { number: 443, name: 'tls', protocol: 'TLS' }, hosts: ['*.local'], tls: { mode } }],
    },
  });
  const found = (mode: string, type: 'sidecar' | 'router') =>
    asked(servicesOfSniDnatClusters, [web, rule(), gateway(mode)], { type, labels: { app: 'gw' } }).map(shown);

  it('on a gateway with such a server', () => {
    expect(found('AUTO_PASSTHROUGH', 'router')).toEqual([[WEB, 'r', true]]);
    expect(found('PASSTHROUGH', 'router')).toEqual([]);
    expect(found('AUTO_PASSTHROUGH', 'sidecar')).toEqual([]);
  });
});

describe('the cluster of a gRPC client', () => {
  const cluster = (name: string, parts: readonly WorldPart[]) =>
    asked(reader => selectProxylessCluster(reader, name), parts);
  const pooled = (http2MaxRequests: number) => ({ connectionPool: { http: { http2MaxRequests } } });

  it('has no policy without a rule', () => {
    const name = `outbound|80||${WEB}`;
    const bare = { name, statName: name, identities: undefined, loadBalancer: undefined, maxRequests: 0 };
    expect(cluster(name, [web])).toEqual({ ...bare, keepsSessions: false });
    expect(cluster(name, [web, rule()])).toEqual({ ...bare, keepsSessions: false });
    expect(cluster(name, [web, rule({ trafficPolicy: { connectionPool: { tcp: {} } } })])?.maxRequests).toBe(0);
  });

  it('has the policy of its port or subset, with the identities of the service for mTLS', () => {
    const account = [slice('web', [{ ip: '10.0.0.1', pod: 'p' }]), pod('p', '10.0.0.1', { account: 'shop' })];
    const own = rule({
      trafficPolicy: { tls: { mode: 'ISTIO_MUTUAL' }, loadBalancer: { simple: 'RANDOM' }, ...pooled(3) },
      subsets: [{ name: 'v1', trafficPolicy: { tls: { mode: 'DISABLE' }, ...pooled(4) } }],
    });
    expect(cluster(`outbound|80||${WEB}`, [web, ...account, own])).toMatchObject({
      identities: ['spiffe://cluster.local/ns/default/sa/shop'],
      loadBalancer: { simple: 'RANDOM' },
      maxRequests: 3,
    });
    expect(cluster(`outbound|80|v1|${WEB}`, [web, ...account, own])).toMatchObject({
      identities: undefined,
      loadBalancer: { simple: 'RANDOM' },
      maxRequests: 4,
    });
  });

  it('keeps sessions by a label of the service, but not of a subset', () => {
    const parts = [
      service('web', {}, { labels: { 'istio.io/persistent-session': 'c' } }),
      rule({ subsets: [{ name: 'v1' }] }),
    ];
    expect(cluster(`outbound|80||${WEB}`, parts)?.keepsSessions).toBe(true);
    expect(cluster(`outbound|80|v1|${WEB}`, parts)?.keepsSessions).toBe(false);
  });

  it.each([`outbound|81||${WEB}`, `outbound|80|v2|${WEB}`, `outbound_.80_._.${WEB}`, `inbound|80||${WEB}`, 'x'])(
    'named %s is none',
    name => {
      expect(cluster(name, [web, rule({ subsets: [{ name: 'v1' }] })])).toBeUndefined();
      expect(cluster(name, [web])).toBeUndefined();
    },
  );
});

describe('statistics are named', () => {
  const PATTERN =
    '%SERVICE%_%SERVICE_NAME%_%SERVICE_FQDN%_%SERVICE_PORT%_%SERVICE_PORT_NAME%_%SUBSET_NAME%_%TARGET_PORT%_%X%';
  const port = { name: 'http', port: 80, protocol: 'HTTP' } as const;
  const of = (registry: Service['registry']) => ({ name: 'a', namespace: 'n', hostname: 'h.com', registry }) as Service;

  it('by the cluster without a pattern', () => {
    for (const pattern of [undefined, '']) {
      expect(statName(pattern, 'c', 'h.com', of('Kubernetes'), port, '', 0)).toBe('c');
      expect(inboundStatPrefix(pattern, 'c', 'h.com', of('Kubernetes'), port)).toBe('c');
      expect(waypointStatPrefix(pattern, 'c', of('Kubernetes'), port)).toBe('c');
    }
  });

  it('by the service if Kubernetes has it, else by the host; unknown placeholders stay', () => {
    expect(statName(PATTERN, 'c', 'h.com', of('Kubernetes'), port, 'v1', 8)).toBe('a.n_a_h.com_80_http_v1_8_%X%');
    expect(statName(PATTERN, 'c', 'h.com', of('External'), port, '', 0)).toBe('h.com_h.com_h.com_80_http__0_%X%');
    expect(statName(PATTERN, 'c', 'own.n', undefined, port, '', 0)).toBe('own.n_own.n_own.n_80_http__0_%X%');
  });

  it('of inbound traffic without a subset and with the placeholder of the target port', () => {
    const rest = '80_http__%TARGET_PORT%_%X%';
    expect(inboundStatPrefix(PATTERN, 'c', 'h.com', of('Kubernetes'), port)).toBe(`a.n_a_h.com_${rest}`);
    expect(inboundStatPrefix(PATTERN, 'c', 'h.com', of('External'), port)).toBe(`h.com_h.com_h.com_${rest}`);
    expect(inboundStatPrefix(PATTERN, 'c', 'own.n', undefined, port)).toBe(`own.n_own.n_own.n_${rest}`);
  });

  it('of a waypoint by the service of any registry, and by nothing without one', () => {
    const rest = '80_http__%TARGET_PORT%_%X%';
    expect(waypointStatPrefix(PATTERN, 'c', of('External'), port)).toBe(`a.n_a_h.com_${rest}`);
    expect(waypointStatPrefix(PATTERN, 'c', undefined, port)).toBe(`___${rest}`);
  });
});
