// The rules of mesh configuration beyond its schema. Source: Istio pkg/config/validation (ValidateMeshConfig, ValidateMeshNetworks) and
// pkg/config/validation/agent. A value that breaks one is refused whole; the last good one stays in force.

import { quoted, type Report } from './kinds/report.ts';
import { isCidr, isIp } from './kinds/validate/addresses.ts';
import { checkClientTls } from './kinds/validate/client-tls.ts';
import { checkDuration, milliseconds, showDuration } from './kinds/validate/durations.ts';
import { checkFqdn, fqdnProblem, isLabel } from './kinds/validate/hosts.ts';
import { checkLocalitySetting } from './kinds/validate/locality.ts';
import { checkPort, isPort } from './kinds/validate/ports.ts';
import type { MeshConfig, MeshNetworks } from './mesh.ts';
import type { Duration } from './schema/duration.ts';
import type { MeshConfig_ExtensionProvider, ProxyConfig } from './schema/istio-types.gen.ts';

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
const TRUST_DOMAIN = /^[a-z0-9]([-a-z0-9._]*[a-z0-9])?$/;
const TRUST_DOMAIN_LENGTH_MAX = 255;

export function checkMeshConfig(mesh: MeshConfig, report: Report): void {
  checkPort(mesh.proxyListenPort, 'proxyListenPort', report);
  checkPort(mesh.proxyInboundListenPort, 'proxyInboundListenPort', report);
  if (mesh.proxyHttpPort !== 0) checkPort(mesh.proxyHttpPort, 'proxyHttpPort', report);
  checkConnectTimeout(mesh.connectTimeout, report);
  if (milliseconds(mesh.protocolDetectionTimeout) !== 0) {
    checkDuration(mesh.protocolDetectionTimeout, 'protocolDetectionTimeout', report);
  }
  checkDuration(mesh.dnsRefreshRate, 'dnsRefreshRate', report);
  checkTrustDomain(mesh.trustDomain, 'trustDomain', report);
  mesh.trustDomainAliases.forEach((alias, i) => {
    checkTrustDomain(alias, `trustDomainAliases[${i}]`, report);
  });
  if (mesh.rootNamespace !== '' && !isLabel(mesh.rootNamespace)) {
    report('rootNamespace', `${quoted(mesh.rootNamespace)} is not a namespace`);
  }
  checkLocalitySetting(mesh.localityLbSetting, 'localityLbSetting', report);
  (mesh.serviceSettings ?? []).forEach((settings, i) => {
    (settings.hosts ?? []).forEach((host, j) => {
      checkServiceHost(host, `serviceSettings[${i}].hosts[${j}]`, report);
    });
  });
  checkProviders(mesh.extensionProviders, report);
  checkProxyConfig(mesh.defaultConfig, report);
}

function checkConnectTimeout(timeout: Duration, report: Report): void {
  checkDuration(timeout, 'connectTimeout', report);
  if (milliseconds(timeout) > MS_PER_HOUR) report('connectTimeout', `${showDuration(timeout)} is more than an hour`);
}

function checkTrustDomain(domain: string, path: string, report: Report): void {
  if (domain.length > TRUST_DOMAIN_LENGTH_MAX || !TRUST_DOMAIN.test(domain)) {
    report(path, `${quoted(domain)} is not a trust domain: expected lower case letters, digits, "-", "_" and "."`);
  }
}

function checkServiceHost(host: string, path: string, report: Report): void {
  const rest = host.startsWith('*.') ? host.slice(2) : host;
  if (host !== '*') checkFqdn(rest, path, report);
}

function checkProviders(providers: readonly MeshConfig_ExtensionProvider[], report: Report): void {
  providers.forEach((provider, i) => {
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

function checkProxyConfig(config: ProxyConfig, report: Report): void {
  const path = 'defaultConfig';
  for (const field of ['configPath', 'binaryPath', 'discoveryAddress'] as const) {
    if (!config[field]) report(`${path}.${field}`, 'is empty');
  }
  if (config.serviceCluster === '') report(`${path}.serviceCluster`, 'is empty');
  checkDuration(config.drainDuration, `${path}.drainDuration`, report);
  if (config.drainDuration?.nanos) report(`${path}.drainDuration`, 'expected whole seconds');
  checkPort(config.proxyAdminPort, `${path}.proxyAdminPort`, report);
  checkPort(config.statusPort, `${path}.statusPort`, report);
  const addresses: readonly (readonly [string, string | undefined])[] = [
    ['discoveryAddress', config.discoveryAddress],
    ['statsdUdpAddress', config.statsdUdpAddress],
    ['envoyMetricsService.address', config.envoyMetricsService?.address],
    ['envoyAccessLogService.address', config.envoyAccessLogService?.address],
    ['tracing.zipkin.address', config.tracing?.zipkin?.address],
    ['tracing.lightstep.address', config.tracing?.lightstep?.address],
    ['tracing.datadog.address', config.tracing?.datadog?.address],
  ];
  for (const [field, address] of addresses) if (address) checkHostPort(address, `${path}.${field}`, report);
  checkClientTls(config.tracing?.tlsSettings, `${path}.tracing.tlsSettings`, report);
}

/** `$(HOST_IP)` stands for the address of the node. */
function checkHostPort(address: string, path: string, report: Report): void {
  const found = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,9})$/.exec(address.replace('$(HOST_IP)', '127.0.0.1'));
  const host = found?.[1] ?? found?.[2] ?? '';
  const sound = found !== null && isPort(Number(found[3])) && (isIp(host) || fqdnProblem(host) === undefined);
  if (!sound) report(path, `${quoted(address)} is not an address: expected host:port`);
}

export function checkMeshNetworks({ networks }: MeshNetworks, report: Report): void {
  for (const [name, network] of Object.entries(networks)) {
    const path = `networks[${name}]`;
    (network.endpoints ?? []).forEach(({ fromCidr, fromRegistry }, i) => {
      const at = `${path}.endpoints[${i}]`;
      if (fromCidr === undefined && !fromRegistry) report(at, 'is empty; expected fromCidr or fromRegistry');
      if (fromCidr !== undefined && !isCidr(fromCidr)) {
        report(`${at}.fromCidr`, `${quoted(fromCidr)} is not a prefix such as 10.0.0.0/8`);
      }
    });
    (network.gateways ?? []).forEach((gateway, i) => {
      const at = `${path}.gateways[${i}]`;
      const { address, registryServiceName } = gateway;
      if (address === undefined && registryServiceName === undefined) {
        report(at, 'is empty; expected address or registryServiceName');
      }
      if (registryServiceName !== undefined) checkFqdn(registryServiceName, `${at}.registryServiceName`, report);
      if (address !== undefined && !isIp(address)) checkFqdn(address, `${at}.address`, report);
      checkPort(gateway.port, `${at}.port`, report);
    });
  }
}
