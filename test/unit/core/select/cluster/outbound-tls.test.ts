// TLS of outbound clusters: when the mesh decides, what a rule changes, and files that the proxy announces.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { WorldPart } from '../../../world.ts';
import { destinationRule, peerAuthentication, pod, service, serviceEntry, slice } from '../../registry/fixtures.ts';
import { clustersOf, type Options, only, WEB } from './outbound-scene.ts';

const web = service('web');
const TLS = 'security.istio.io/tlsMode';
const backed = (mode?: string): readonly JsonObject[] => [
  slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]),
  pod('web-1', '10.0.0.1', { labels: { app: 'web', ...(mode === undefined ? {} : { [TLS]: mode }) }, account: 'shop' }),
];
const ACCOUNT = 'spiffe://cluster.local/ns/default/sa/shop';
const rule = (tls: JsonObject, host = 'web'): JsonObject => destinationRule('r', host, { trafficPolicy: { tls } });
const external = (spec: JsonObject = {}): JsonObject =>
  serviceEntry('e', { hosts: ['e.com'], location: 'MESH_EXTERNAL', subjectAltNames: ['e-san'], ...spec });
const sockets = (parts: readonly WorldPart[], options: Options = {}, host = WEB) => only(host, parts, options).sockets;

describe('TLS without a rule', () => {
  it('is mTLS of the mesh for the endpoints that take it, with the accounts of the service', () => {
    expect(sockets([web, ...backed('istio')])).toMatchObject({
      mode: 'ISTIO_MUTUAL',
      conditional: true,
      sni: `outbound_.80_._.${WEB}`,
      subjectAltNames: [ACCOUNT],
    });
    const subsets = [{ name: 'v1', labels: { v: '1' } }];
    const [, v1] = clustersOf(WEB, [web, destinationRule('r', 'web', { subsets })]);
    expect(v1?.sockets?.sni).toBe(`outbound_.80_.v1_.${WEB}`);
  });

  it('is none for services outside of the mesh, or where the mesh or a policy switches it off', () => {
    expect(sockets([external()], {}, 'e.com')).toBeUndefined();
    expect(sockets([external({ location: 'MESH_INTERNAL' })], {}, 'e.com')).toBeDefined();
    expect(sockets([web], { mesh: { enableAutoMtls: false } })).toBeUndefined();
    expect(sockets([web, peerAuthentication('p', { mtls: { mode: 'DISABLE' } })])).toBeUndefined();
    expect(sockets([web, peerAuthentication('p', { mtls: { mode: 'PERMISSIVE' } })])).toBeDefined();
  });

  it.each<[string, readonly JsonObject[], boolean | undefined]>([
    ['no endpoint', [], undefined],
    ['an endpoint that takes it', backed('istio'), false],
    ['an endpoint that does not', backed(), undefined],
    [
      'one of each',
      [slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }, { ip: '10.0.0.2' }]), ...backed('istio').slice(1)],
      undefined,
    ],
  ])('of a headless service with %s is unconditional or none', (_what, parts, conditional) => {
    expect(sockets([service('web', { clusterIP: 'None' }), ...parts])?.conditional).toBe(conditional);
  });

  it('of connections that a rule passes through is unconditional or none', () => {
    const loadBalancer = { simple: 'PASSTHROUGH' };
    const passed = destinationRule('r', 'web', { trafficPolicy: { loadBalancer } });
    expect(sockets([web, passed])).toBeUndefined();
    expect(sockets([web, passed, ...backed('istio')])?.conditional).toBe(false);
    const subset = destinationRule('r', 'web', { subsets: [{ name: 'v1', trafficPolicy: { loadBalancer } }] });
    const both = clustersOf(WEB, [web, subset]).map(one => [one.discovery, one.sockets?.conditional]);
    expect(both).toEqual([
      ['EDS', true],
      ['ORIGINAL_DST', undefined],
    ]);
  });
});

