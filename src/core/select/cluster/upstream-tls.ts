// TLS between a cluster and its endpoints: the rule's settings, or auto mTLS.
// Source: Istio pilot/pkg/networking/core/cluster_tls.go (buildUpstreamTLSSettings, constructUpstreamTLS),
// pilot/pkg/model/push_context.go (BestEffortInferServiceMTLSMode).
//
// Everything that depends on the proxy or the mesh is decided here; the generator only builds the context.

import type { Problem } from '../../base/problem.ts';
import { problem } from '../../base/problem.ts';
import type { Port, Service } from '../../model/service.ts';
import { refOf } from '../../model/service-ref.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { endpointsOfPort, serviceAccounts } from '../../registry/endpoints.ts';
import type { ClientTLSSettings } from '../../schema/istio-types.gen.ts';
import { namespaceMtlsMode } from '../policy/peer-authentication.ts';
import { certificatesOverAds, istioFilters, meshMtls } from '../proxy/proxy-capabilities.ts';
import { isTrueText, metadataText } from '../proxy/proxy-metadata.ts';
import type { ClusterPolicy } from './traffic-policy.ts';

/** How file-based certificates reach Envoy: through an SDS cluster of the agent, or read by Envoy itself (no agent). */
export type FileCertificates = 'sds-grpc' | 'sds-files-grpc' | 'direct';

/** Inputs of the generator of transport sockets. */
export interface UpstreamTlsInputs {
  readonly mode: 'ISTIO_MUTUAL' | 'SIMPLE' | 'MUTUAL';
  /** Only endpoints marked `tlsMode: istio` get TLS; the others get plaintext. */
  readonly conditional: boolean;
  readonly http2: boolean;
  /** Offer `istio-peer-exchange` in ALPN (mesh mTLS only). */
  readonly peerExchange: boolean;
  readonly sni: string;
  readonly subjectAltNames: readonly string[];
  readonly clientCertificate: string;
  readonly privateKey: string;
  readonly caCertificates: string;
  readonly caCrl: string;
  readonly credentialName: string;
  readonly skipVerify: boolean;
  readonly fileCertificates: FileCertificates;
  /** The control plane delivers the workload certificate (mesh mTLS only). */
  readonly overAds: boolean;
  /** A credential socket is mounted into the proxy: `sds://` names are fetched through it. */
  readonly credentialSocket: boolean;
  readonly ecdhCurves: readonly string[];
  readonly cipherSuites: readonly string[];
  /** COMPLIANCE_POLICY */
  readonly compliance: string;
}

export interface UpstreamTlsChoice {
  readonly inputs: UpstreamTlsInputs | undefined;
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
  readonly problems: readonly Problem[];
}

export interface UpstreamTlsQuestion {
  readonly service: Service;
  readonly port: Port;
  readonly policy: ClusterPolicy | undefined;
  /** The policy whose PASSTHROUGH makes mTLS depend on the endpoints: the rule's own, or the subset's own, unmerged. */
  readonly unmergedPassthrough: boolean;
  readonly defaultSni: string;
  readonly originalDst: boolean;
  readonly http2: boolean;
  /** The rule has a workloadSelector. */
  readonly ruleSelectsWorkloads: boolean;
  /** Dynamic forward proxy: the requested name is validated, even beside SANs of the rule; no service accounts. */
  readonly forwardProxy: boolean;
  /** Of a service behind a waypoint: the rule decides alone, not what the proxy mounts or the service is known by. */
  readonly vip: boolean;
}

/** Inputs of mesh mTLS from the mesh, the flags and the proxy, equal for all services. */
interface TlsDefaults {
  readonly automatic: boolean;
  readonly files: ClientTLSSettings | undefined;
  readonly mesh: boolean;
  readonly overAds: boolean;
  readonly peerExchange: boolean;
  readonly compliance: string;
}

