import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio, routerNode, Scene, type SceneOptions, service, sidecarNode } from '../route/scene.ts';
import {
  cluster,
  clustersOf,
  HTTP_PORT,
  httpOptions,
  pod,
  rule,
  slice,
  tlsContext,
  workload,
} from './cluster-scene.ts';

const HOST = 'web.default.svc.cluster.local';
const NAME = `outbound|80||${HOST}`;

function scene(extra: readonly JsonObject[], options: SceneOptions = {}, metadata: JsonObject = {}): Scene {
  const made = new Scene([...workload('web', 'default', '10.0.0.1', [HTTP_PORT]), ...extra], options);
  made.connect('p', sidecarNode('default', metadata));
  made.connect('gw', routerNode('default'));
  return made;
}

const tls = (settings: JsonObject, extra: JsonObject = {}) =>
  rule('web', { trafficPolicy: { tls: settings }, ...extra });

describe('automatic mTLS', () => {
  it('is offered to endpoints labelled for it', () => {
    const [istioMatch, plain] = cluster(scene([]), 'p', NAME).transportSocketMatches ?? [];
    expect(istioMatch?.match).toEqual({ tlsMode: 'istio' });
    expect(istioMatch?.transportSocket?.typedConfig).toMatchObject({
      sni: `outbound_.80_._.${HOST}`,
      commonTlsContext: {
        alpnProtocols: ['istio-peer-exchange', 'istio'],
        tlsCertificateSdsSecretConfigs: [{ name: 'default' }],
        combinedValidationContext: {
          defaultValidationContext: { matchSubjectAltNames: [{ exact: 'spiffe://cluster.local/ns/default/sa/web' }] },
          validationContextSdsSecretConfig: { name: 'ROOTCA' },
        },
      },
    });
    expect(plain).toMatchObject({ match: {}, transportSocket: { name: 'envoy.transport_sockets.raw_buffer' } });
  });

  it.each<[string, readonly JsonObject[], SceneOptions]>([
    ['the mesh says so', [], { mesh: { enableAutoMtls: false } }],
    ['the namespace disables it', [peerAuthentication('default', 'DISABLE')], {}],
    ['the mesh policy disables it', [peerAuthentication('istio-system', 'DISABLE')], {}],
    ['a rule disables it', [tls({ mode: 'DISABLE' })], {}],
  ])('is off where %s', (_why, extra, options) => {
    const message = cluster(scene(extra, options), 'p', NAME);
    expect(message.transportSocketMatches).toBeUndefined();
    expect(message.transportSocket).toBeUndefined();
  });

  it('requires every endpoint of a headless service to support it', () => {
    const name = 'outbound|80||db.default.svc.cluster.local';
    const headless = service('db', 'default', { clusterIP: 'None', ports: [HTTP_PORT], selector: { app: 'db' } });
    const endpoint = slice('db', 'default', '10.0.0.2', [HTTP_PORT]);
    const meshed = pod('db', 'default', '10.0.0.2', { app: 'db', 'security.istio.io/tlsMode': 'istio' });
    expect(cluster(scene([headless, meshed, endpoint]), 'p', name).transportSocket).toBeDefined();
    const plain = pod('db', 'default', '10.0.0.2', { app: 'db' });
    expect(cluster(scene([headless, plain, endpoint]), 'p', name).transportSocket).toBeUndefined();
    expect(cluster(scene([headless]), 'p', name).transportSocket).toBeUndefined();
  });

  it('requires every endpoint to support it where a rule passes connections through', () => {
    const passes = rule('web', { trafficPolicy: { loadBalancer: { simple: 'PASSTHROUGH' } } });
    expect(cluster(scene([passes]), 'p', NAME).transportSocket).toBeDefined();
    const plain = pod('web', 'default', '10.0.0.1', { app: 'web' });
    expect(cluster(scene([passes, plain]), 'p', NAME).transportSocket).toBeUndefined();
  });

  it('uses the certificates that the node names', () => {
    const metadata = { TLS_CLIENT_CERT_CHAIN: '/c', TLS_CLIENT_KEY: '/k', TLS_CLIENT_ROOT_CERT: '/r' };
    const context = tlsContext(cluster(scene([], {}, metadata), 'p', NAME));
    expect(context?.commonTlsContext?.tlsCertificateSdsSecretConfigs?.[0]?.name).toBe('file-cert:/c~/k');
  });
});

