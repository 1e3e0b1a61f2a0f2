// What a proxy's addresses and its ProxyConfig change in its clusters.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Cluster_DnsLookupFamily } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, Scene, type SceneOptions, sidecarNode } from '../route/scene.ts';
import { cluster, HTTP_PORT, httpOptions, workload } from './cluster-scene.ts';

const V4 = '10.0.0.1';
const V6 = '2001:db8::1';

describe('the addresses of a proxy', () => {
  const external = istio('ServiceEntry', 'default', 'ext', {
    hosts: ['ext.example.com'],
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
  });
  const made = (ips: readonly string[], env: SceneOptions['env']): Scene => {
    const scene = new Scene([...workload('web', 'default', V4, [HTTP_PORT]), external], { env });
    scene.connect('p', sidecarNode('default', { INSTANCE_IPS: ips.join(), LABELS: { app: 'web' } }));
    return scene;
  };
  const DUAL = { ISTIO_DUAL_STACK: 'true' };
  const NO_DUAL = { ISTIO_DUAL_STACK: 'false' };
  const BOTH = { ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: 'true' };

  it.each<[readonly string[], SceneOptions['env'], keyof typeof Cluster_DnsLookupFamily]>([
    [[V4], DUAL, 'V4_ONLY'],
    [[V6], {}, 'V6_ONLY'],
    [[V6], BOTH, 'ALL'],
    [[V4], BOTH, 'V4_ONLY'],
    [[V4, V6], DUAL, 'ALL'],
    [[V4, V6], NO_DUAL, 'V4_ONLY'],
  ])('%j with the flags %j select the family in which names are resolved', (ips, env, family) => {
    expect(cluster(made(ips, env), 'p', 'outbound|80||ext.example.com').dnsLookupFamily).toBe(
      Cluster_DnsLookupFamily[family],
    );
  });

  it.each<[string, readonly string[], SceneOptions['env'], readonly string[]]>([
    ['InboundPassthroughCluster', [V4], DUAL, ['127.0.0.6']],
    ['InboundPassthroughCluster', [V6], DUAL, ['::6']],
    ['InboundPassthroughCluster', [V4, V6], NO_DUAL, ['127.0.0.6', '::6']],
    ['inbound|80||', [V4, V6], DUAL, ['127.0.0.6', '::6']],
    ['inbound|80||', [V4, V6], NO_DUAL, ['127.0.0.6']],
  ])('of %s: %j with the flags %j select the source addresses', (name, ips, env, expected) => {
    const bind = cluster(made(ips, env), 'p', name).upstreamBindConfig;
    const more = bind?.extraSourceAddresses?.map(({ address }) => address?.address) ?? [];
    expect([bind?.sourceAddress?.address, ...more]).toEqual(expected);
  });
});

describe('preserveHttp1HeaderCase', () => {
  const mesh = { defaultConfig: { proxyHeaders: { preserveHttp1HeaderCase: true } } };
  const formatted = { httpProtocolOptions: { headerKeyFormat: { statefulFormatter: { name: 'preserve_case' } } } };

  it.each<[string, JsonObject | undefined]>([
    ['http', { explicitHttpConfig: formatted }],
    ['grpc', { explicitHttpConfig: { http2ProtocolOptions: {} } }],
    ['foo', { useDownstreamProtocolConfig: formatted }],
    ['tcp', undefined],
  ])('concerns HTTP/1.1 alone: a port named %s', (name, expected) => {
    const made = new Scene(workload('web', 'default', V4, [{ name, port: 80 }]), { mesh });
    made.connect('p', sidecarNode('default'));
    const options = cluster(made, 'p', 'outbound|80||web.default.svc.cluster.local').typedExtensionProtocolOptions;
    if (expected === undefined) expect(options).toBeUndefined();
    else expect(options?.[httpOptions]).toMatchObject(expected);
    if (name === 'grpc') expect(JSON.stringify(options)).not.toContain('headerKeyFormat');
  });
});
