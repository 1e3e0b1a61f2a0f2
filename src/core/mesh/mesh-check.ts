// The rules of mesh configuration beyond its schema. Source: Istio pkg/config/validation/agent (ValidateMeshConfig,
// ValidateMeshNetworks). A value that breaks one is refused whole; the last good one stays in force. As in Istio, a
// mistake in a provider is only a warning, because configuration that does not use the provider is valid.
//
// Stricter than Istio for dnsRefreshRate and two ports: every proxy would refuse the resources made from a wrong value.

import { isIp } from '../base/ip.ts';
import { checkClientTls } from '../kinds/istio/validate/client-tls.ts';
import { checkDuration, checkWholeSeconds, milliseconds, showDuration } from '../kinds/istio/validate/durations.ts';
import { checkFqdn, checkWildcardHost, fqdnProblem, isLabel } from '../kinds/istio/validate/hosts.ts';
import { checkLocalitySetting } from '../kinds/istio/validate/locality.ts';
import { quoted, type Report } from '../kinds/report.ts';
import { checkIpOrCidr } from '../kinds/validate/addresses.ts';
import { checkPort, isPort } from '../kinds/validate/ports.ts';
import type { Duration } from '../schema/duration.ts';
import type { PrivateKeyProvider, ProxyConfig, Tracing } from '../schema/istio-types.gen.ts';
import type { MeshConfig, MeshNetworks } from './effective.ts';

const MS_PER_HOUR = 3_600_000;
/** The providers that are reached over the network. */
const PROVIDER_KINDS_WITH_SERVICE = [
  'envoyExtAuthzHttp',
  'envoyExtAuthzGrpc',
  'zipkin',
  'lightstep',
  'datadog',
  'opencensus',
  'skywalking',
  'envoyHttpAls',
  'envoyTcpAls',
  'envoyOtelAls',
  'opentelemetry',
] as const;

export function checkMeshConfig(mesh: MeshConfig, report: Report): void {
  checkPort(mesh.proxyListenPort, 'proxyListenPort', report);
  checkPort(mesh.proxyInboundListenPort, 'proxyInboundListenPort', report);
  if (mesh.proxyHttpPort !== 0) checkPort(mesh.proxyHttpPort, 'proxyHttpPort', report);
  checkConnectTimeout(mesh.connectTimeout, report);
  checkDetectionTimeout(mesh.protocolDetectionTimeout, report);
  const refresh = mesh.dnsRefreshRate;
  if (milliseconds(refresh) < 1) {
    report('dnsRefreshRate', `${showDuration(refresh)} is too short: expected at least 1ms`);
  }
  checkTrustDomain(mesh.trustDomain, 'trustDomain', report);
  mesh.trustDomainAliases.forEach((alias, i) => {
    checkTrustDomain(alias, `trustDomainAliases[${i}]`, report);
  });
  checkLocalitySetting(mesh.localityLbSetting, 'localityLbSetting', report);
  (mesh.serviceSettings ?? []).forEach((settings, i) => {
    (settings.hosts ?? []).forEach((host, j) => {
      checkWildcardHost(host, `serviceSettings[${i}].hosts[${j}]`, report);
    });
  });
  if ((mesh.meshMTLS?.ecdhCurves ?? []).length > 0) report('meshMTLS.ecdhCurves', 'is not supported');
  checkProxyConfig(mesh.defaultConfig, 'defaultConfig', report);
}

function checkConnectTimeout(timeout: Duration, report: Report): void {
  checkDuration(timeout, 'connectTimeout', report);
  if (milliseconds(timeout) > MS_PER_HOUR) report('connectTimeout', `${showDuration(timeout)} is more than an hour`);
}

/** Zero and less turn the timeout off. */
function checkDetectionTimeout(timeout: Duration, report: Report): void {
  if (milliseconds(timeout) > 0 || !Number.isInteger(milliseconds(timeout))) {
    checkDuration(timeout, 'protocolDetectionTimeout', report);
  }
}

/** Labels between dots, in either case; the last may be empty. */
function checkTrustDomain(domain: string, path: string, report: Report): void {
  const labels = (domain.length > 1 && domain.endsWith('.') ? domain.slice(0, -1) : domain).split('.');
  if (!labels.every(isLabel)) {
    report(path, `${quoted(domain)} is not a trust domain: expected letters, digits and "-" between dots`);
  }
}

export function checkProviders(mesh: MeshConfig, report: Report): void {
  mesh.extensionProviders.forEach((provider, i) => {
    const path = `extensionProviders[${i}]`;
    const { name = '', ...kinds } = provider;
    if (name === '') report(`${path}.name`, 'is missing');
    if (Object.keys(kinds).length === 0) report(path, 'is empty; expected one provider, such as zipkin');
    for (const kind of PROVIDER_KINDS_WITH_SERVICE) checkProviderService(provider[kind], `${path}.${kind}`, report);
  });
}