function peerAuthentication(namespace: string, mode: string): JsonObject {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'default', namespace },
    spec: { mtls: { mode } },
  };
}

describe('TLS of a DestinationRule', () => {
  it('in mode SIMPLE without SNI takes SNI and SAN from the host', () => {
    const message = cluster(scene([tls({ mode: 'SIMPLE', caCertificates: '/ca.pem' })]), 'p', NAME);
    const { commonTlsContext, sni } = tlsContext(message) ?? {};
    expect(sni).toBeUndefined();
    expect(commonTlsContext?.combinedValidationContext?.validationContextSdsSecretConfig?.name).toBe(
      'file-root:/ca.pem',
    );
    expect(message.typedExtensionProtocolOptions?.[httpOptions]).toMatchObject({
      upstreamHttpProtocolOptions: { autoSni: true, autoSanValidation: true },
    });
    expect(message.metadata?.filterMetadata?.istio).toMatchObject({ alpn_override: 'false' });
  });

  it('in mode SIMPLE takes the names to validate from a ServiceEntry, and none from the accounts of pods', () => {
    const simple = { trafficPolicy: { tls: { mode: 'SIMPLE' } } };
    const external = istio('ServiceEntry', 'default', 'ext', {
      hosts: ['ext.example.com'],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'DNS',
      subjectAltNames: ['spiffe://ext'],
    });
    const made = scene([external, rule('ext.example.com', simple), rule('web', simple)]);
    const names = (name: string): unknown =>
      tlsContext(cluster(made, 'p', name))?.commonTlsContext?.combinedValidationContext?.defaultValidationContext
        ?.matchSubjectAltNames;
    expect(names('outbound|80||ext.example.com')).toEqual([{ exact: 'spiffe://ext' }]);
    expect(names(NAME)).toBeUndefined();
  });

  it('in mode SIMPLE with insecureSkipVerify validates nothing', () => {
    const message = cluster(scene([tls({ mode: 'SIMPLE', insecureSkipVerify: true })]), 'p', NAME);
    expect(tlsContext(message)?.commonTlsContext?.validationContext).toEqual({});
    const options = message.typedExtensionProtocolOptions?.[httpOptions] as { upstreamHttpProtocolOptions?: unknown };
    expect(options.upstreamHttpProtocolOptions).toEqual({ autoSni: true });
  });

  it('in mode MUTUAL presents the certificate of its files', () => {
    const made = scene([tls({ mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k', sni: 'x' })]);
    const context = tlsContext(cluster(made, 'p', NAME));
    expect(context?.sni).toBe('x');
    expect(context?.commonTlsContext?.tlsCertificateSdsSecretConfigs?.[0]?.name).toBe('file-cert:/c~/k');
  });

  it('in mode MUTUAL reads files through the agent, or its server of files', () => {
    const made = (metadata: JsonObject) =>
      cluster(scene([tls({ mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k' })], {}, metadata), 'p', NAME);
    const source = (metadata: JsonObject): unknown => {
      const [secret] = tlsContext(made(metadata))?.commonTlsContext?.tlsCertificateSdsSecretConfigs ?? [];
      return JSON.stringify(secret?.sdsConfig).match(/"clusterName":"([^"]+)"/)?.[1];
    };
    expect(source({})).toBe('sds-grpc');
    expect(source({ 'file-credential': 'true' })).toBe('sds-files-grpc');
  });

  it('validates the requested name alone where Envoy resolves it, whatever accounts the ServiceEntry has', () => {
    const entry = istio('ServiceEntry', 'default', 'ext', {
      hosts: ['*.example.com'],
      ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
      resolution: 'DYNAMIC_DNS',
      subjectAltNames: ['spiffe://ext'],
    });
    for (const mode of ['SIMPLE', 'ISTIO_MUTUAL']) {
      const made = scene([entry, rule('*.example.com', { trafficPolicy: { tls: { mode } } })]);
      const { combinedValidationContext } =
        tlsContext(cluster(made, 'p', 'outbound|443||*.example.com'))?.commonTlsContext ?? {};
      expect(combinedValidationContext?.defaultValidationContext?.matchSubjectAltNames ?? []).toEqual([]);
    }
  });

  it('sends without TLS, and reports it, where the node names a certificate without its key', () => {
    const made = scene([], {}, { TLS_CLIENT_CERT_CHAIN: '/c' });
    const found = clustersOf(made, 'p').get(NAME);
    expect(found?.message.transportSocket ?? found?.message.transportSocketMatches).toBeUndefined();
    expect(found?.problems.map(({ path }) => path)).toEqual(['trafficPolicy.tls']);
  });

  it('supports credentialName for gateways and selected workloads only', () => {
    const settings = { mode: 'MUTUAL', credentialName: 'cred' };
    const made = scene([tls(settings)]);
    const secrets = tlsContext(cluster(made, 'gw', NAME))?.commonTlsContext;
    expect(secrets?.tlsCertificateSdsSecretConfigs?.[0]).toEqual({
      name: 'kubernetes://cred',
      sdsConfig: { ads: {}, resourceApiVersion: 2 },
    });
    expect(secrets?.combinedValidationContext?.validationContextSdsSecretConfig?.name).toBe('kubernetes://cred-cacert');
    expect(cluster(made, 'p', NAME).transportSocket).toBeUndefined();
    expect(
      clustersOf(made, 'p')
        .get(NAME)
        ?.problems.map(problem => problem.path),
    ).toEqual(['trafficPolicy.tls.credentialName']);
    const selected = tls(settings, { workloadSelector: { matchLabels: { app: 'client' } } });
    const metadata = { LABELS: { app: 'client' } };
    expect(tlsContext(cluster(scene([selected], {}, metadata), 'p', NAME))).toBeDefined();
  });

  it('in mode ISTIO_MUTUAL is unconditional, with SANs of the rule if it has any', () => {
    const message = cluster(scene([tls({ mode: 'ISTIO_MUTUAL', subjectAltNames: ['a'] })]), 'p', NAME);
    expect(message.transportSocketMatches).toBeUndefined();
    expect(tlsContext(message)?.commonTlsContext?.combinedValidationContext?.defaultValidationContext).toEqual({
      matchSubjectAltNames: [{ exact: 'a' }],
    });
  });

  it('is wrapped by the PROXY protocol, as is plaintext', () => {
    const wrapped = rule('web', { trafficPolicy: { tls: { mode: 'DISABLE' }, proxyProtocol: { version: 'V2' } } });
    expect(cluster(scene([wrapped]), 'p', NAME).transportSocket).toMatchObject({
      name: 'envoy.transport_sockets.upstream_proxy_protocol',
      typedConfig: { config: { version: 1 }, transportSocket: { name: 'raw_buffer' } },
    });
    const both = rule('web', { trafficPolicy: { proxyProtocol: { version: 'V1' } } });
    const matches = cluster(scene([both]), 'p', NAME).transportSocketMatches ?? [];
    expect(new Set(matches.map(match => match.transportSocket?.name))).toEqual(
      new Set(['envoy.transport_sockets.upstream_proxy_protocol']),
    );
  });
});

describe('a stock Envoy', () => {
  const stock = { ...sidecarNode('default'), extensions: [{ name: 'envoy.filters.http.router' }] };
  const external = istio('ServiceEntry', 'default', 'ext', {
    hosts: ['ext.example.com'],
    ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
    resolution: 'DNS',
  });

  it('gets neither filters that it lacks nor secrets of a missing agent', () => {
    const made = scene([
      ...workload('api', 'default', '10.0.0.3', [HTTP_PORT]),
      rule('api', { trafficPolicy: { tls: { mode: 'ISTIO_MUTUAL' } } }),
      external,
      rule('ext.example.com', { trafficPolicy: { tls: { mode: 'SIMPLE', sni: 'ext.example.com' } } }),
    ]);
    made.connect('stock', stock);
    const all = JSON.stringify([...clustersOf(made, 'stock').values()].map(resource => resource.message));
    expect(all).not.toMatch(/sds-grpc|metadata_exchange|ROOTCA|istio-peer-exchange/);
    expect(JSON.stringify([...clustersOf(made, 'p').values()].map(resource => resource.message))).toMatch(/sds-grpc/);
  });

  it('reads certificate files itself instead of sending plaintext', () => {
    const settings = { mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k', caCertificates: '/ca', sni: 's' };
    const made = scene([tls(settings)]);
    made.connect('stock', stock);
    expect(tlsContext(cluster(made, 'stock', NAME))?.commonTlsContext).toMatchObject({
      tlsCertificates: [{ certificateChain: { filename: '/c' }, privateKey: { filename: '/k' } }],
      validationContext: { trustedCa: { filename: '/ca' } },
    });
  });
});
