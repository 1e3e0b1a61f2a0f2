// Which inbound ports a proxy opens, and at which addresses: what it keeps for itself, what it has no right to, and what
// differs without interception.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio } from '../route/scene.ts';
import { APP_IP, type ListenerScene, tcpProxy, workloadScene } from './scene.ts';

const sidecar = (...ingress: readonly JsonObject[]): JsonObject => istio('Sidecar', 'prod', 'in', { ingress });
const entry = (number: number, more: JsonObject = {}): JsonObject => ({
  port: { number, protocol: 'TCP', name: `p${number}` },
  defaultEndpoint: '127.0.0.1:1',
  ...more,
});
const MERGE = { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: 'true' };
const NONE = { INTERCEPTION_MODE: 'NONE' };
const UNPRIVILEGED = { UNPRIVILEGED_POD: 'true' };

/** Ports of the chains in the virtual inbound listener, without its own. */
function chainPorts(scene: ListenerScene): readonly number[] {
  const chains = scene.chains('app', 'virtualInbound').filter(({ name }) => name !== 'virtualInbound-blackhole');
  return [...new Set(chains.flatMap(chain => chain.filterChainMatch?.destinationPort?.value ?? []))];
}

describe('the inbound ports of services', () => {
  const scene = (targetPort: number, metadata: JsonObject = {}, options = {}, ...more: readonly JsonObject[]) =>
    workloadScene([{ name: 'tcp', port: 80, targetPort }], more, options, metadata);

  it.each<[string, number, JsonObject, JsonObject, readonly number[]]>([
    ['any other', 8080, {}, {}, [8080]],
    ['the status port', 15021, { ENVOY_STATUS_PORT: 15021 }, {}, []],
    ['the metrics port', 15090, { ENVOY_PROMETHEUS_PORT: 15090 }, {}, []],
    ['the port of outbound traffic', 15001, {}, {}, []],
    ['the port of outbound traffic that the mesh names', 16001, {}, { mesh: { proxyListenPort: 16001 } }, []],
    ['the port of inbound traffic that the mesh names', 16006, {}, { mesh: { proxyInboundListenPort: 16006 } }, []],
    ['a privileged one that is not bound', 80, UNPRIVILEGED, {}, [80]],
  ])('at %s are %s with %j', (_what, port, metadata, options, expected) => {
    expect(chainPorts(scene(port, metadata, options))).toEqual(expected);
  });

  it('are the workload’s own without interception, except beside ingress listeners', () => {
    const bound = (...more: readonly JsonObject[]) =>
      scene(8080, NONE, { env: MERGE }, ...more)
        .names('app')
        .filter(name => /_(8080|9000)$/.test(name));
    expect(bound()).toEqual([]);
    expect(bound(sidecar(entry(9000)))).toEqual(['0.0.0.0_8080', `${APP_IP}_9000`]);
  });

  it('are not bound where they are privileged and the proxy is not', () => {
    const names = (metadata: JsonObject) =>
      scene(443, { ...NONE, ...metadata }, { env: MERGE }, sidecar(entry(9000))).names('app');
    expect(names({})).toContain('0.0.0.0_443');
    expect(names(UNPRIVILEGED)).not.toContain('0.0.0.0_443');
  });
});

describe('the address of an ingress listener without one', () => {
  it.each([
    ['10.1.0.7', '10.1.0.7'],
    ['127.0.0.1,10.1.0.7', '10.1.0.7'],
    ['169.254.1.1,10.1.0.7', '10.1.0.7'],
    ['169.1.1.1,10.1.0.7', '169.1.1.1'],
    ['0.0.0.0,10.1.0.7', '10.1.0.7'],
    ['224.0.0.1,10.1.0.7', '10.1.0.7'],
    ['239.1.1.1,10.1.0.7', '10.1.0.7'],
    ['240.0.0.1,10.1.0.7', '240.0.0.1'],
    ['255.255.255.255,10.1.0.7', '10.1.0.7'],
    ['fe80::1,2001:db8::1', '2001:db8::1'],
    ['ff02::1,2001:db8::1', '2001:db8::1'],
    ['::1,2001:db8::1', '2001:db8::1'],
    ['::,2001:db8::1', '2001:db8::1'],
    ['127.0.0.1', '0.0.0.0'],
    ['::1', '::'],
  ])('of a proxy with %s is the first that is global: %s', (ips, expected) => {
    const scene = workloadScene([], [sidecar(entry(9000, { captureMode: 'NONE' }))], {}, { INSTANCE_IPS: ips });
    expect(scene.names('app')).toContain(`${expected}_9000`);
  });
});

describe('virtual listeners', () => {
  const BOTH = { ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: 'true' };

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['10.1.0.7', {}, ['0.0.0.0']],
    ['2001:db8::1', {}, ['::']],
    ['2001:db8::1', BOTH, ['::', '0.0.0.0']],
    ['10.1.0.7', BOTH, ['0.0.0.0']],
    ['10.1.0.7,2001:db8::1', { ISTIO_DUAL_STACK: 'true' }, ['0.0.0.0', '::']],
    ['10.1.0.7,2001:db8::1', { ISTIO_DUAL_STACK: 'true', ...BOTH }, ['0.0.0.0', '::']],
    ['10.1.0.7,2001:db8::1', { ISTIO_DUAL_STACK: 'false' }, ['0.0.0.0']],
  ])('of a proxy with %s and %j: outbound traffic comes in at %j', (ips, env, expected) => {
    const { address, additionalAddresses = [] } = workloadScene([], [], { env }, { INSTANCE_IPS: ips }).listener(
      'app',
      'virtualOutbound',
    );
    const more = additionalAddresses.map(one => one.address?.socketAddress?.address);
    expect([address?.socketAddress?.address, ...more]).toEqual(expected);
  });

  it.each<[JsonObject, string]>([
    [{ mode: 'ALLOW_ANY' }, 'PassthroughCluster'],
    [{ mode: 'REGISTRY_ONLY' }, 'BlackHoleCluster'],
    [
      { mode: 'ALLOW_ANY', egressProxy: { host: 'out.prod.svc.cluster.local', port: { number: 443 } } },
      'outbound|443||out.prod.svc.cluster.local',
    ],
    [
      { mode: 'ALLOW_ANY', egressProxy: { host: 'out.prod.svc.cluster.local', subset: 'v1', port: { number: 443 } } },
      'outbound|443|v1|out.prod.svc.cluster.local',
    ],
  ])('send connections that fit no service by the policy %j to %s', (outboundTrafficPolicy, cluster) => {
    const scene = workloadScene([], [istio('Sidecar', 'prod', 'default', { outboundTrafficPolicy })]);
    expect(tcpProxy(scene.chains('app', 'virtualOutbound').at(-1)).cluster).toBe(cluster);
  });
});
