// Secrets and the trust bundle, as they are sent.
// Source of the rules: Istio pilot/pkg/xds/sds.go (toEnvoyTLSSecret, toEnvoyCaSecret), pilot/pkg/xds/pcds.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { secret } from '../../../../../src/xds/generate/secret/secret.ts';
import { trustBundle } from '../../../../../src/xds/generate/secret/trust-bundle.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const inline = (text: string) => ({ inlineBytes: new Uint8Array(Buffer.from(text)) });
const chain = base64('chain');

describe('a secret', () => {
  const certificate = (provider: JsonObject, staple?: string) =>
    secret.run({
      name: 's',
      provider,
      kind: 'certificate',
      chain,
      key: base64('key'),
      staple: staple === undefined ? undefined : base64(staple),
    });

  it('of a certificate has its chain, key and staple', () => {
    const plain = { certificateChain: inline('chain'), privateKey: inline('key') };
    expect(certificate({})).toEqual({ name: 's', message: { name: 's', tlsCertificate: plain }, problems: [] });
    expect(certificate({}, 'ocsp').message.tlsCertificate).toEqual({ ...plain, ocspStaple: inline('ocsp') });
  });

  it('of roots has what they revoke', () => {
    const roots = (revoked?: string) =>
      secret.run({ name: 's', provider: {}, kind: 'roots', roots: base64('roots'), revoked }).message.validationContext;
    expect(roots()).toEqual({ trustedCa: inline('roots') });
    expect(roots(base64('crl'))).toEqual({ trustedCa: inline('roots'), crl: inline('crl') });
  });

  it('of a workload has a placeholder for the key, which is no part of state', () => {
    const made = secret.run({ name: 'default', provider: {}, kind: 'workload', chain, fingerprint: 'f1' });
    expect(made.message).toEqual({
      name: 'default',
      tlsCertificate: { certificateChain: inline('chain'), privateKey: { inlineString: 'periplus:key-of:f1' } },
    });
  });

  it.each([
    ['cryptomb', 'cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig'],
    ['qat', 'qat.v3alpha.QatPrivateKeyMethodConfig'],
  ])('names %s in place of the key, with or without a fallback', (providerName, type) => {
    const made = (settings: JsonObject) => certificate({ [providerName]: settings }).message.tlsCertificate;
    const named = {
      providerName,
      typedConfig: {
        '@type': `type.googleapis.com/envoy.extensions.private_key_providers.${type}`,
        privateKey: inline('key'),
        pollDelay: { seconds: 0, nanos: 1_000_000 },
      },
    };
    expect(made({ pollDelay: '1ms' })).toEqual({ certificateChain: inline('chain'), privateKeyProvider: named });
    expect(made({ pollDelay: '1ms', fallback: false })?.privateKeyProvider).toEqual(named);
    expect(made({ pollDelay: '1ms', fallback: true })?.privateKeyProvider).toEqual({ ...named, fallback: true });
  });
});

it('the trust bundle of an agent is a ProxyConfig with the roots of the mesh', () => {
  expect(trustBundle.run({ roots: ['a', 'b'] })).toEqual({
    name: 'ProxyConfig',
    message: { caCertificatesPem: ['a', 'b'] },
    problems: [],
  });
});
