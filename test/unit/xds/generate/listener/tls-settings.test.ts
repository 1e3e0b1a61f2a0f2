// What the mesh, the flags and the node say about TLS that proxies terminate, at gateways and between workloads.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { CommonTlsContext, DownstreamTlsContext } from '../../../../../src/xds/proto/types.gen.ts';
import { httpService, istio, routerNode, type SceneOptions } from '../route/scene.ts';
import { ListenerScene, workloadScene } from './scene.ts';

const server = (tls: JsonObject, more: JsonObject = {}): JsonObject => ({
  port: { number: 8443, name: 'https', protocol: 'HTTPS' },
  hosts: ['*'],
  tls: { mode: 'SIMPLE', credentialName: 'c', ...tls },
  ...more,
});

function gatewayScene(spec: JsonObject, options: SceneOptions = {}, metadata: JsonObject = {}): ListenerScene {
  const objects = [
    istio('Gateway', 'edge', 'g', { selector: { istio: 'ingressgateway' }, servers: [spec] }),
    httpService('sds', 'edge', 8080, '10.96.0.7'),
  ];
  const scene = new ListenerScene(objects, options);
  const node = routerNode('edge');
  scene.connect('gw', { ...node, metadata: { ...(node.metadata as JsonObject), ...metadata } });
  return scene;
}

function gatewayTls(spec: JsonObject, options: SceneOptions = {}, metadata: JsonObject = {}): CommonTlsContext {
  const [chain] = gatewayScene(spec, options, metadata).chains('gw', '0.0.0.0_8443');
  return (chain?.transportSocket?.typedConfig as DownstreamTlsContext | undefined)?.commonTlsContext ?? {};
}

describe('the versions and ciphers of a gateway', () => {
  it.each<[JsonObject, JsonObject, number | undefined]>([
    [{}, {}, undefined],
    [{}, { minProtocolVersion: 'TLSV1_3' }, 4],
    [{}, { minProtocolVersion: 'TLSV1_2' }, 3],
    [{ minProtocolVersion: 'TLSV1_2' }, { minProtocolVersion: 'TLSV1_3' }, 3],
    [{ minProtocolVersion: 'TLS_AUTO' }, { minProtocolVersion: 'TLSV1_3' }, 4],
    [{ minProtocolVersion: 'TLS_AUTO' }, {}, undefined],
  ])('of a server with %j in a mesh with %j: the oldest is %s', (tls, tlsDefaults, expected) => {
    expect(gatewayTls(server(tls), { mesh: { tlsDefaults } }).tlsParams?.tlsMinimumProtocolVersion).toBe(expected);
  });

  it('are those of the mesh where the server names no cipher that is known', () => {
    const mesh = { tlsDefaults: { cipherSuites: ['ECDHE-RSA-AES256-GCM-SHA384'], ecdhCurves: ['P-256'] } };
    const suites = (cipherSuites: readonly string[]) => gatewayTls(server({ cipherSuites }), { mesh }).tlsParams;
    expect(suites([])).toEqual({ cipherSuites: ['ECDHE-RSA-AES256-GCM-SHA384'], ecdhCurves: ['P-256'] });
    expect(suites(['RC4-SHA'])?.cipherSuites).toEqual(['ECDHE-RSA-AES256-GCM-SHA384']);
    expect(suites(['AES128-SHA'])?.cipherSuites).toEqual(['AES128-SHA']);
  });

  it('obey the policy of the control plane', () => {
    const env = { COMPLIANCE_POLICY: 'fips-140-2' };
    expect(gatewayTls(server({}), { env }).tlsParams).toMatchObject({
      tlsMinimumProtocolVersion: 3,
      tlsMaximumProtocolVersion: 3,
    });
  });
});

describe('a credential of a gateway by a name with sds://', () => {
  const named = server({ credentialName: 'sds://cred' });
  const source = (options: SceneOptions, metadata: JsonObject = {}): readonly [unknown, unknown] => {
    const [secret] = gatewayTls(named, options, metadata).tlsCertificateSdsSecretConfigs ?? [];
    const api = secret?.sdsConfig?.apiConfigSource as
      | { readonly grpcServices?: readonly { readonly envoyGrpc?: { readonly clusterName?: string } }[] }
      | undefined;
    return [secret?.name, api?.grpcServices?.[0]?.envoyGrpc?.clusterName];
  };
  const provider = (service: string): SceneOptions => ({
    mesh: {
      extensionProviders: [
        { name: 'other', prometheus: {} },
        { name: 'sds', sds: { name: 'sds', service, port: 8080 } },
      ],
    },
  });

  it('is fetched from the provider of the mesh, or by its whole name from the socket in the proxy, which comes first', () => {
    const socket = { credential: 'true' };
    expect(source(provider('sds.edge.svc.cluster.local'))).toEqual([
      'cred',
      'outbound|8080||sds.edge.svc.cluster.local',
    ]);
    expect(source(provider('sds.edge.svc.cluster.local'), socket)).toEqual(['sds://cred', 'sds-external']);
    expect(source({}, socket)).toEqual(['sds://cred', 'sds-external']);
  });
});

