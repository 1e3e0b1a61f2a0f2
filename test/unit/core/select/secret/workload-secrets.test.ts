// The workload certificate and the roots of the mesh, for proxies that get them from this control plane.

import { describe, expect, it } from 'vitest';
import { base64OfText } from '../../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { IDENTITY_API } from '../../../../../src/core/kinds/periplus/identity.ts';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import { credential } from '../../../../../src/core/select/secret/credentials.ts';
import { agentRoots, meshRoots } from '../../../../../src/core/select/secret/mesh-roots.ts';
import { ask, nodeOf, proxyOf, type WorldOptions, type WorldPart, world } from '../../../world.ts';

const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`;
const lines = (...texts: readonly string[]): string => texts.map(text => `${pem(text)}\n`).join('');

const said = (kind: string, name: string, spec: JsonObject, namespace?: string): JsonObject => ({
  apiVersion: IDENTITY_API,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec,
});
const authority = (more: JsonObject = {}): JsonObject =>
  said('TrustAnchors', 'istio-ca', { roots: pem('own'), ...more });
const issued = (name: string, more: JsonObject = {}): JsonObject =>
  said('WorkloadCertificate', name, { chain: 'chain', fingerprint: 'print', ...more }, 'shop');

/** A stock Envoy that proves to be the account `web` of `shop`. */
const stock: ProxyRecord = {
  ...proxyOf(nodeOf({ namespace: 'shop', metadata: { SERVICE_ACCOUNT: 'web' } })),
  extensions: new Set(['envoy.filters.http.router']),
  identities: ['spiffe://cluster.local/ns/shop/sa/web'],
};

const asked = (name: string, parts: readonly WorldPart[], proxy = stock, options: WorldOptions = {}) =>
  ask(world(parts, options), credential, name, proxy);

describe('the workload certificate', () => {
  it('is that which was issued for the account of the proxy', () => {
    const parts = [authority(), issued('web'), issued('other', { chain: 'other' })];
    expect(asked('default', parts)).toEqual({ kind: 'workload', chain: base64OfText('chain'), fingerprint: 'print' });
    expect(asked('default', [authority()])).toBeUndefined();
    expect(asked('default', [authority(), issued('web', { fingerprint: '' })])).toBeUndefined();
  });

  it('is not sent to a proxy with an agent, without an identity, or of another mesh', () => {
    const parts = [authority(), issued('web')];
    expect(asked('default', parts, { ...stock, extensions: undefined })).toBeUndefined();
    expect(asked('default', parts, { ...stock, identities: [] })).toBeUndefined();
    const forwarded = (domain: string): ProxyRecord => ({
      ...stock,
      identities: [`spiffe://${domain}/ns/shop/sa/web`],
      proof: { how: 'forwarded', peer: '10.0.0.9' },
    });
    expect(asked('default', parts, forwarded('partner.example'))).toBeUndefined();
    expect(asked('default', parts, forwarded('cluster.local'))).toBeDefined();
  });

  it('needs an authority that signs for workloads', () => {
    expect(asked('default', [issued('web')])).toBeUndefined();
    expect(asked('default', [authority({ mode: 'registration' }), issued('web')])).toBeUndefined();
  });
});

describe('the roots of the mesh', () => {
  it('are sent with the revocations of the authority, if there are any', () => {
    expect(asked('ROOTCA', [authority()])).toEqual({
      kind: 'roots',
      roots: base64OfText(lines('own')),
      revoked: undefined,
    });
    expect(asked('ROOTCA', [authority({ crl: 'list' })])).toMatchObject({ revoked: base64OfText('list') });
    expect(asked('ROOTCA', [authority()], { ...stock, extensions: undefined })).toBeUndefined();
    expect(asked('ROOTCA', [])).toBeUndefined();
  });

  it('are those of every source, sorted, each once', () => {
    const parts = [
      authority({ roots: `${pem('own')}\ntext between\n${pem('next')}\n` }),
      said('TrustAnchors', 'istio-ra', { roots: pem('signer') }),
      said('TrustAnchors', 'istiod-serving', { roots: pem('serving') }),
      said('SpiffeBundle', 'b', { url: 'https://x', certificates: [pem('bundle'), pem('own')] }),
    ];
    const mesh = { caCertificates: [{ pem: pem('mesh') }, { spiffeBundleUrl: 'https://x' }] };
    expect(ask(world(parts, { mesh }), meshRoots, '')).toBe(lines('bundle', 'mesh', 'next', 'own', 'signer'));
    expect(ask(world([]), meshRoots, '')).toBe('');
  });

  it('are told to agents if the mesh has several, and some is known', () => {
    const roots = (parts: readonly WorldPart[], value: string) =>
      ask(world(parts, { settings: { env: { ISTIO_MULTIROOT_MESH: value } } }), agentRoots, '');
    expect(roots([authority()], 'true')).toEqual([lines('own')]);
    expect(roots([authority()], 'false')).toBeUndefined();
    expect(roots([], 'true')).toBeUndefined();
  });
});

describe('a secret', () => {
  const secret = (namespace: string, name: string, type = 'Opaque'): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    type,
    metadata: { namespace, name },
    data: { 'tls.crt': base64OfText('chain'), 'tls.key': base64OfText('key') },
  });
  const env = { PERIPLUS_SECRET_ACCESS: 'namespace' };
  const own = (name: string, parts: readonly JsonObject[], proxy = stock) =>
    asked(name, parts, proxy, { settings: { env } })?.kind;

  it('of the authority is never sent, whatever rights the account has', () => {
    const system: ProxyRecord = {
      ...proxyOf(nodeOf({ namespace: 'istio-system', metadata: { SERVICE_ACCOUNT: 'web' } })),
      identities: ['spiffe://cluster.local/ns/istio-system/sa/web'],
    };
    for (const name of ['istio-ca-secret', 'cacerts', 'istiod-tls']) {
      expect(own(`kubernetes://${name}`, [secret('istio-system', name)], system)).toBeUndefined();
      expect(own(`kubernetes://${name}`, [secret('shop', name)])).toBe('certificate');
    }
    expect(own('kubernetes://any', [secret('shop', 'any', 'istio.io/ca-root')])).toBeUndefined();
  });

  it.each(['kubernetes://', 'kubernetes:///a', 'kubernetes://shop/', 'kubernetes-gateway://a', 'configmap://a', 'a'])(
    'is none by the name %j',
    name => {
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'a' } };
      expect(own(name, [secret('shop', 'a'), { ...map, data: { 'ca.crt': 'roots' } }])).toBeUndefined();
    },
  );
});
