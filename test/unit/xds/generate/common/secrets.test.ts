// Where secrets come from: by their names, and by what the proxy mounts.
// Source of the rules: Istio pilot/pkg/security/model/authentication.go (ConstructSdsSecretConfigForCredential).

import { describe, expect, it } from 'vitest';
import { compliant } from '../../../../../src/xds/generate/common/compliance.ts';
import { clusterSecret, credentialSecret, workloadSecret } from '../../../../../src/xds/generate/common/sds.ts';
import { tunnelTls } from '../../../../../src/xds/generate/common/tunnel-tls.ts';
import { workloadSecrets } from '../../../../../src/xds/generate/common/workload-secrets.ts';
import { TlsParameters_TlsProtocol } from '../../../../../src/xds/proto/types.gen.ts';

const ads = (name: string) => ({ name, sdsConfig: { ads: {}, resourceApiVersion: 2 } });
const server = (name: string, clusterName: string, more: object = {}) => ({
  name,
  sdsConfig: {
    apiConfigSource: {
      apiType: 2,
      transportApiVersion: 2,
      setNodeOnFirstMessageOnly: true,
      grpcServices: [{ envoyGrpc: { clusterName } }],
    },
    resourceApiVersion: 2,
    ...more,
  },
});
const agent = (name: string) => server(name, 'sds-grpc', { initialFetchTimeout: { seconds: 0, nanos: 0 } });

describe('the secret of a credential', () => {
  it.each<[string, boolean, string | undefined, object]>([
    ['cert', false, '', ads('kubernetes://cert')],
    ['cert', true, '', ads('kubernetes://cert-cacert')],
    ['kubernetes://cert', false, '', ads('kubernetes://cert')],
    ['kubernetes-gateway://ns/cert', false, '', ads('kubernetes-gateway://ns/cert')],
    ['configmap://ns/roots', false, '', ads('configmap://ns/roots')],
    ['cert-configmap://', false, '', ads('kubernetes://cert-configmap://')],
    ['builtin://', false, '', agent('default')],
    ['builtin://', true, '', agent('ROOTCA')],
    ['cert-builtin://', false, '', ads('kubernetes://cert-builtin://')],
    ['invalid://', false, '', ads('invalid://')],
    ['invalid://ns/cert', true, '', ads('invalid://')],
    ['cert-invalid://', false, '', ads('kubernetes://cert-invalid://')],
    ['cert', false, 'sds-external', ads('kubernetes://cert')],
    ['sds://cert', false, 'sds-external', server('sds://cert', 'sds-external')],
    ['sds://cert', true, 'sds-external', server('sds://cert-cacert', 'sds-external')],
    ['sds://cert', false, 'outbound|1||vault', server('cert', 'outbound|1||vault')],
    ['sds://cert', true, '', ads('kubernetes://cert-cacert')],
    ['sds://cert', false, undefined, ads('invalid://')],
  ])('%s (of the authority: %s) with the server %j', (name, ca, external, expected) => {
    expect(credentialSecret(name, ca, external)).toEqual(expected);
  });

  it('that stands for the workload’s own comes over ADS where the proxy has no agent', () => {
    expect(credentialSecret('builtin://', false, '', true)).toEqual(ads('default'));
    expect(credentialSecret('builtin://', true, '', true)).toEqual(ads('ROOTCA'));
  });
});

describe('the secrets of a workload', () => {
  const files = { certificate: '', root: '', fileSource: false, overAds: false };

  it('come from the agent, which is waited for, or over ADS', () => {
    expect(workloadSecret('default', false)).toEqual(agent('default'));
    expect(workloadSecrets(files)).toEqual({ certificate: agent('default'), root: agent('ROOTCA') });
    expect(workloadSecrets({ ...files, overAds: true })).toEqual({ certificate: ads('default'), root: ads('ROOTCA') });
  });

  it('that are files come from the agent, or from its server of files', () => {
    const named = { ...files, certificate: 'file-cert:/c~/k', root: 'file-root:/r' };
    expect(workloadSecrets(named)).toEqual({
      certificate: clusterSecret('file-cert:/c~/k', 'sds-grpc'),
      root: clusterSecret('file-root:/r', 'sds-grpc'),
    });
    expect(workloadSecrets({ ...named, root: '', fileSource: true })).toEqual({
      certificate: server('file-cert:/c~/k', 'sds-files-grpc'),
      root: agent('ROOTCA'),
    });
    expect(workloadSecrets({ ...named, certificate: '', fileSource: true })).toEqual({
      certificate: agent('default'),
      root: server('file-root:/r', 'sds-files-grpc'),
    });
  });
});

describe('the TLS of a tunnel', () => {
  const settings = { trustDomains: [], compliance: '', certificate: '', root: '', fileSource: false, overAds: true };

  it('is HTTP/2 over TLS 1.3, and verifies no name where no trust domain is named', () => {
    expect(tunnelTls(settings)).toEqual({
      alpnProtocols: ['h2'],
      tlsParams: {
        tlsMinimumProtocolVersion: TlsParameters_TlsProtocol.TLSv1_3,
        tlsMaximumProtocolVersion: TlsParameters_TlsProtocol.TLSv1_3,
      },
      tlsCertificateSdsSecretConfigs: [ads('default')],
      combinedValidationContext: {
        defaultValidationContext: { matchTypedSubjectAltNames: undefined },
        validationContextSdsSecretConfig: ads('ROOTCA'),
      },
    });
  });

  it('verifies trust domains and further identities by their beginnings', () => {
    const made = tunnelTls({ ...settings, trustDomains: ['a', 'b'] }, ['spiffe://c/ns/d/']);
    const prefixes = ['spiffe://a/', 'spiffe://b/', 'spiffe://c/ns/d/'];
    expect(made.combinedValidationContext?.defaultValidationContext?.matchTypedSubjectAltNames).toEqual(
      prefixes.map(prefix => ({ sanType: 3, matcher: { prefix } })),
    );
  });
});

describe('compliance', () => {
  const { TLSv1_2, TLSv1_3 } = TlsParameters_TlsProtocol;
  const approved = [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
  ];
  const asked = {
    tlsMinimumProtocolVersion: TLSv1_3,
    tlsMaximumProtocolVersion: TLSv1_3,
    cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256', 'AES128-SHA'],
    ecdhCurves: ['X25519'],
  };

  it('without a policy, or with an unknown one, leaves TLS as it is', () => {
    for (const policy of ['', 'other']) {
      expect(compliant(asked, policy)).toBe(asked);
      expect(compliant(undefined, policy)).toBeUndefined();
    }
  });

  it('with FIPS 140-2 is TLS 1.2 with approved ciphers, those of the rule among them, and no named curve', () => {
    const fips = { tlsMinimumProtocolVersion: TLSv1_2, tlsMaximumProtocolVersion: TLSv1_2 };
    expect(compliant(asked, 'fips-140-2')).toEqual({ ...fips, cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'] });
    expect(compliant({ cipherSuites: ['AES128-SHA'] }, 'fips-140-2')).toEqual(fips);
    expect(compliant({}, 'fips-140-2')).toEqual(fips);
    expect(compliant(undefined, 'fips-140-2')).toEqual(fips);
  });

  it('with post-quantum cryptography is TLS 1.3 with one curve', () => {
    expect(compliant({ ...asked, tlsMinimumProtocolVersion: TLSv1_2 }, 'pqc')).toEqual({
      tlsMinimumProtocolVersion: TLSv1_3,
      tlsMaximumProtocolVersion: TLSv1_3,
      cipherSuites: approved,
      ecdhCurves: ['X25519MLKEM768'],
    });
  });
});
