// Settings of the server side of mesh mTLS: MeshConfig.meshMTLS, trust domains, and the
// certificate files that the proxy announces.
// Source: Istio pilot/pkg/security/authn/utils/utils.go (BuildInboundTLS),
// pkg/model/proxy.go (NodeMetadata, TLSServerCertChain).

import { isObject } from '../../base/json.ts';
import { interning } from '../../query/memo.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { trustDomains } from '../policy/trust-domains.ts';
import { certificatesOverAds } from '../proxy/proxy-capabilities.ts';
import { isTrueText, metadataText } from '../proxy/proxy-metadata.ts';

const defaultCiphers: readonly string[] = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
];

/** Settings that all chains share. */
export interface MeshTlsSettings extends FileCertificates {
  readonly tls13: boolean;
  readonly ciphers: readonly string[];
  readonly trustDomains: readonly string[];
  readonly compliance: string;
}

export const meshTlsSettings: Query<'', MeshTlsSettings> = {
  name: 'select/meshTlsSettings',
  run: reader => {
    const settings = reader.mesh('meshMTLS') as unknown;
    const mesh = isObject(settings as never) ? (settings as Readonly<Record<string, unknown>>) : {};
    const ciphers = mesh.cipherSuites;
    return reader.make(oneOfEqualSettings, {
      tls13: mesh.minProtocolVersion === 'TLSV1_3',
      ciphers: Array.isArray(ciphers) && ciphers.length > 0 ? (ciphers as readonly string[]) : defaultCiphers,
      trustDomains: reader.feature('PILOT_SKIP_VALIDATE_TRUST_DOMAIN') ? [] : trustDomains(reader),
      ...fileCertificates(reader),
      compliance: reader.feature('COMPLIANCE_POLICY'),
    });
  },
};

const oneOfEqualSettings = interning<MeshTlsSettings>('select/oneOfEqualMeshTlsSettings');

/** Workload certificates in files that the proxy announced, as SDS names of its agent; '' for the usual ones. */
export interface FileCertificates {
  readonly certificate: string;
  readonly root: string;
  readonly fileSource: boolean;
  /** The control plane delivers the workload certificate. */
  readonly overAds: boolean;
}

export function fileCertificates(reader: ProxyReader): FileCertificates {
  const chain = metadataText(reader, 'TLS_SERVER_CERT_CHAIN');
  const key = metadataText(reader, 'TLS_SERVER_KEY');
  const root = metadataText(reader, 'TLS_SERVER_ROOT_CERT');
  return {
    certificate: chain === '' || key === '' ? '' : `file-cert:${chain}~${key}`,
    root: root === '' ? '' : `file-root:${root}`,
    fileSource: isTrueText(reader, 'file-credential'),
    overAds: certificatesOverAds(reader),
  };
}