const tlsDefaults: Query<'', TlsDefaults> = {
  name: 'select/tlsDefaults',
  run: reader => {
    const exchange = reader.feature('PILOT_ENABLE_METADATA_EXCHANGE') && !reader.feature('PILOT_DISABLE_MX_ALPN');
    return {
      automatic: reader.mesh('enableAutoMtls') !== false,
      files: metadataFiles(reader),
      mesh: meshMtls(reader),
      overAds: certificatesOverAds(reader),
      peerExchange: exchange && istioFilters(reader),
      compliance: reader.feature('COMPLIANCE_POLICY'),
    };
  },
};

const none: readonly never[] = [];
const noTls: UpstreamTlsChoice = { inputs: undefined, autoSni: false, autoSanValidation: false, problems: [] };

export function chooseUpstreamTls(reader: ProxyReader, question: UpstreamTlsQuestion): UpstreamTlsChoice {
  const settings = question.policy?.tls;
  if (settings === undefined) return automaticTls(reader, question);
  const mode = settings.mode ?? 'DISABLE';
  if (mode === 'DISABLE') return noTls;
  if (mode === 'SIMPLE') return originatedTls(reader, question, settings);
  const files = question.vip ? undefined : metadataFiles(reader);
  const external = question.service.meshExternal && reader.feature('PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES');
  if (files !== undefined && !external) {
    const { subjectAltNames, sni, insecureSkipVerify } = settings;
    return originatedTls(reader, question, { ...files, mode: 'MUTUAL', subjectAltNames, sni, insecureSkipVerify });
  }
  if (mode === 'MUTUAL') return originatedTls(reader, question, settings);
  return meshTls(reader, question, false, settings);
}

/** No TLS settings in the policy: mesh mTLS if the service is known to accept it. */
function automaticTls(reader: ProxyReader, question: UpstreamTlsQuestion): UpstreamTlsChoice {
  const { service, originalDst } = question;
  if (service.meshExternal) return noTls;
  const { automatic, files } = reader.get(tlsDefaults, '');
  if (!automatic || !takesMeshMtls(reader, question)) return noTls;
  if (files !== undefined) {
    const subjectAltNames = accountsOf(reader, question);
    return originatedTls(reader, question, { ...files, mode: 'MUTUAL', subjectAltNames, sni: question.defaultSni });
  }
  return meshTls(reader, question, !originalDst, undefined);
}

/** False where mTLS is known to be off. Without a load balancer of ours every endpoint has to take it. */
function takesMeshMtls(reader: ProxyReader, question: UpstreamTlsQuestion): boolean {
  const { service, port } = question;
  if (service.resolution === 'Passthrough' || question.unmergedPassthrough) {
    const endpoints = endpointsOfPort(reader, service, port.port);
    if (endpoints.length === 0 || endpoints.some(endpoint => endpoint.tlsMode === 'disabled')) return false;
  }
  return reader.get(namespaceMtlsMode, service.namespace) !== 'DISABLE';
}

function meshTls(
  reader: ProxyReader,
  question: UpstreamTlsQuestion,
  conditional: boolean,
  settings: ClientTLSSettings | undefined,
): UpstreamTlsChoice {
  const { mesh, overAds, peerExchange, compliance } = reader.get(tlsDefaults, '');
  if (!mesh) return noTls;
  const sni = text(settings?.sni);
  const names = settings?.subjectAltNames ?? [];
  // Written out member by member: there are thousands of these objects, and spreading costs several times as much.
  const inputs: UpstreamTlsInputs = {
    mode: 'ISTIO_MUTUAL',
    conditional,
    http2: question.http2,
    peerExchange,
    sni: sni === '' ? question.defaultSni : sni,
    subjectAltNames: names.length > 0 ? names : accountsOf(reader, question),
    clientCertificate: '',
    privateKey: '',
    caCertificates: '',
    caCrl: '',
    credentialName: '',
    skipVerify: false,
    fileCertificates: 'sds-grpc',
    overAds,
    credentialSocket: false,
    ecdhCurves: none,
    cipherSuites: none,
    compliance,
  };
  return {
    inputs,
    autoSni: question.forwardProxy && sni === '',
    autoSanValidation: question.forwardProxy && settings?.insecureSkipVerify !== true,
    problems: [],
  };
}