describe('TLS by a rule', () => {
  it('of the mesh is unconditional, with what the rule says of names', () => {
    expect(sockets([web, ...backed('istio'), rule({ mode: 'ISTIO_MUTUAL' })])).toMatchObject({
      conditional: false,
      sni: `outbound_.80_._.${WEB}`,
      subjectAltNames: [ACCOUNT],
    });
    expect(sockets([web, rule({ mode: 'DISABLE' })])).toBeUndefined();
    expect(sockets([web, rule({ sni: 'a.com' })])).toBeUndefined();
  });

  const files = { clientCertificate: '/c', privateKey: '/k', caCertificates: '/r', caCrl: '/l' };
  const mesh = { tlsDefaults: { ecdhCurves: ['P-256'], cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'] } };

  it('that originates it has its files and the defaults of the mesh', () => {
    const found = sockets([web, ...backed('istio'), rule({ mode: 'MUTUAL', ...files, sni: 'a.com' })], { mesh });
    expect(found).toEqual({
      mode: 'MUTUAL',
      conditional: false,
      http2: false,
      peerExchange: false,
      sni: 'a.com',
      subjectAltNames: [],
      ...files,
      credentialName: '',
      skipVerify: false,
      fileCertificates: 'sds-grpc',
      overAds: false,
      credentialSocket: false,
      ecdhCurves: ['P-256'],
      cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'],
      compliance: '',
    });
    expect(sockets([web, rule({ mode: 'SIMPLE' })])).toMatchObject({
      mode: 'SIMPLE',
      sni: '',
      clientCertificate: '',
      privateKey: '',
      caCertificates: '',
      caCrl: '',
      ecdhCurves: [],
      cipherSuites: [],
    });
  });

  it('speaks of HTTP/2 where the cluster does', () => {
    const grpc = service('web', { ports: [{ name: 'grpc', port: 80 }] });
    for (const tls of [{ mode: 'SIMPLE' }, { mode: 'ISTIO_MUTUAL' }])
      expect([web, grpc].map(one => sockets([one, rule(tls)])?.http2)).toEqual([false, true]);
  });

  it('knows an external service by the names of its ServiceEntry, unless the rule has some', () => {
    const names = (tls: JsonObject) => sockets([external(), rule(tls, 'e.com')], {}, 'e.com')?.subjectAltNames;
    expect(names({ mode: 'SIMPLE' })).toEqual(['e-san']);
    expect(names({ mode: 'SIMPLE', subjectAltNames: ['own'] })).toEqual(['own']);
    expect(names({ mode: 'ISTIO_MUTUAL' })).toEqual(['e-san']);
  });

  it.each<[JsonObject, boolean, boolean]>([
    [{}, true, true],
    [{ sni: 'a.com' }, false, false],
    [{ subjectAltNames: ['a'] }, true, false],
    [{ insecureSkipVerify: true }, true, false],
    [{ insecureSkipVerify: true, sni: 'a.com' }, false, false],
  ])('that originates it with %j takes the SNI from the request: %s, and validates by it: %s', (more, sni, san) => {
    const { autoSni, autoSanValidation, sockets: found } = only(WEB, [web, rule({ mode: 'SIMPLE', ...more })]);
    expect([autoSni, autoSanValidation]).toEqual([sni, san]);
    expect(found?.skipVerify).toBe(more.insecureSkipVerify === true);
    const mtls = only(WEB, [web, rule({ mode: 'ISTIO_MUTUAL', ...more })]);
    expect([mtls.autoSni, mtls.autoSanValidation]).toEqual([false, false]);
  });

  it('leaves a credential to workloads that it selects', () => {
    const selects = (workloadSelector?: JsonObject) => {
      const spec = { trafficPolicy: { tls: { mode: 'SIMPLE', credentialName: 'cert' } } };
      const own = destinationRule('r', 'web', workloadSelector === undefined ? spec : { ...spec, workloadSelector });
      const found = only(WEB, [web, own], { node: { labels: { app: 'client' } } });
      return [found.sockets?.credentialName, found.problems.map(({ path }) => path)];
    };
    expect(selects({ matchLabels: { app: 'client' } })).toEqual(['cert', []]);
    expect(selects()).toEqual([undefined, ['trafficPolicy.tls.credentialName']]);
  });

  it('reads files by SDS, by another socket that the proxy announces, or directly where no agent is', () => {
    const read = (metadata: JsonObject) =>
      sockets([web, rule({ mode: 'SIMPLE', ...files })], { node: { metadata } })?.fileCertificates;
    expect(read({})).toBe('sds-grpc');
    expect(read({ 'file-credential': 'true' })).toBe('sds-files-grpc');
    expect(read({ 'file-credential': true })).toBe('sds-grpc');
  });
});

describe('on demand', () => {
  const wild = serviceEntry('w', {
    hosts: ['*.a.com'],
    ports: [{ number: 443, name: 'p', protocol: 'HTTP' }],
    resolution: 'DYNAMIC_DNS',
    location: 'MESH_EXTERNAL',
    subjectAltNames: ['never'],
  });

  it.each<[JsonObject, boolean, boolean]>([
    [{ mode: 'SIMPLE' }, true, true],
    [{ mode: 'SIMPLE', sni: 'a.com' }, false, true],
    [{ mode: 'SIMPLE', subjectAltNames: ['own'] }, true, true],
    [{ mode: 'SIMPLE', insecureSkipVerify: true }, true, false],
    [{ mode: 'ISTIO_MUTUAL' }, true, true],
    [{ mode: 'ISTIO_MUTUAL', sni: 'a.com' }, false, true],
    [{ mode: 'ISTIO_MUTUAL', insecureSkipVerify: true }, true, false],
  ])('with %j the SNI is the requested name: %s, which is validated: %s', (tls, sni, san) => {
    const found = only('*.a.com', [wild, rule(tls, '*.a.com')]);
    expect([found.autoSni, found.autoSanValidation]).toEqual([sni, san]);
    expect(found.sockets).toMatchObject({ sni: tls.sni ?? '', subjectAltNames: tls.subjectAltNames ?? [] });
  });
});

describe('files that the proxy announces', () => {
  const announced = { TLS_CLIENT_CERT_CHAIN: '/c', TLS_CLIENT_KEY: '/k', TLS_CLIENT_ROOT_CERT: '/r' };
  const node = { metadata: announced };
  const theirs = { mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k', caCertificates: '/r' };

  it('stand in for mTLS of the mesh', () => {
    expect(sockets([web, ...backed('istio')], { node })).toMatchObject({
      ...theirs,
      sni: `outbound_.80_._.${WEB}`,
      subjectAltNames: [ACCOUNT],
    });
  });

  it('stand in for files of the rule, and leave its names', () => {
    const tls = { mode: 'MUTUAL', clientCertificate: '/x', privateKey: '/y', caCertificates: '/z', caCrl: '/l' };
    const found = sockets([web, rule({ ...tls, sni: 'a.com', subjectAltNames: ['a'] })], { node });
    expect(found).toMatchObject({ ...theirs, sni: 'a.com', subjectAltNames: ['a'], caCrl: '', skipVerify: false });
    expect(sockets([web, rule({ mode: 'ISTIO_MUTUAL', insecureSkipVerify: true })], { node })?.skipVerify).toBe(true);
    expect(sockets([web, rule({ mode: 'ISTIO_MUTUAL' })], { node })).toMatchObject({ ...theirs, sni: '' });
    expect(sockets([web, rule({ mode: 'SIMPLE', caCertificates: '/z' })], { node })?.caCertificates).toBe('/z');
    expect(sockets([web, rule({ mode: 'DISABLE' })], { node })).toBeUndefined();
  });

  it('are left for the rule of an external service with the flag', () => {
    const tls = { mode: 'MUTUAL', clientCertificate: '/x', privateKey: '/y', caCertificates: '/z' };
    const env = { PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES: 'true' };
    const off = { PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES: 'false' };
    const parts = [external(), rule(tls, 'e.com')];
    expect(sockets(parts, { node, env }, 'e.com')?.clientCertificate).toBe('/x');
    expect(sockets(parts, { node, env: off }, 'e.com')?.clientCertificate).toBe('/c');
    expect(sockets([web, rule(tls)], { node, env })?.clientCertificate).toBe('/c');
  });

  it('without a key are a finding, and there is no TLS', () => {
    const found = only(WEB, [web, rule({ mode: 'ISTIO_MUTUAL' })], {
      node: { metadata: { TLS_CLIENT_CERT_CHAIN: '/c' } },
    });
    expect([found.sockets, found.autoSni, found.autoSanValidation]).toEqual([undefined, true, true]);
    expect(found.problems).toMatchObject([
      {
        path: 'trafficPolicy.tls',
        message: 'MUTUAL needs clientCertificate and privateKey, or credentialName: sent without TLS',
      },
    ]);
    const bare = sockets([web, rule({ mode: 'ISTIO_MUTUAL' })], { node: { metadata: { TLS_CLIENT_KEY: '/k' } } });
    expect(bare?.mode).toBe('ISTIO_MUTUAL');
  });
});
