// Which ports of its workload a sidecar serves, from services and from the Sidecar's ingress list.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import {
  type InboundChainPlan,
  inboundTarget,
  passthroughTarget,
  tunnelledTarget,
} from '../../../../../src/core/select/listener/inbound-chains.ts';
import {
  type InboundPort,
  inboundPorts,
  inboundTls,
  uncoveredMtlsPorts,
} from '../../../../../src/core/select/listener/inbound-listeners.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { peerAuthentication, pod, service, sidecar, slice } from '../../registry/fixtures.ts';
import { reading } from './plans.ts';

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly node?: NodeOptions;
}

const IP = '10.0.0.99';
const labels = { app: 'web' };
const proxy = (node: NodeOptions = {}) => proxyOf(nodeOf({ name: 'web-1', labels, ...node }));
const client = pod('web-1', IP, { labels });

function portsOf(
  parts: readonly WorldPart[],
  { env = {}, mesh = {}, node = {} }: Options = {},
): readonly InboundPort[] {
  return ask(world([client, ...parts], { mesh, settings: { env } }), inboundPorts, '', proxy(node));
}
const numbers = (...args: Parameters<typeof portsOf>) => portsOf(...args).map(({ targetPort }) => targetPort);
const web = (...ports: readonly JsonObject[]): readonly JsonObject[] => [
  service('web', { ports: [...ports] }),
  {
    ...slice('web', [{ ip: IP, pod: 'web-1' }]),
    ports: ports.map(({ name, targetPort, port }) => ({
      name: name ?? '',
      port: typeof targetPort === 'number' ? targetPort : (port ?? 0),
      protocol: 'TCP',
    })),
  },
];
const http = (port: number, targetPort: number, name = `http-${port}`): JsonObject => ({ name, port, targetPort });
const ingress = (...listeners: readonly JsonObject[]): JsonObject => sidecar('s', { ingress: listeners });
const own = (number: number, more: JsonObject = {}, protocol = 'HTTP'): JsonObject => ({
  port: { number, protocol, name: 'own' },
  defaultEndpoint: '127.0.0.1:9',
  ...more,
});
const NONE = { metadata: { INTERCEPTION_MODE: 'NONE' } };

describe('an inbound port of a service', () => {
  it('is a target port, once, in order', () => {
    expect(numbers(web(http(80, 8080), http(82, 7070), http(81, 8080)))).toEqual([7070, 8080]);
    const [port] = portsOf(web(http(80, 8080)));
    expect(port).toMatchObject({
      targetPort: 8080,
      bind: '0.0.0.0',
      moreBinds: [],
      bindToPort: false,
      port: { port: 80, name: 'http-80', protocol: 'HTTP' },
      traceHost: 'web.default.svc.cluster.local',
    });
    expect(port?.service?.hostname).toBe('web.default.svc.cluster.local');
    expect(port?.config).toBeUndefined();
  });

  it('of several services belongs to the first', () => {
    const other = service('web2', { selector: labels, ports: [http(90, 8080)] }, { day: 2 });
    const slice2 = { ...slice('web2', [{ ip: IP, pod: 'web-1' }]), ports: [{ name: 'http-90', port: 8080 }] };
    const found = portsOf([...web(http(80, 8080)), other, slice2]);
    expect(found.map(({ port }) => port.port)).toEqual([80]);
  });

  it('is no port of the proxy itself', () => {
    const reserved = (port: number) => numbers(web(http(80, port)));
    expect(reserved(15_001)).toEqual([]);
    expect(reserved(15_006)).toEqual([]);
    expect(reserved(15_002)).toEqual([15_002]);
    const node = { metadata: { ENVOY_STATUS_PORT: '15021', ENVOY_PROMETHEUS_PORT: '15090' } };
    expect(numbers(web(http(80, 15_021), http(81, 15_090), http(82, 15_022)), { node })).toEqual([15_022]);
  });

  it('is none where traffic is not intercepted, as the workload listens itself', () => {
    expect(numbers(web(http(80, 8080)), { node: NONE })).toEqual([]);
  });

  it('is bound to both wildcards with the flag of dual stack', () => {
    const env = { ISTIO_DUAL_STACK: 'true' };
    const node = { ip: `${IP},fd00::1` };
    expect(portsOf(web(http(80, 8080)), { node })[0]).toMatchObject({ bind: '0.0.0.0', moreBinds: [] });
    expect(portsOf(web(http(80, 8080)), { node, env })[0]).toMatchObject({ bind: '0.0.0.0', moreBinds: ['::'] });
  });
});

