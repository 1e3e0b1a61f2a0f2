// ServiceEntry: services and endpoints that the Kubernetes of the mesh does not know.
// Rules: Istio pkg/config/validation (ValidateServiceEntry).

import { isIp } from '../../base/ip.ts';
import { isObject } from '../../base/json.ts';
import type { RawObject } from '../../event.ts';
import { isWildcard } from '../../model/hosts.ts';
import type { Obj } from '../../model/object.ts';
import { isHttp, isTls, protocolOf } from '../../model/protocol.ts';
import { selectorKey } from '../../model/selection.ts';
import type { ServiceEntry, ServiceEntryStatus, ServicePort } from '../../schema/istio-types.gen.ts';
import { namespaceOfRaw } from '../meta.ts';
import { account, each, type Reference, workloads } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { statusList } from '../status.ts';
import { checkIpOrCidr, isUnixAddress } from '../validate/addresses.ts';
import { checkEndpointCount } from '../validate/endpoint-count.ts';
import { checkPort, checkProtocol } from '../validate/ports.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { checkEndpoint } from './validate/endpoints.ts';
import { checkExportTo } from './validate/export-to.ts';
import { checkFqdn, checkWildcardHost, isLabel } from './validate/hosts.ts';
import { checkSelector } from './validate/selectors.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    /** status.addresses: the addresses that the allocator gave. */
    readonly ServiceEntry: {
      readonly spec: ServiceEntry & { readonly status?: Pick<ServiceEntryStatus, 'addresses'> };
      readonly indexes: 'serviceEntriesByHost' | 'serviceEntriesByAddress' | 'serviceEntriesBySelector';
      readonly push: 'own';
    };
  }
}

export const serviceEntry = istioKind({
  kind: 'ServiceEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'own',
  type: 'istio.networking.v1alpha3.ServiceEntry',
  references: serviceEntryReferences,
  rules: checkServiceEntry,
  status: statusList('addresses', ['value', 'host']),
  // An object without one was never stored by an API server, so no controller writes its status.
  keepMeta: ['uid'],
  indexes: {
    /** `host` */
    serviceEntriesByHost: ({ spec }) => spec.hosts ?? [],
    /** `namespace/address` of its own endpoints. */
    serviceEntriesByAddress: ({ namespace, spec: { endpoints = [] } }) => [
      ...new Set(endpoints.map(({ address = '' }) => `${namespace}/${address}`)),
    ],
    /** `namespace/selectorKey` of those that select workloads (model/selection.ts). */
    serviceEntriesBySelector: ({ namespace, spec: { workloadSelector } }) =>
      workloadSelector === undefined ? [] : [`${namespace}/${selectorKey(workloadSelector.labels ?? {})}`],
  },
});

/** The protocols whose host the proxy can see, and so find an address for. */
const DYNAMIC_PROTOCOLS: readonly string[] = ['HTTP', 'HTTP2', 'GRPC', 'TLS'];

function checkServiceEntry(spec: ServiceEntry, report: Report, raw: RawObject): void {
  const { hosts = [], addresses = [], ports = [], endpoints = [], resolution = 'NONE' } = spec;
  if (spec.workloadSelector !== undefined && endpoints.length > 0) {
    report('spec.endpoints', 'cannot be combined with workloadSelector');
  }
  checkSelector(spec.workloadSelector?.labels, 'spec.workloadSelector.labels', report);
  if (hosts.length === 0) report('spec.hosts', 'is empty; expected at least one host');
  hosts.forEach((host, i) => {
    if (host === '*')
      report(`spec.hosts[${i}]`, '"*" is every host; expected one, or a wildcard such as *.example.com');
    else checkWildcardHost(host, `spec.hosts[${i}]`, report);
  });
  addresses.forEach((address, i) => {
    checkIpOrCidr(address, `spec.addresses[${i}]`, report);
    if (address.includes('/') && resolution !== 'NONE' && resolution !== 'STATIC') {
      report(`spec.addresses[${i}]`, `${quoted(address)}: prefixes are possible with resolution NONE or STATIC only`);
    }
  });
  checkPorts(ports, report);
  checkResolution(spec, raw, report);
  checkSeveralHosts(spec, report);
  const count = hosts.length * Math.max(1, addresses.length) * ports.length * Math.max(1, endpoints.length);
  checkEndpointCount(count, 'hosts times addresses times ports times endpoints', 'spec.endpoints', report);
  checkExportTo(spec.exportTo, { namespace: namespaceOfRaw(raw), noneAllowed: true }, report);
}

function checkPorts(ports: readonly ServicePort[], report: Report): void {
  const names = new Set<string>();
  const numbers = new Set<number>();
  ports.forEach((port, i) => {
    const path = `spec.ports[${i}]`;
    const { name = '', number } = port;
    if (!isLabel(name))
      report(`${path}.name`, `${quoted(name)} is not the name of a port: expected letters, digits and "-"`);
    else if (names.has(name)) report(`${path}.name`, `${quoted(name)} is the name of an earlier port too`);
    names.add(name);
    checkPort(number, `${path}.number`, report);
    if (number !== undefined && numbers.has(number)) report(`${path}.number`, `${number} is an earlier port too`);
    if (number !== undefined) numbers.add(number);
    if (port.protocol) checkProtocol(port.protocol, `${path}.protocol`, report);
    if (port.targetPort) checkPort(port.targetPort, `${path}.targetPort`, report);
  });
}

