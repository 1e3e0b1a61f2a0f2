// Service: a named destination of the mesh. Defaults are the API server's: type ClusterIP, protocol TCP, targetPort the
// port itself.
// Rules: Kubernetes pkg/apis/core/validation (ValidateService), as far as a wrong value would reach a proxy.

import type { Obj } from '../../model/object.ts';
import { type Reference, workloads } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkIp } from '../validate/addresses.ts';
import { isDns1123Label, isDns1123Subdomain, isPortName } from '../validate/names.ts';
import { checkPort, isPort, PORTS_MAX } from '../validate/ports.ts';
import { kubernetesKind } from './kubernetes-kind.ts';

export interface ServicePortData {
  /** May be empty when it is the only port. */
  readonly name: string;
  /** TCP, UDP or SCTP. */
  readonly protocol: string;
  readonly port: number;
  /** A number, or the name of a container's port. */
  readonly targetPort: number | string;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

export interface ServiceData {
  /** ClusterIP, NodePort, LoadBalancer or ExternalName. */
  readonly type: string;
  /** `None` for a headless service, empty while none is allocated. */
  readonly clusterIP: string;
  /** clusterIP first; empty when there is none. */
  readonly clusterIPs: readonly string[];
  /** IPv4, IPv6; absent when none is given. */
  readonly ipFamilies?: readonly string[];
  readonly ports: readonly ServicePortData[];
  readonly selector: Readonly<Record<string, string>>;
  readonly externalName: string;
  readonly externalIPs: readonly string[];
  /** Cluster or Local. */
  readonly internalTrafficPolicy: string;
  readonly trafficDistribution?: string;
  readonly publishNotReadyAddresses: boolean;
  /** status.loadBalancer.ingress */
  readonly loadBalancerIngress: readonly { readonly ip?: string; readonly hostname?: string }[];
}

interface Decoded {
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly string[];
    readonly ports?: readonly Partial<ServicePortData>[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly externalName?: string;
    readonly externalIPs?: readonly string[];
    readonly internalTrafficPolicy?: string;
    readonly trafficDistribution?: string;
    readonly publishNotReadyAddresses?: boolean;
  };
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Service: {
      readonly spec: ServiceData;
      readonly indexes: 'servicesByName' | 'servicesByType' | 'networkGatewayServices';
      readonly push: 'own';
    };
  }
}

export const service = kubernetesKind<'Service', Decoded>({
  kind: 'Service',
  group: '',
  versions: ['v1'],
  push: 'own',
  references: serviceReferences,
  metadata: [{ name: 'name', type: 'string' }],
  messages: {
    Object: [
      { name: 'spec', type: { message: 'Spec' } },
      { name: 'status', type: { message: 'Status' } },
    ],
    Spec: [
      { name: 'type', type: 'string' },
      { name: 'clusterIP', type: 'string' },
      { name: 'clusterIPs', type: 'string', repeated: true },
      { name: 'ipFamilies', type: 'string', repeated: true },
      { name: 'ports', type: { message: 'Port' }, repeated: true },
      { name: 'selector', type: 'string', map: 'string' },
      { name: 'externalName', type: 'string' },
      { name: 'externalIPs', type: 'string', repeated: true },
      { name: 'internalTrafficPolicy', type: 'string' },
      { name: 'trafficDistribution', type: 'string' },
      { name: 'publishNotReadyAddresses', type: 'bool' },
    ],
    Port: [
      { name: 'name', type: 'string' },
      { name: 'protocol', type: 'string' },
      { name: 'port', type: 'int32' },
      { name: 'targetPort', type: 'intOrString' },
      { name: 'nodePort', type: 'int32' },
      { name: 'appProtocol', type: 'string' },
    ],
    Status: [{ name: 'loadBalancer', type: { message: 'LoadBalancer' } }],
    LoadBalancer: [{ name: 'ingress', type: { message: 'Ingress' }, repeated: true }],
    Ingress: [
      { name: 'ip', type: 'string' },
      { name: 'hostname', type: 'string' },
    ],
  },
  rules: checkService,
  flatten,
  indexes: {
    /** `namespace/name`, of all clusters. */
    servicesByName: ({ namespace, name }) => [`${namespace}/${name}`],
    /** ClusterIP, ExternalName, … */
    servicesByType: ({ spec }) => [spec.type],
    /** `gateway`: another network may be reached through the service. */
    networkGatewayServices: ({ labels }) => (labels['topology.istio.io/network'] ? ['gateway'] : []),
  },
});

/** An API server stores no more (pkg/apis/core/validation, ValidateServiceClusterIPsRelatedFields); ports multiply. */
const ADDRESSES_MAX = 2;
const TYPES: readonly string[] = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'];
const TRANSPORTS: readonly string[] = ['TCP', 'UDP', 'SCTP'];

