// Flags of istiod that change what proxies get: each with its effect, against the same mesh without it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { servicesOfHost } from '../../../src/core/registry/services.ts';
import { TlsParameters_TlsProtocol as TlsProtocol } from '../../../src/xds/proto/types.gen.ts';
import { cluster, clustersOf, HTTP_PORT, rule, tlsContext, workload } from './generate/cluster/cluster-scene.ts';
import { workloadScene } from './generate/listener/scene.ts';
import { httpService, istio, routerNode, Scene, sidecarNode } from './generate/route/scene.ts';

const HOST = 'web.default.svc.cluster.local';
const NAME = `outbound|80||${HOST}`;

function scene(
  objects: readonly JsonObject[],
  env: Readonly<Record<string, string>>,
  metadata: JsonObject = {},
): Scene {
  const made = new Scene(objects, { env });
  made.connect('p', sidecarNode('default', metadata));
  made.connect('gw', routerNode('default'));
  return made;
}

const entry = (name: string, spec: JsonObject): JsonObject =>
  istio('ServiceEntry', 'default', name, {
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
    ...spec,
  });

describe('COMPLIANCE_POLICY', () => {
  const objects = [
    ...workload('web', 'default', '10.0.0.1', [HTTP_PORT]),
    rule('web', { trafficPolicy: { tls: { mode: 'SIMPLE' } } }),
  ];
  const parameters = (policy: string) =>
    tlsContext(cluster(scene(objects, { COMPLIANCE_POLICY: policy }), 'p', NAME))?.commonTlsContext?.tlsParams;

  it('with fips-140-2 limits TLS to 1.2', () => {
    expect(parameters('fips-140-2')).toEqual({
      tlsMinimumProtocolVersion: TlsProtocol.TLSv1_2,
      tlsMaximumProtocolVersion: TlsProtocol.TLSv1_2,
    });
  });

  it('with pqc requires TLS 1.3 and a post-quantum key agreement', () => {
    expect(parameters('pqc')).toMatchObject({
      tlsMinimumProtocolVersion: TlsProtocol.TLSv1_3,
      tlsMaximumProtocolVersion: TlsProtocol.TLSv1_3,
      ecdhCurves: ['X25519MLKEM768'],
    });
  });

  it('leaves only approved cipher suites to the server side', () => {
    const made = workloadScene([HTTP_PORT], [], { env: { COMPLIANCE_POLICY: 'fips-140-2' } });
    const chain = made.chains('app', 'virtualInbound').find(({ transportSocket }) => transportSocket !== undefined);
    expect(chain?.transportSocket?.typedConfig).toMatchObject({
      commonTlsContext: {
        tlsParams: {
          cipherSuites: [
            'ECDHE-ECDSA-AES256-GCM-SHA384',
            'ECDHE-RSA-AES256-GCM-SHA384',
            'ECDHE-ECDSA-AES128-GCM-SHA256',
            'ECDHE-RSA-AES128-GCM-SHA256',
          ],
        },
      },
    });
  });

  it('changes nothing with another value', () => {
    expect(parameters('secret')).toEqual(parameters(''));
  });
});

describe('ports of ServiceEntries in DNS clusters', () => {
  it('are distinguished by number, for any names', () => {
    const made = scene(
      [
        entry('a', { hosts: ['api.example.com'], endpoints: [{ address: 'a.example.com' }] }),
        entry('b', {
          hosts: ['api.example.com'],
          ports: [{ number: 80, name: 'web', protocol: 'HTTP' }],
          endpoints: [{ address: 'b.example.com' }],
        }),
      ],
      {},
    );
    const { endpoints = [] } = cluster(made, 'p', 'outbound|80||api.example.com').loadAssignment ?? {};
    const found = endpoints.flatMap(({ lbEndpoints = [] }) =>
      lbEndpoints.map(({ endpoint }) => endpoint?.address?.socketAddress?.address),
    );
    expect(found).toEqual(['a.example.com', 'b.example.com']);
  });
});