describe('an ingress entry of a Sidecar', () => {
  it('replaces the ports of services', () => {
    const parts = [...web(http(80, 8080)), ingress(own(9000))];
    expect(numbers(parts)).toEqual([9000]);
    expect(portsOf(parts)[0]).toEqual({
      targetPort: 9000,
      bind: IP,
      moreBinds: [],
      bindToPort: false,
      port: { port: 9000, name: 'own', protocol: 'HTTP' },
      tls: undefined,
      traceHost: 's.default',
      config: { namespace: 'default', name: 's' },
    });
  });

  it('stands beside the other ports of services with the flag', () => {
    const env = { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: 'true' };
    const parts = [...web(http(80, 8080), http(81, 9000)), ingress(own(9000), own(7000))];
    expect(numbers(parts, { env })).toEqual([7000, 8080, 9000]);
    expect(portsOf(parts, { env }).map(({ service: of }) => of === undefined)).toEqual([true, false, true]);
    // Left out by the Sidecar for another reason, its port is still not that of a service.
    const refused = [...web(http(81, 15_021)), ingress(own(15_021))];
    expect(numbers(refused, { env, node: { metadata: { ENVOY_STATUS_PORT: '15021' } } })).toEqual([]);
  });

  it('stands with the flag beside ports that the proxy opens itself where traffic is not intercepted', () => {
    const env = { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: 'true' };
    const node = { metadata: { ...NONE.metadata, UNPRIVILEGED_POD: 'true' } };
    const parts = [...web(http(80, 8080), http(81, 81)), ingress(own(9000))];
    expect(portsOf(parts, { env, node }).map(port => [port.targetPort, port.bindToPort])).toEqual([
      [8080, true],
      [9000, true],
    ]);
    expect(numbers(parts, { env, node: NONE })).toEqual([81, 8080, 9000]);
    const intercepted = { metadata: { UNPRIVILEGED_POD: 'true' } };
    expect(numbers(parts, { env, node: intercepted })).toEqual([81, 8080, 9000]);
  });

  it('is bound to its address, else to the first global one of the proxy, else to the wildcards', () => {
    const binds = (ip: string, more: JsonObject = {}) => {
      const env = { ISTIO_DUAL_STACK: 'true' };
      const [port] = portsOf([ingress(own(9000, more))], { env, node: { ip } });
      return [port?.bind, ...(port?.moreBinds ?? [])];
    };
    expect(binds(IP, { bind: '127.0.0.1' })).toEqual(['127.0.0.1']);
    expect(binds(IP)).toEqual([IP]);
    expect(binds(`127.0.0.1,${IP}`)).toEqual([IP]);
    expect(binds('127.0.0.1')).toEqual(['0.0.0.0']);
    expect(binds('127.0.0.1,::1')).toEqual(['0.0.0.0', '::']);
  });

  it.each<[string, boolean]>([
    ['10.0.0.1', true],
    ['127.0.0.9', false],
    ['169.254.1.1', false],
    ['169.253.1.1', true],
    ['170.254.1.1', true],
    ['0.0.0.0', false],
    ['223.0.0.1', true],
    ['224.0.0.1', false],
    ['239.255.255.255', false],
    ['240.0.0.1', true],
    ['255.255.255.255', false],
    ['2001:db8::1', true],
    ['::1', false],
    ['::', false],
    ['fe80::1', false],
    ['febf::1', false],
    ['FE80::1', false],
    ['ff02::1', false],
    ['fc00::1', true],
    ['2001:db8::fe80', true],
  ])('counts the address %s of its proxy as global: %s', (ip, global) => {
    const [port] = portsOf([ingress(own(9000))], { node: { ip: `${ip},10.0.0.98` } });
    expect(port?.bind).toBe(global ? ip : '10.0.0.98');
  });

  it('is opened by the proxy itself as its capture mode says, else as the proxy does', () => {
    const opened = (captureMode: string, node: NodeOptions = {}) =>
      portsOf([ingress(own(9000, { captureMode }))], { node })[0]?.bindToPort;
    expect(opened('DEFAULT')).toBe(false);
    expect(opened('NONE')).toBe(true);
    expect(opened('IPTABLES', NONE)).toBe(false);
    expect(opened('DEFAULT', NONE)).toBe(true);
  });

  it('of a proxy without privileges opens no privileged port', () => {
    const node = { metadata: { UNPRIVILEGED_POD: 'true' } };
    const at = (number: number, captureMode: string, of: NodeOptions = node) =>
      numbers([ingress(own(number, { captureMode }))], { node: of });
    expect(at(1023, 'NONE')).toEqual([]);
    expect(at(1024, 'NONE')).toEqual([1024]);
    expect(at(1023, 'IPTABLES')).toEqual([1023]);
    expect(at(1023, 'NONE', {})).toEqual([1023]);
  });

  it('takes no port of the proxy itself on any address, which HTTP without an address counts as', () => {
    const node = { metadata: { ENVOY_STATUS_PORT: '15021' } };
    const at = (more: JsonObject, protocol: string, number = 15_021) =>
      numbers([ingress(own(number, more, protocol))], { node });
    expect(at({}, 'HTTP')).toEqual([]);
    expect(at({}, 'TCP')).toEqual([15_021]);
    expect(at({ bind: '0.0.0.0' }, 'TCP')).toEqual([]);
    expect(at({ bind: '10.0.0.98' }, 'HTTP')).toEqual([15_021]);
    expect(at({}, 'HTTP', 15_022)).toEqual([15_022]);
    expect(at({}, 'HTTP', 15_001)).toEqual([15_001]);
  });

  it.each([
    ['HTTPS', 'HTTP'],
    ['TLS', 'TCP'],
  ])('with TLS of its own carries inside of %s: %s', (protocol, inside) => {
    const tls = { mode: 'SIMPLE', serverCertificate: '/c', privateKey: '/k' };
    const parts = [ingress(own(9000, { tls }, protocol))];
    const found = (env: Readonly<Record<string, string>> = {}) => {
      const [port] = portsOf(parts, { env });
      return [port?.port.protocol, port?.tls?.mode];
    };
    expect(found({ ENABLE_TLS_ON_SIDECAR_INGRESS: 'true' })).toEqual([inside, 'SIMPLE']);
    expect(found({ ENABLE_TLS_ON_SIDECAR_INGRESS: 'false' })).toEqual([protocol, undefined]);
  });

  it('counts as of the namespace that the metadata of the proxy names', () => {
    const [port] = portsOf([ingress(own(9000))], { node: { metadata: { NAMESPACE: '' } } });
    expect(port?.config).toEqual({ namespace: 'default', name: 's' });
  });
});