describe('a gateway without an agent', () => {
  const stock = (spec: JsonObject): readonly string[] => {
    const scene = gatewayScene(spec);
    scene.connect('gw', { ...routerNode('edge'), extensions: [{ name: 'envoy.filters.http.router' }] });
    return scene.names('gw');
  };

  it('serves what needs no certificate of the mesh', () => {
    expect(stock(server({}))).toEqual(['0.0.0.0_8443']);
    expect(stock(server({ credentialName: 'builtin://' }))).toEqual([]);
    expect(stock(server({ mode: 'ISTIO_MUTUAL', credentialName: '' }))).toEqual([]);
  });
});

describe('the addresses of a gateway', () => {
  const DUAL = { INSTANCE_IPS: '10.1.0.9,fd00::9' };
  const addresses = (more: JsonObject, env: Readonly<Record<string, string>>): readonly unknown[] => {
    const scene = gatewayScene(server({}, more), { env }, DUAL);
    const [{ message } = { message: {} }] = scene.listeners('gw');
    const { address, additionalAddresses = [] } = message as ReturnType<ListenerScene['listener']>;
    return [address, ...additionalAddresses.map(one => one.address)].map(one => one?.socketAddress?.address);
  };

  it.each<[JsonObject, string, readonly string[]]>([
    [{}, 'true', ['0.0.0.0', '::']],
    [{}, 'false', ['0.0.0.0']],
    [{ bind: '10.1.0.9' }, 'true', ['10.1.0.9']],
    [{ bind: '0.0.0.0' }, 'true', ['0.0.0.0']],
  ])('with %j and ISTIO_DUAL_STACK=%s are %j', (more, ISTIO_DUAL_STACK, expected) => {
    expect(addresses(more, { ISTIO_DUAL_STACK })).toEqual(expected);
  });
});

describe('mTLS of a workload', () => {
  const context = (options: SceneOptions = {}, metadata: JsonObject = {}): CommonTlsContext => {
    const scene = workloadScene([{ name: 'http', port: 8080 }], [], options, metadata);
    const chain = scene.chains('app', 'virtualInbound').find(({ transportSocket }) => transportSocket !== undefined);
    return (chain?.transportSocket?.typedConfig as DownstreamTlsContext | undefined)?.commonTlsContext ?? {};
  };

  it('has the version and the ciphers of meshMTLS', () => {
    const meshMTLS = { minProtocolVersion: 'TLSV1_3', cipherSuites: ['AES128-SHA'] };
    expect(context({ mesh: { meshMTLS } }).tlsParams).toMatchObject({
      tlsMinimumProtocolVersion: 4,
      cipherSuites: ['AES128-SHA'],
    });
    const { tlsMinimumProtocolVersion, cipherSuites } = context().tlsParams ?? {};
    expect([tlsMinimumProtocolVersion, cipherSuites?.length]).toEqual([3, 6]);
  });

  it.each<[JsonObject, string, string]>([
    [{}, 'default', 'ROOTCA'],
    [
      { TLS_SERVER_CERT_CHAIN: '/c', TLS_SERVER_KEY: '/k', TLS_SERVER_ROOT_CERT: '/r' },
      'file-cert:/c~/k',
      'file-root:/r',
    ],
    [{ TLS_SERVER_CERT_CHAIN: '/c', TLS_SERVER_ROOT_CERT: '/r' }, 'default', 'file-root:/r'],
    [{ TLS_SERVER_KEY: '/k' }, 'default', 'ROOTCA'],
  ])('of a node with %j presents %s and trusts %s', (metadata, certificate, root) => {
    const { tlsCertificateSdsSecretConfigs, combinedValidationContext } = context({}, metadata);
    expect(tlsCertificateSdsSecretConfigs?.[0]?.name).toBe(certificate);
    expect(combinedValidationContext?.validationContextSdsSecretConfig?.name).toBe(root);
  });

  it('trusts the domains of the mesh, unless the flag says that any is trusted', () => {
    const mesh = { trustDomain: 'a', trustDomainAliases: ['b'] };
    const domains = (env = {}) =>
      context({ mesh, env }).combinedValidationContext?.defaultValidationContext?.matchSubjectAltNames;
    expect(domains()).toEqual([{ prefix: 'spiffe://a/' }, { prefix: 'spiffe://b/' }]);
    expect(domains({ PILOT_SKIP_VALIDATE_TRUST_DOMAIN: 'true' })).toEqual([]);
  });
});
