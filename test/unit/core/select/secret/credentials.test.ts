import { describe, expect, it } from 'vitest';

import { base64OfText, bytesOfBase64, utf8 } from '../../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { isOfMesh, verifiedIdentity } from '../../../../../src/core/model/identity.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { State } from '../../../../../src/core/state.ts';
import { withoutPrivateKeys } from '../../../../../src/history/private-fields.ts';
import { secretNamed } from '../../../../../src/xds/assemble/secret/resources.ts';
import { inCluster, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';

const secret = (
  namespace: string,
  name: string,
  data: Readonly<Record<string, string>>,
  type = 'Opaque',
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: { namespace, name },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64OfText(text)])),
});

const gateway = (namespace: string, tls: JsonObject): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'Gateway',
  metadata: { namespace, name: 'gw' },
  spec: {
    selector: { app: 'gw' },
    servers: [
      { port: { number: 443, name: 'https', protocol: 'HTTPS' }, hosts: ['*'], tls: { mode: 'SIMPLE', ...tls } },
    ],
  },
});

const router = (claims: JsonObject = {}, identities = ['spiffe://td/ns/edge/sa/gw']) => ({
  ...proxyOf(
    nodeOf({
      type: 'router',
      namespace: 'edge',
      labels: { app: 'gw' },
      metadata: { SERVICE_ACCOUNT: 'gw', CLUSTER_ID: 'Kubernetes', ...claims },
    }),
  ),
  identities,
});

function served(state: State, name: string, proxy = router()) {
  return new Tracker().get(state, proxy, secretNamed, name)?.message;
}

const bytes = (text: string) => ({ inlineBytes: new Uint8Array(utf8(text)) });
const tls = { 'tls.crt': 'chain', 'tls.key': 'key' };
const certificate = { certificateChain: bytes('chain'), privateKey: bytes('key') };

describe('secrets over ADS', () => {
  it('come from the own namespace, in both forms that Istio reads; the generic one wins', () => {
    const state = world([
      secret('edge', 'a', tls),
      secret('edge', 'b', { ...tls, cert: 'other chain', key: 'other key', 'tls.ocsp-staple': 'staple' }),
      secret('edge', 'c', { ...tls, cert: '', key: 'other key', 'tls.ocsp-staple': 'staple' }),
    ]);
    expect(served(state, 'kubernetes://a')).toEqual({ name: 'kubernetes://a', tlsCertificate: certificate });
    expect(served(state, 'kubernetes://edge/a')).toEqual({ name: 'kubernetes://edge/a', tlsCertificate: certificate });
    expect(served(state, 'kubernetes://b')?.tlsCertificate).toEqual({
      certificateChain: bytes('other chain'),
      privateKey: bytes('other key'),
    });
    expect(served(state, 'kubernetes://c')?.tlsCertificate).toEqual({ ...certificate, ocspStaple: bytes('staple') });
  });

  it('are absent without an identity, with one that differs from the node, and for other namespaces', () => {
    const state = world([secret('edge', 'a', tls), secret('other', 'a', tls)]);
    expect(served(state, 'kubernetes://a', router({}, []))).toBeUndefined();
    expect(served(state, 'kubernetes://a', router({ SERVICE_ACCOUNT: 'admin' }))).toBeUndefined();
    expect(served(state, 'kubernetes://a', router({}, ['spiffe://td/ns/other/sa/gw']))).toBeUndefined();
    expect(served(state, 'kubernetes://other/a')).toBeUndefined();
    expect(served(state, 'kubernetes://none')).toBeUndefined();
    expect(served(state, 'file-root:/etc/ca.pem')).toBeUndefined();
  });

  it('are absent without certificate and key, and for types that Istio does not read', () => {
    const state = world([
      secret('edge', 'half', { 'tls.crt': 'chain' }),
      secret('edge', 'token', tls, 'kubernetes.io/service-account-token'),
    ]);
    expect(served(state, 'kubernetes://half')).toBeUndefined();
    expect(served(state, 'kubernetes://token')).toBeUndefined();
  });

  it('have the roots under -cacert, from the Secret of that name, else from the one with the certificate', () => {
    const state = world([
      secret('edge', 'own', { ...tls, 'ca.crt': 'roots', 'ca.crl': 'list' }),
      secret('edge', 'two', { ...tls, 'ca.crt': 'not these' }),
      secret('edge', 'two-cacert', { cacert: 'these' }),
      secret('edge', 'bad', { 'ca.crt': 'roots' }),
      secret('edge', 'bad-cacert', { unknown: 'x' }),
    ]);
    expect(served(state, 'kubernetes://own-cacert')).toEqual({
      name: 'kubernetes://own-cacert',
      validationContext: { trustedCa: bytes('roots'), crl: bytes('list') },
    });
    expect(served(state, 'kubernetes://two-cacert')?.validationContext).toEqual({ trustedCa: bytes('these') });
    expect(served(state, 'kubernetes://bad-cacert')).toBeUndefined();
  });

  it('are served by kubernetes-gateway:// only if a Gateway of the same namespace refers to them', () => {
    const named = 'kubernetes-gateway://edge/a';
    const objects = [secret('edge', 'a', { ...tls, 'ca.crt': 'roots' })];
    expect(served(world(objects), named)).toBeUndefined();
    expect(served(world([...objects, gateway('other', { credentialName: named })]), named)).toBeUndefined();
    const simple = world([...objects, gateway('edge', { credentialName: named })]);
    expect(served(simple, named)?.tlsCertificate).toEqual(certificate);
    expect(served(simple, `${named}-cacert`)).toBeUndefined();
    const mutual = world([...objects, gateway('edge', { mode: 'MUTUAL', credentialName: named })]);
    expect(served(mutual, `${named}-cacert`)?.validationContext).toEqual({ trustedCa: bytes('roots') });
  });

  it('come from ConfigMaps of any namespace of the config cluster', () => {
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'other', name: 'ca' },
      data: { 'ca.crt': 'Wurzel für alle' },
    };
    expect(served(world([map]), 'configmap://other/ca-cacert')?.validationContext).toEqual({
      trustedCa: bytes('Wurzel für alle'),
    });
    expect(served(world([inCluster('remote', map)]), 'configmap://other/ca')).toBeUndefined();
    expect(served(world([map]), 'configmap://ca')).toBeUndefined();
  });

  it('are looked up in the proxy’s own cluster first', () => {
    const state = world([
      secret('edge', 'a', { 'tls.crt': 'config', 'tls.key': 'config' }),
      inCluster('remote', secret('edge', 'a', tls)),
    ]);
    expect(served(state, 'kubernetes://a', router({ CLUSTER_ID: 'remote' }))?.tlsCertificate).toEqual(certificate);
    expect(served(state, 'kubernetes://a')?.tlsCertificate?.privateKey).toEqual(bytes('config'));
    const only = world([secret('edge', 'a', tls)]);
    expect(served(only, 'kubernetes://a', router({ CLUSTER_ID: 'remote' }))?.tlsCertificate).toEqual(certificate);
  });

  it('of Gateways come from the config cluster alone', () => {
    const named = 'kubernetes-gateway://edge/a';
    const there = inCluster('remote', secret('edge', 'a', tls));
    const of = (...parts: readonly WorldPart[]) =>
      served(world([gateway('edge', { credentialName: named }), ...parts]), named, router({ CLUSTER_ID: 'remote' }));
    expect(of(there)).toBeUndefined();
    const config = secret('edge', 'a', { 'tls.crt': 'config', 'tls.key': 'config' });
    expect(of(there, config)?.tlsCertificate?.privateKey).toEqual(bytes('config'));
  });

  it('are added and removed with the Secret', () => {
    const tracker = new Tracker();
    const proxy = router();
    expect(tracker.get(world([]), proxy, secretNamed, 'kubernetes://a')).toBeUndefined();
    const state = world([secret('edge', 'a', tls)]);
    expect(tracker.get(state, proxy, secretNamed, 'kubernetes://a')?.message.tlsCertificate).toEqual(certificate);
  });
});