describe('PILOT_FILTER_GATEWAY_CLUSTER_CONFIG', () => {
  const none: Readonly<Record<string, string>> = {};
  const objects = [
    httpService('used', 'default', 80, '10.9.0.1'),
    httpService('unused', 'default', 80, '10.9.0.2'),
    httpService('elsewhere', 'default', 80, '10.9.0.3'),
    istio('Gateway', 'default', 'gw', {
      selector: { istio: 'ingressgateway' },
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    }),
    istio('VirtualService', 'default', 'vs', {
      hosts: ['a.example.com'],
      gateways: ['gw'],
      http: [{ route: [{ destination: { host: 'used' } }] }],
    }),
    istio('VirtualService', 'default', 'other', {
      hosts: ['b.example.com'],
      gateways: ['other'],
      http: [{ route: [{ destination: { host: 'elsewhere' } }] }],
    }),
  ];
  const outbound = (value: string, proxy: string, more: readonly JsonObject[] = [], env: typeof none = none) =>
    [...clustersOf(scene([...objects, ...more], { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: value, ...env }), proxy).keys()]
      .filter(name => name.startsWith('outbound'))
      .map(name => name.split('|')[3]?.split('.')[0]);

  it('gives a gateway only services that its VirtualServices lead to', () => {
    expect(outbound('true', 'gw')).toEqual(['used']);
    expect(outbound('false', 'gw')).toEqual(['elsewhere', 'unused', 'used']);
  });

  it('gives a gateway the services that an EnvoyFilter of its own refers to, as they are written', () => {
    const annotations = {
      'envoyfilter.istio.io/referenced-services':
        'default/unused.default.svc.cluster.local, elsewhere.default.svc.cluster.local',
    };
    const filter = istio('EnvoyFilter', 'default', 'needs', { configPatches: [] }, { annotations });
    const made = { ...filter, apiVersion: 'networking.istio.io/v1alpha3' };
    expect(outbound('true', 'gw', [made])).toEqual(['unused', 'used']);
    const others = { ...made, spec: { workloadSelector: { labels: { app: 'other' } }, configPatches: [] } };
    expect(outbound('true', 'gw', [others])).toEqual(['used']);
  });

  it('gives a gateway the services that its proxy fetches keys of tokens from', () => {
    const jwksUri = 'http://unused.default.svc.cluster.local/keys';
    const rules = { ...istio('RequestAuthentication', 'default', 'jwt', { jwtRules: [{ issuer: 'i', jwksUri }] }) };
    const made = [{ ...rules, apiVersion: 'security.istio.io/v1' }];
    expect(outbound('true', 'gw', made)).toEqual(['used']);
    expect(outbound('true', 'gw', made, { PILOT_JWT_ENABLE_REMOTE_JWKS: 'envoy' })).toEqual(['unused', 'used']);
  });

  it('does not affect sidecars', () => {
    expect(outbound('true', 'p')).toEqual(['elsewhere', 'unused', 'used']);
  });
});