function checkProviderService(
  provider: { readonly service?: string; readonly port?: number } | undefined,
  path: string,
  report: Report,
): void {
  if (provider === undefined) return;
  const { service = '' } = provider;
  const slash = service.indexOf('/');
  if (slash >= 0 && !isLabel(service.slice(0, slash))) {
    report(`${path}.service`, `${quoted(service.slice(0, slash))} is not a namespace`);
  }
  const host = service.slice(slash + 1);
  const problem = isIp(host) ? undefined : fqdnProblem(host);
  if (problem !== undefined) report(`${path}.service`, problem);
  checkPort(provider.port, `${path}.port`, report);
}

/** Of a ProxyConfig with the built-in defaults below it. Source: ValidateMeshConfigProxyConfig. */
export function checkProxyConfig(config: ProxyConfig, path: string, report: Report): void {
  for (const field of ['configPath', 'binaryPath', 'discoveryAddress'] as const) {
    if (!config[field]) report(`${path}.${field}`, 'is empty');
  }
  if (config.serviceCluster === '') report(`${path}.serviceCluster`, 'is empty');
  checkWholeSeconds(config.drainDuration, `${path}.drainDuration`, report);
  checkPort(config.proxyAdminPort, `${path}.proxyAdminPort`, report);
  checkPort(config.statusPort, `${path}.statusPort`, report);
  if (config.controlPlaneAuthPolicy === 'INHERIT') report(`${path}.controlPlaneAuthPolicy`, 'has nothing to inherit');
  const addresses: readonly (readonly [string, string | undefined])[] = [
    ['discoveryAddress', config.discoveryAddress],
    ['statsdUdpAddress', config.statsdUdpAddress],
    ['envoyMetricsServiceAddress', config.envoyMetricsServiceAddress],
    ['envoyMetricsService.address', config.envoyMetricsService?.address],
    ['envoyAccessLogService.address', config.envoyAccessLogService?.address],
  ];
  for (const [field, address] of addresses) if (address) checkHostPort(address, `${path}.${field}`, report);
  checkTracing(config.tracing ?? {}, `${path}.tracing`, report);
  checkPrivateKeyProvider(config.privateKeyProvider, `${path}.privateKeyProvider`, report);
}

function checkTracing({ zipkin, datadog, lightstep, tlsSettings }: Tracing, path: string, report: Report): void {
  for (const [kind, tracer] of Object.entries({ zipkin, datadog })) {
    // The agent puts the address of the node there.
    const address = tracer?.address?.replace('$(HOST_IP)', '127.0.0.1') ?? '';
    if (tracer !== undefined) checkHostPort(address, `${path}.${kind}.address`, report);
  }
  if (lightstep !== undefined) {
    checkHostPort(lightstep.address ?? '', `${path}.lightstep.address`, report);
    if (!lightstep.accessToken) report(`${path}.lightstep.accessToken`, 'is missing');
  }
  checkClientTls(tlsSettings, '', `${path}.tlsSettings`, report);
}

function checkPrivateKeyProvider(given: PrivateKeyProvider | undefined, path: string, report: Report): void {
  if (given === undefined) return;
  const { cryptomb, qat } = given;
  const provider = cryptomb ?? qat;
  if (provider === undefined) report(path, 'is empty; expected cryptomb or qat');
  else if (provider.pollDelay === undefined || milliseconds(provider.pollDelay) === 0) {
    report(`${path}.${cryptomb === undefined ? 'qat' : 'cryptomb'}.pollDelay`, 'is missing, or 0');
  }
}

function checkHostPort(address: string, path: string, report: Report): void {
  const found = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,9})$/.exec(address);
  const host = found?.[1] ?? found?.[2] ?? '';
  const sound = found !== null && isPort(Number(found[3])) && (isIp(host) || fqdnProblem(host) === undefined);
  if (!sound) report(path, `${quoted(address)} is not an address: expected host:port`);
}

export function checkMeshNetworks({ networks }: MeshNetworks, report: Report): void {
  for (const [name, network] of Object.entries(networks)) {
    const path = `networks[${name}]`;
    (network.endpoints ?? []).forEach(({ fromCidr, fromRegistry }, i) => {
      const at = `${path}.endpoints[${i}]`;
      if (fromCidr !== undefined) checkIpOrCidr(fromCidr, `${at}.fromCidr`, report);
      if (fromRegistry !== undefined && !isLabel(fromRegistry)) {
        report(`${at}.fromRegistry`, `${quoted(fromRegistry)} is not the name of a cluster`);
      }
    });
    (network.gateways ?? []).forEach((gateway, i) => {
      const at = `${path}.gateways[${i}]`;
      const { address, registryServiceName } = gateway;
      if (registryServiceName !== undefined) checkFqdn(registryServiceName, `${at}.registryServiceName`, report);
      if (address !== undefined && !isIp(address)) checkFqdn(address, `${at}.address`, report);
      checkPort(gateway.port, `${at}.port`, report);
    });
  }
}
