// Outbound listeners beside the usual: addresses that are allocated or of two families, tunnels, the HTTP proxy port, and
// hosts that Envoy resolves itself.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { NetworkRBAC } from '../../../../../src/xds/proto/types.gen.ts';
import { istio } from '../route/scene.ts';
import { clientScene, filterNames, hcm, httpService, service, tcpProxy } from './scene.ts';

const db = service('db', 'prod', { clusterIP: '10.96.0.3', ports: [{ name: 'tcp', port: 3306 }] });

describe('the address of an outbound listener', () => {
  const CAPTURE = { DNS_CAPTURE: '1' };
  const DUAL = { INSTANCE_IPS: '10.1.0.1,fd00::1' };
  const allocated = istio('ServiceEntry', 'prod', 'api', {
    hosts: ['api.example.com'],
    ports: [{ number: 9000, name: 'tcp', protocol: 'TCP' }],
    resolution: 'DNS',
  });
  const listenerOf = (env: Readonly<Record<string, string>>): readonly [string | undefined, unknown] => {
    const [first] = clientScene([allocated], { env }, { ...CAPTURE, ...DUAL }).listeners('client');
    return [first?.name, first?.message.additionalAddresses?.length];
  };

  it('is an allocated one where the proxy answers DNS, in any of Go’s words for true', () => {
    expect(listenerOf({})).toEqual([expect.stringMatching(/^240\.240\.\d+\.\d+_9000$/), undefined]);
  });

  it('is of both families for a dual-stack proxy, if either flag says so', () => {
    for (const flag of ['ISTIO_DUAL_STACK', 'PILOT_ENABLE_AMBIENT']) {
      expect(listenerOf({ [flag]: 'true' })).toEqual([expect.stringMatching(/^240\.240\.\d+\.\d+_9000$/), 1]);
    }
  });
});

describe('the tunnel of a DestinationRule', () => {
  it('has an IPv6 address in brackets', () => {
    const tunnel = { targetHost: '2001:db8::1', targetPort: 443, protocol: 'POST' };
    const rule = istio('DestinationRule', 'prod', 'db', { host: 'db', trafficPolicy: { tunnel } });
    const scene = clientScene([db, rule]);
    expect(tcpProxy(scene.chains('client', '10.96.0.3_3306')[0]).tunnelingConfig).toEqual({
      hostname: '[2001:db8::1]:443',
      usePost: true,
    });
  });
});

describe('the HTTP proxy port', () => {
  it('never uses the client’s address as remote address', () => {
    const env = { PILOT_SIDECAR_USE_REMOTE_ADDRESS: 'true' };
    const networks = { networks: { a: { endpoints: [{ fromCidr: '10.0.0.0/8' }], gateways: [] } } };
    const options = { env, networks, mesh: { proxyHttpPort: 15002 } };
    const scene = clientScene([httpService('a', 'prod', 8080, '10.96.0.1')], options);
    const proxy = hcm(scene.chains('client', '127.0.0.1_15002')[0]);
    expect([proxy.useRemoteAddress, proxy.internalAddressConfig]).toEqual([{ value: false }, undefined]);
    const other = hcm(scene.chains('client', '0.0.0.0_8080')[0]);
    expect([other.useRemoteAddress, other.internalAddressConfig?.cidrRanges?.length]).toEqual([{ value: true }, 1]);
  });
});

describe('TLS to a host that Envoy resolves', () => {
  const policy = (namespace: string, name: string): JsonObject => ({
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace },
    spec: { action: 'DENY', rules: [{ to: [{ operation: { ports: ['443'] } }] }] },
  });
  const wild = istio('ServiceEntry', 'far', 'wild', {
    hosts: ['*.example.com'],
    location: 'MESH_EXTERNAL',
    ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
    resolution: 'DYNAMIC_DNS',
  });

  it('passes the policies of the workload, and of the namespace of the ServiceEntry', () => {
    const policies = [policy('prod', 'own'), policy('far', 'of-entry'), policy('other', 'unrelated')];
    const scene = clientScene([wild, db, ...policies]);
    const [chain] = scene.chains('client', '0.0.0.0_443');
    expect(filterNames(chain)).toEqual([
      'envoy.filters.network.rbac',
      'envoy.extensions.filters.network.sni_dynamic_forward_proxy',
      'envoy.filters.network.tcp_proxy',
    ]);
    const rbac = chain?.filters?.[0]?.typedConfig as NetworkRBAC | undefined;
    expect(Object.keys(rbac?.rules?.policies ?? {})).toEqual([
      'ns[prod]-policy[own]-rule[0]',
      'ns[far]-policy[of-entry]-rule[0]',
    ]);
    expect(filterNames(scene.chains('client', '10.96.0.3_3306')[0])).toEqual(['envoy.filters.network.tcp_proxy']);
  });

  it('is resolved by its SNI where a Sidecar takes the port for plain TCP, unless a VirtualService says where to', () => {
    const egress = [{ port: { number: 443, name: 'tcp', protocol: 'TCP' }, hosts: ['*/*'] }];
    const sidecar = istio('Sidecar', 'prod', 'narrow', { egress });
    const plain = clientScene([wild, sidecar]);
    expect(filterNames(plain.chains('client', '0.0.0.0_443')[0])).toEqual([
      'envoy.extensions.filters.network.sni_dynamic_forward_proxy',
      'envoy.filters.network.tcp_proxy',
    ]);
    const inspectors = (plain.listener('client', '0.0.0.0_443').listenerFilters ?? []).map(({ name }) => name);
    expect(inspectors).toEqual(['envoy.filters.listener.tls_inspector']);
    const route = [{ destination: { host: 'db.prod.svc.cluster.local' } }];
    const rule = istio('VirtualService', 'prod', 'to-db', { hosts: ['*.example.com'], tcp: [{ route }] });
    const routed = clientScene([wild, sidecar, db, rule]);
    expect(filterNames(routed.chains('client', '0.0.0.0_443')[0])).toEqual(['envoy.filters.network.tcp_proxy']);
  });
});