describe('PILOT_ENABLE_PERSISTENT_SESSION_FILTER', () => {
  const labels = { 'istio.io/persistent-session': 'sticky' };
  const service = (name: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', labels },
    spec: { clusterIP: '10.9.0.1', ports: [{ name: 'http', port: 80 }] },
  });
  const FILTER = 'envoy.filters.http.stateful_session';
  const host = (env: Readonly<Record<string, string>>) =>
    scene([service('shop')], env).host('p', '80', 'shop.default.svc.cluster.local:80');

  it('keeps sessions by the cookie that the label names', () => {
    expect(host({ PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true' }).typedPerFilterConfig?.[FILTER]).toMatchObject({
      statefulSession: { sessionState: { typedConfig: { cookie: { name: 'sticky', path: '/' } } } },
    });
    expect(host({}).typedPerFilterConfig).toBeUndefined();
  });

  it('keeps none by a label whose name is empty', () => {
    const env = { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true', PILOT_PERSISTENT_SESSION_LABEL: '' };
    expect(host(env).typedPerFilterConfig).toBeUndefined();
  });

  it('keeps sessions of a VirtualService route by its destination', () => {
    const virtualService = istio('VirtualService', 'default', 'vs', {
      hosts: ['shop.example.com'],
      http: [{ route: [{ destination: { host: 'shop' } }] }],
    });
    const made = scene([service('shop'), virtualService], { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true' });
    const [route] = made.host('p', '80', 'shop.example.com:80').routes ?? [];
    expect(Object.keys(route?.typedPerFilterConfig ?? {})).toEqual([FILTER]);
  });
});

describe('DISABLE_SHADOW_HOST_SUFFIX', () => {
  it.each([
    ['true', true],
    ['false', undefined],
  ])('%s', (value, expected) => {
    const mirrored = istio('VirtualService', 'default', 'vs', {
      hosts: ['web'],
      http: [{ route: [{ destination: { host: 'web' } }], mirror: { host: 'copy' } }],
    });
    const made = scene([httpService('web', 'default', 80, '10.9.0.1'), mirrored], {
      DISABLE_SHADOW_HOST_SUFFIX: value,
    });
    const [route] = made.host('p', '80', `${HOST}:80`).routes ?? [];
    expect(route?.route?.requestMirrorPolicies?.[0]?.disableShadowHostSuffixAppend).toBe(expected);
  });
});

describe('PILOT_ENABLE_IP_AUTOALLOCATE=false', () => {
  const addresses = (entries: readonly JsonObject[], host: string) => {
    const made = scene(entries, { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' });
    const proxy = made.state.proxies.get('p');
    if (proxy === undefined) throw new Error('no proxy');
    const [found] = made.tracker.get(made.state, proxy, servicesOfHost, host);
    return [found?.autoAllocatedV4, found?.autoAllocatedV6];
  };

  it('gives each host an address by its name, independent of other hosts', () => {
    const one = addresses([entry('a', { hosts: ['a.example.com'] })], 'a.example.com');
    expect(one[0]).toMatch(/^240\.240\.\d+\.\d+$/);
    expect(one[1]).toMatch(/^2001:2::f0f0:[0-9a-f]+$/);
    const both = [entry('a', { hosts: ['a.example.com'] }), entry('b', { hosts: ['b.example.com'] })];
    expect(addresses(both, 'a.example.com')).toEqual(one);
    expect(addresses(both, 'b.example.com')[0]).not.toEqual(one[0]);
  });

  it('gives none to wildcards, to resolution NONE, and to hosts with addresses', () => {
    expect(
      addresses([entry('a', { hosts: ['*.example.com'], resolution: 'NONE' })], '*.example.com')[0],
    ).toBeUndefined();
    expect(addresses([entry('a', { hosts: ['a.test'], addresses: ['10.1.1.1'] })], 'a.test')[0]).toBeUndefined();
  });
});

describe('LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES', () => {
  it('labels endpoints outside the mesh with the ServiceEntry', () => {
    const external = entry('ext', { hosts: ['api.test'], endpoints: [{ address: 'x.test', labels: { app: 'own' } }] });
    const described = (env: Readonly<Record<string, string>>) => {
      const { loadAssignment } = cluster(scene([external], env), 'p', 'outbound|80||api.test');
      return loadAssignment?.endpoints?.[0]?.lbEndpoints?.[0]?.metadata?.filterMetadata?.istio?.workload;
    };
    expect(described({})).toBe('ext-0;default;own;;Kubernetes');
    const on = { LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: 'true' };
    expect(described(on)).toBe('ext-0;default;ext;;Kubernetes');
  });
});

describe('ENABLE_TLS_ON_SIDECAR_INGRESS', () => {
  const sidecar = istio('Sidecar', 'prod', 'tls', {
    ingress: [
      {
        port: { number: 8443, name: 'https', protocol: 'HTTPS' },
        tls: { mode: 'SIMPLE', serverCertificate: '/c.pem', privateKey: '/k.pem' },
      },
    ],
  });
  const plaintext: JsonObject = {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'default', namespace: 'prod' },
    spec: { mtls: { mode: 'DISABLE' } },
  };
  const chains = (more: readonly JsonObject[], value: string) =>
    workloadScene([], [sidecar, ...more], { env: { ENABLE_TLS_ON_SIDECAR_INGRESS: value } })
      .chains('app', 'virtualInbound')
      .filter(({ filterChainMatch }) => filterChainMatch?.destinationPort?.value === 8443);
  const last = (found: ReturnType<typeof chains>) => found.map(({ filters = [] }) => filters.at(-1)?.name);

  it('terminates the TLS of the ingress entry where the port has no mTLS, and serves its content', () => {
    const found = chains([plaintext], 'true');
    expect(last(found)).toEqual(['envoy.filters.network.http_connection_manager']);
    expect(found[0]?.filterChainMatch?.transportProtocol).toBe('tls');
    expect(found[0]?.transportSocket?.typedConfig).toMatchObject({
      commonTlsContext: { tlsCertificateSdsSecretConfigs: [{ name: 'file-cert:/c.pem~/k.pem' }] },
    });
  });

  it('leaves mTLS in place where the port has it', () => {
    expect(chains([], 'true').length).toBeGreaterThan(1);
  });

  it('passes HTTPS through if it is switched off', () => {
    expect(last(chains([plaintext], 'false'))).toEqual(['envoy.filters.network.tcp_proxy']);
  });
});

describe('the addresses of a service for a proxy of both families', () => {
  const web = { ...httpService('web', 'default', 80, '10.9.0.1') };
  const spec = { ...(web.spec as JsonObject), clusterIPs: ['10.9.0.1', 'fd00::1'] };
  const domains = (env: Readonly<Record<string, string>>) =>
    scene([{ ...web, spec }], env, { INSTANCE_IPS: '10.1.0.1,fd00::2' })
      .host('p', '80', `${HOST}:80`)
      .domains?.slice(-2);

  it.each(['ISTIO_DUAL_STACK', 'PILOT_ENABLE_AMBIENT'])('are those of both with %s', flag => {
    expect(domains({})).toEqual(['web.default', '10.9.0.1']);
    expect(domains({ [flag]: 'true' })).toEqual(['10.9.0.1', '[fd00::1]']);
  });
});