/** SIMPLE and MUTUAL: TLS with certificates that are not the mesh's. */
function originatedTls(
  reader: ProxyReader,
  question: UpstreamTlsQuestion,
  settings: ClientTLSSettings,
): UpstreamTlsChoice {
  const credentialName = text(settings.credentialName);
  if (credentialName !== '' && withholdsCredential(reader, question, credentialName)) {
    const message = 'credentialName has no effect on sidecars unless the rule has a workloadSelector: sent without TLS';
    return { ...noTls, problems: [problem('trafficPolicy.tls.credentialName', message)] };
  }
  const sni = text(settings.sni);
  const given = settings.subjectAltNames ?? [];
  const skipVerify = settings.insecureSkipVerify === true;
  const autoSni = sni === '';
  const autoSanValidation = !skipVerify && (question.forwardProxy || (sni === '' && given.length === 0));
  const mutual = settings.mode === 'MUTUAL';
  if (
    mutual &&
    credentialName === '' &&
    (text(settings.clientCertificate) === '' || text(settings.privateKey) === '')
  ) {
    const message = 'MUTUAL needs clientCertificate and privateKey, or credentialName: sent without TLS';
    return { inputs: undefined, autoSni, autoSanValidation, problems: [problem('trafficPolicy.tls', message)] };
  }
  const named = question.service.registry === 'External' && !question.forwardProxy && !question.vip;
  const defaults = reader.mesh('tlsDefaults');
  const inputs: UpstreamTlsInputs = {
    mode: mutual ? 'MUTUAL' : 'SIMPLE',
    conditional: false,
    http2: question.http2,
    peerExchange: false,
    sni,
    subjectAltNames: named && given.length === 0 ? accountsOf(reader, question) : given,
    clientCertificate: text(settings.clientCertificate),
    privateKey: text(settings.privateKey),
    caCertificates: text(settings.caCertificates),
    caCrl: text(settings.caCrl),
    credentialName,
    skipVerify,
    fileCertificates: fileCertificates(reader, question),
    overAds: false,
    credentialSocket: !question.vip && isTrueText(reader, 'credential'),
    ecdhCurves: defaults?.ecdhCurves ?? [],
    cipherSuites: defaults?.cipherSuites ?? [],
    compliance: reader.feature('COMPLIANCE_POLICY'),
  };
  return { inputs, autoSni, autoSanValidation, problems: [] };
}

/**
 * A Secret would have to be readable by every sidecar that the rule reaches; Istio gives it only to selected workloads.
 */
function withholdsCredential(reader: ProxyReader, question: UpstreamTlsQuestion, credentialName: string): boolean {
  if (question.ruleSelectsWorkloads || credentialName.startsWith('configmap://')) return false;
  return reader.facet('type') === 'sidecar';
}

function fileCertificates(reader: ProxyReader, { vip }: UpstreamTlsQuestion): FileCertificates {
  if (!istioFilters(reader)) return 'direct';
  return !vip && isTrueText(reader, 'file-credential') ? 'sds-files-grpc' : 'sds-grpc';
}

/** Certificate files that the node announces as mounted into the proxy, as in meshes older than SDS. */
function metadataFiles(reader: ProxyReader): ClientTLSSettings | undefined {
  const clientCertificate = metadataText(reader, 'TLS_CLIENT_CERT_CHAIN');
  if (clientCertificate === '') return undefined;
  return {
    clientCertificate,
    privateKey: metadataText(reader, 'TLS_CLIENT_KEY'),
    caCertificates: metadataText(reader, 'TLS_CLIENT_ROOT_CERT'),
  };
}

function accountsOf(reader: ProxyReader, question: UpstreamTlsQuestion): readonly string[] {
  if (question.forwardProxy) return [];
  return reader.get(serviceAccounts, refOf(question.service));
}

function text(value: string | undefined): string {
  return value ?? '';
}