describe('the code around secrets', () => {
  it('shows no private key on a debug page', () => {
    const shown = withoutPrivateKeys({
      name: 'kubernetes://a',
      tlsCertificate: { certificateChain: { inlineBytes: 'Y2hhaW4=' }, privateKey: { inlineBytes: 'a2V5' } },
    });
    expect(shown).toEqual({
      name: 'kubernetes://a',
      tlsCertificate: {
        certificateChain: { inlineBytes: 'Y2hhaW4=' },
        privateKey: { inlineBytes: base64OfText('[redacted]') },
      },
    });
  });

  it('decodes base64 of every length', () => {
    for (const text of ['', 'a', 'ab', 'abc', 'abcd', 'ÿ€𝄞']) {
      expect([...bytesOfBase64(base64OfText(text))]).toEqual(utf8(text));
    }
  });

  it('takes the first matching identity', () => {
    const proxy = router({}, [
      'https://x',
      'spiffe://td/ns/b/sa/gw',
      'spiffe://old/ns/edge/sa/gw',
      'spiffe://td/ns/edge/sa/gw',
    ]);
    expect(verifiedIdentity(proxy)).toEqual({ namespace: 'edge', serviceAccount: 'gw' });
  });

  it('counts an identity that a gateway forwarded as one of the mesh in its trust domains alone', () => {
    const forwarded = (domain: string) => ({
      ...router({}, [`spiffe://${domain}/ns/edge/sa/gw`]),
      proof: { how: 'forwarded', peer: '10.0.0.9' } as const,
    });
    const ofMesh = (proxy: ReturnType<typeof forwarded>) =>
      isOfMesh(verifiedIdentity(proxy)!, ['cluster.local', 'old']);
    expect([forwarded('cluster.local'), forwarded('old'), forwarded('partner.example')].map(ofMesh)).toEqual([
      true,
      true,
      false,
    ]);
    expect(isOfMesh(verifiedIdentity(router())!, ['cluster.local'])).toBe(true);
  });
});