describe('the mTLS of an inbound port', () => {
  const tlsOf = (port: number, parts: readonly WorldPart[], node: NodeOptions = {}) =>
    ask(
      world([client, ...parts]),
      reading('test/inboundTls', reader => inboundTls(reader, port)),
      '',
      proxy(node),
    );
  const strict = peerAuthentication('p', {
    selector: { matchLabels: labels },
    mtls: { mode: 'STRICT' },
    portLevelMtls: { '8080': { mode: 'DISABLE' }, '7070': { mode: 'PERMISSIVE' } },
  });

  it('is that of its number, else that of the workload', () => {
    expect(tlsOf(8080, [strict])).toBe('DISABLE');
    expect(tlsOf(7070, [strict])).toBe('PERMISSIVE');
    expect(tlsOf(9090, [strict])).toBe('STRICT');
    expect(tlsOf(0, [strict])).toBe('STRICT');
    expect(tlsOf(8080, [])).toBe('PERMISSIVE');
  });

  it('is refused by a stock Envoy if it is strict, else off', () => {
    const extensions = [{ name: 'envoy.filters.http.router' }];
    const stock = { ...proxy(), node: { ...nodeOf({ name: 'web-1', labels }), extensions } };
    const of = (port: number) =>
      ask(
        world([client, strict]),
        reading('test/inboundTls', reader => inboundTls(reader, port)),
        '',
        {
          ...stock,
          extensions: new Set(['envoy.filters.http.router']),
        },
      );
    expect([8080, 7070, 9090].map(of)).toEqual(['DISABLE', 'DISABLE', 'refuse']);
  });

  it('of a port that nothing serves needs chains of its own', () => {
    const uncovered = (...parts: readonly WorldPart[]) =>
      ask(world([client, ...parts]), uncoveredMtlsPorts, '', proxy()).flatMap(({ ports, tls }) =>
        ports.map((port, i) => [port, tls[i]]),
      );
    expect(uncovered(strict)).toEqual([
      [7070, 'PERMISSIVE'],
      [8080, 'DISABLE'],
    ]);
    expect(uncovered(strict, ...web(http(80, 8080)))).toEqual([[7070, 'PERMISSIVE']]);
    expect(uncovered()).toEqual([]);
  });
});