function checkResolution(spec: ServiceEntry, raw: RawObject, report: Report): void {
  const { hosts = [], ports = [], endpoints = [], resolution = 'NONE' } = spec;
  const portNames = new Set(ports.map(({ name = '' }) => name));
  if ((resolution === 'NONE' || resolution === 'DYNAMIC_DNS') && endpoints.length > 0) {
    report('spec.endpoints', `has no meaning with resolution ${resolution}`);
  } else {
    endpoints.forEach((endpoint, i) => {
      checkEndpoint(endpoint, { portNames }, `spec.endpoints[${i}]`, report);
      checkAddressOfResolution(endpoint.address ?? '', resolution, `spec.endpoints[${i}].address`, report);
    });
  }
  if (endpoints.some(({ address = '' }) => isUnixAddress(address)) && ports.length !== 1) {
    report('spec.ports', `has ${ports.length} entries; a ServiceEntry with a socket has exactly one port`);
  }
  if (resolution === 'DNS_ROUND_ROBIN' && endpoints.length > 1) {
    report('spec.endpoints', `has ${endpoints.length} entries; resolution DNS_ROUND_ROBIN allows one`);
  }
  if ((resolution === 'DNS' || resolution === 'DNS_ROUND_ROBIN') && endpoints.length === 0) {
    hosts.forEach((host, i) => {
      checkFqdn(host, `spec.hosts[${i}]`, report);
    });
  }
  if (resolution === 'DYNAMIC_DNS') checkDynamicDns(spec, raw, report);
}

function checkAddressOfResolution(address: string, resolution: string, path: string, report: Report): void {
  if (address === '' && resolution !== 'STATIC') report(path, 'is missing, and resolution by DNS needs it');
  if (isUnixAddress(address) && resolution !== 'STATIC') report(path, 'a socket needs resolution STATIC');
  if (address !== '' && !isUnixAddress(address) && resolution === 'STATIC' && !isIp(address)) {
    report(path, `${quoted(address)} is not an IP address, which resolution STATIC needs`);
  }
}

function checkDynamicDns(spec: ServiceEntry, raw: RawObject, report: Report): void {
  const { hosts = [], ports = [], addresses = [], location = 'MESH_EXTERNAL' } = spec;
  if (addresses.length > 0) report('spec.addresses', 'has no meaning with resolution DYNAMIC_DNS');
  if (location === 'MESH_INTERNAL' && usesWaypoint(raw)) {
    report('spec.location', 'MESH_INTERNAL and resolution DYNAMIC_DNS do not go with a waypoint');
  }
  hosts.forEach((host, i) => {
    if (!isWildcard(host))
      report(`spec.hosts[${i}]`, `${quoted(host)} is no wildcard, which resolution DYNAMIC_DNS needs`);
  });
  ports.forEach(({ protocol = '' }, i) => {
    if (DYNAMIC_PROTOCOLS.includes(protocol.toUpperCase())) return;
    const expected = `expected one of ${DYNAMIC_PROTOCOLS.join(', ')}`;
    report(`spec.ports[${i}].protocol`, `${quoted(protocol)} does not go with resolution DYNAMIC_DNS: ${expected}`);
  });
}

function usesWaypoint(raw: RawObject): boolean {
  const labels = isObject(raw.metadata) && isObject(raw.metadata.labels) ? raw.metadata.labels : {};
  const waypoint = labels['istio.io/use-waypoint'];
  return typeof waypoint === 'string' && waypoint !== '' && waypoint.toLowerCase() !== 'none';
}

/** Of several hosts the proxy must be able to tell which one is meant: by the authority, or by SNI. */
function checkSeveralHosts({ hosts = [], ports = [], resolution = 'NONE' }: ServiceEntry, report: Report): void {
  if (hosts.length < 2 || resolution === 'NONE') return;
  ports.forEach(({ protocol = '' }, i) => {
    const parsed = protocolOf(protocol);
    if (isHttp(parsed) || isTls(parsed)) return;
    report(
      `spec.ports[${i}].protocol`,
      `${quoted(protocol)} does not say which of several hosts is meant; use HTTP or TLS`,
    );
  });
}

function serviceEntryReferences({ namespace, spec }: Obj<'ServiceEntry'>): readonly Reference[] {
  return [
    ...workloads('spec.workloadSelector', spec.workloadSelector?.labels, 'namespace'),
    ...each('spec.endpoints', spec.endpoints, (path, { serviceAccount }) =>
      account(`${path}.serviceAccount`, namespace, serviceAccount),
    ),
  ];
}