function flatten({ spec = {}, status = {} }: Decoded): ServiceData {
  const clusterIP = spec.clusterIP ?? spec.clusterIPs?.[0] ?? '';
  return {
    type: spec.type ?? 'ClusterIP',
    clusterIP,
    clusterIPs: clusterIP === '' ? [] : [...new Set([clusterIP, ...(spec.clusterIPs ?? [])])],
    ...(spec.ipFamilies === undefined ? {} : { ipFamilies: spec.ipFamilies }),
    ports: (spec.ports ?? []).map(flattenPort),
    selector: spec.selector ?? {},
    externalName: spec.externalName ?? '',
    externalIPs: spec.externalIPs ?? [],
    internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
    ...(spec.trafficDistribution === undefined ? {} : { trafficDistribution: spec.trafficDistribution }),
    publishNotReadyAddresses: spec.publishNotReadyAddresses ?? false,
    loadBalancerIngress: status.loadBalancer?.ingress ?? [],
  };
}

function flattenPort(port: Partial<ServicePortData>): ServicePortData {
  const number = port.port ?? 0;
  const target =
    port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '' ? number : port.targetPort;
  return { ...port, name: port.name ?? '', protocol: port.protocol ?? 'TCP', port: number, targetPort: target };
}

function checkService({ metadata = {}, spec = {} }: Decoded, report: Report): void {
  if (metadata.name?.includes('.')) {
    report(
      'metadata.name',
      `${quoted(metadata.name)} is not the name of a Service: it becomes a host name and has no dots`,
    );
  }
  if (spec.type !== undefined && !TYPES.includes(spec.type)) {
    report('spec.type', `${quoted(spec.type)} is not a type of Service: expected one of ${TYPES.join(', ')}`);
  }
  if (spec.type === 'ExternalName' && !isDns1123Subdomain((spec.externalName ?? '').replace(/\.$/, ''))) {
    report('spec.externalName', `${quoted(spec.externalName ?? '')} is not a host name; type ExternalName needs one`);
  }
  if (spec.clusterIP) checkClusterIp(spec.clusterIP, 'spec.clusterIP', report);
  const addresses = spec.clusterIPs ?? [];
  if (addresses.length > ADDRESSES_MAX) {
    report(
      'spec.clusterIPs',
      `has ${addresses.length} entries; a service has one address of each IP family, so at most ${ADDRESSES_MAX}`,
    );
  }
  addresses.slice(0, ADDRESSES_MAX).forEach((ip, i) => {
    checkClusterIp(ip, `spec.clusterIPs[${i}]`, report);
  });
  (spec.externalIPs ?? []).forEach((ip, i) => {
    checkIp(ip, `spec.externalIPs[${i}]`, report);
  });
  const { ports = [] } = spec;
  if (ports.length > PORTS_MAX) {
    report('spec.ports', `${ports.length} are too many: an EndpointSlice, and so a Service, has at most ${PORTS_MAX}`);
  } else checkPorts(ports, report);
}

function checkClusterIp(ip: string, path: string, report: Report): void {
  if (ip !== 'None') checkIp(ip, path, report);
}

function checkPorts(ports: readonly Partial<ServicePortData>[], report: Report): void {
  const names = new Set<string>();
  const numbers = new Set<string>();
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`;
    const { name = '', protocol = 'TCP' } = port;
    if (name === '' && ports.length > 1)
      report(`${at}.name`, 'is missing; a Service with several ports must name each');
    if (name !== '' && !isDns1123Label(name)) {
      report(
        `${at}.name`,
        `${quoted(name)} is not the name of a port: expected at most 63 lower case letters, digits and "-"`,
      );
    }
    if (name !== '' && names.has(name)) report(`${at}.name`, `${quoted(name)} is the name of an earlier port too`);
    names.add(name);
    if (!TRANSPORTS.includes(protocol)) {
      report(`${at}.protocol`, `${quoted(protocol)} is not a transport: expected one of ${TRANSPORTS.join(', ')}`);
    }
    checkPort(port.port, `${at}.port`, report);
    const number = `${protocol}/${port.port}`;
    if (port.port !== undefined && numbers.has(number)) report(`${at}.port`, `${number} is an earlier port too`);
    numbers.add(number);
    checkTargetPort(port.targetPort, `${at}.targetPort`, report);
    if (port.nodePort) checkPort(port.nodePort, `${at}.nodePort`, report);
  });
}

function checkTargetPort(target: number | string | undefined, path: string, report: Report): void {
  if (target === undefined || target === 0 || target === '') return;
  if (typeof target === 'number' ? isPort(target) : isPortName(target)) return;
  const expected = 'expected a number from 1 to 65535 or the name of a port';
  report(path, `${typeof target === 'number' ? target : quoted(target)} is not a target port: ${expected}`);
}

/** The workloads that it selects; an alias to a name of the mesh: that service. */
function serviceReferences({ spec }: Obj<'Service'>): readonly Reference[] {
  const { type, externalName, selector } = spec;
  if (type !== 'ExternalName') return workloads('spec.selector', selector, 'namespace');
  return externalName.includes('.svc.') ? [{ path: 'spec.externalName', host: externalName, subset: '' }] : [];
}