describe('the chains of an inbound port', () => {
  const text = ({ transport, alpn = [], mtls, carries }: InboundChainPlan): string =>
    [transport, ...alpn, ...(mtls ? ['mtls'] : []), carries].join(' ');
  const mode = (of: string) => peerAuthentication('p', { mtls: { mode: of } });
  const mesh = { inboundClusterStatName: '%SERVICE%/%SERVICE_PORT%/%SERVICE_PORT_NAME%' };
  const targetsOf = (parts: readonly WorldPart[], settings: JsonObject = {}) =>
    ask(
      world([client, ...parts], { mesh: settings, settings: { env: { ENABLE_TLS_ON_SIDECAR_INGRESS: 'true' } } }),
      reading('test/inboundTargets', reader => [
        ...reader.get(inboundPorts, '').map(port => inboundTarget(reader, port)),
        passthroughTarget(reader, 0),
      ]),
      '',
      proxy(),
    );
  const chains = (name: string, ...more: readonly WorldPart[]) =>
    targetsOf([...web({ name, port: 80, targetPort: 8080 }), ...more])[0]?.plans.map(text);
  const MESH_HTTP = 'istio-http/1.0 istio-http/1.1 istio-h2';
  const MESH_ALL = `istio istio-peer-exchange ${MESH_HTTP}`;

  it.each<[string, string, readonly string[]]>([
    ['http', 'DISABLE', ['raw_buffer http']],
    ['http', 'STRICT', ['tls mtls http']],
    ['http', 'PERMISSIVE', [`tls ${MESH_ALL} mtls http`, 'raw_buffer http']],
    ['tcp', 'DISABLE', ['raw_buffer tcp']],
    ['tcp', 'STRICT', ['tls mtls tcp']],
    ['tcp', 'PERMISSIVE', [`tls ${MESH_ALL} mtls tcp`, 'tls tcp', 'raw_buffer tcp']],
    ['other', 'DISABLE', ['raw_buffer http/1.1 h2c http', 'raw_buffer tcp']],
    ['other', 'STRICT', [`tls ${MESH_HTTP} mtls http`, 'tls mtls tcp']],
    [
      'other',
      'PERMISSIVE',
      [
        `tls ${MESH_HTTP} mtls http`,
        'raw_buffer http/1.1 h2c http',
        'tls istio-peer-exchange istio mtls tcp',
        'raw_buffer tcp',
        'tls tcp',
      ],
    ],
  ])('of protocol %s and mode %s are %j', (name, of, expected) => {
    expect(chains(name, mode(of))).toEqual(expected);
  });

  it('end the TLS of an ingress entry where the port has no mTLS', () => {
    const tls = { mode: 'SIMPLE', serverCertificate: '/c', privateKey: '/k' };
    const found = (protocol: string, of: string) => {
      const [target] = targetsOf([ingress(own(9000, { tls }, protocol)), mode(of)]);
      return [target?.tls?.mode, ...(target?.plans.map(text) ?? [])];
    };
    expect(found('HTTPS', 'DISABLE')).toEqual(['SIMPLE', 'tls http']);
    expect(found('TLS', 'DISABLE')).toEqual(['SIMPLE', 'tls tcp']);
    expect(found('HTTPS', 'STRICT')).toEqual([undefined, 'tls mtls http']);
  });

  it('out of a tunnel end no TLS', () => {
    const plans = ask(
      world([client, ...web(http(80, 8080)), mode('STRICT')]),
      reading('test/tunnelled', reader => {
        const [port] = reader.get(inboundPorts, '');
        return tunnelledTarget(reader, inboundTarget(reader, port!)).plans;
      }),
      '',
      proxy(),
    );
    expect(plans.map(text)).toEqual(['raw_buffer http']);
  });

  it('have names, routes and statistics of their port', () => {
    const [target, passthrough] = targetsOf(web(http(80, 8080)), mesh);
    expect(target).toMatchObject({
      destinationPort: 8080,
      cluster: 'inbound|8080||',
      tcpStatPrefix: 'web.default/80/http-80',
      httpStatPrefix: 'inbound_0.0.0.0_8080;',
      http2: false,
      httpName: '0.0.0.0_8080',
      tcpName: '0.0.0.0_8080',
    });
    expect(target?.route).toEqual({
      cluster: 'inbound|8080||',
      port: 80,
      operation: 'web.default.svc.cluster.local:80/*',
      retries: true,
    });
    expect(passthrough).toMatchObject({
      destinationPort: 0,
      cluster: 'InboundPassthroughCluster',
      httpStatPrefix: 'InboundPassthroughCluster;',
      protocol: 'Unsupported',
      http2: false,
      route: { cluster: 'InboundPassthroughCluster', port: 0, operation: ':0/*', retries: true },
      httpName: 'virtualInbound-catchall-http',
      tcpName: 'virtualInbound',
    });
    expect(passthrough?.tcpStatPrefix).toContain('virtualInbound');
    expect(targetsOf([])[0]?.tcpStatPrefix).toBe('InboundPassthroughCluster');
  });

  it('retry requests, but not those of gRPC', () => {
    const retries = (name: string) => targetsOf(web({ name, port: 80, targetPort: 8080 }))[0]?.route.retries;
    expect(['http', 'http2', 'grpc', 'grpc-web'].map(retries)).toEqual([true, true, false, false]);
  });
});
