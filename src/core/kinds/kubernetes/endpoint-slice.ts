// EndpointSlice: some of the addresses behind a Service. Which Service is said by the label kubernetes.io/service-name.
// Rules: Kubernetes pkg/apis/discovery/validation.

import type { Obj } from '../../model/object.ts';
import type { IndexEntries } from '../kinds.ts';
import { quoted, type Report } from '../report.ts';
import { isIpv4, isIpv6 } from '../validate/addresses.ts';
import { isDns1123Subdomain } from '../validate/names.ts';
import { isPort } from '../validate/ports.ts';
import { kubernetesKind } from './kubernetes-kind.ts';
import { endpointSliceReferences } from './references-kubernetes.ts';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** As many as the API server takes. */
const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const PORTS_MAX = 20_000;

/** An absent condition is unknown, which Istio reads as true. */
export interface EndpointConditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}
export interface TargetRef {
  readonly kind: string;
  readonly name: string;
  /** The slice's own namespace when none is given. */
  readonly namespace: string;
}
export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions: EndpointConditions;
  readonly hostname: string;
  readonly nodeName: string;
  readonly zone: string;
  readonly targetRef?: TargetRef;
}
export interface SlicePort {
  readonly name: string;
  /** TCP, UDP or SCTP. */
  readonly protocol: string;
  /** Absent: all ports. */
  readonly port?: number;
  readonly appProtocol?: string;
}

export interface EndpointSliceData {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints: readonly SliceEndpoint[];
  readonly ports: readonly SlicePort[];
}

interface DecodedEndpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef?: Partial<TargetRef>;
}
interface Decoded {
  readonly metadata?: { readonly namespace?: string };
  readonly addressType?: string;
  readonly endpoints?: readonly DecodedEndpoint[];
  readonly ports?: readonly Partial<SlicePort>[];
}

export const endpointSlice = kubernetesKind<'EndpointSlice', Decoded>({
  kind: 'EndpointSlice',
  group: 'discovery.k8s.io',
  versions: ['v1', 'v1beta1'],
  references: endpointSliceReferences,
  metadata: [{ name: 'namespace', type: 'string' }],
  messages: {
    Object: [
      { name: 'addressType', type: 'string' },
      { name: 'endpoints', type: { message: 'Endpoint' }, repeated: true },
      { name: 'ports', type: { message: 'Port' }, repeated: true },
    ],
    Endpoint: [
      { name: 'addresses', type: 'string', repeated: true },
      { name: 'conditions', type: { message: 'Conditions' } },
      { name: 'hostname', type: 'string' },
      { name: 'nodeName', type: 'string' },
      { name: 'zone', type: 'string' },
      { name: 'targetRef', type: { message: 'TargetRef' } },
    ],
    Conditions: [
      { name: 'ready', type: 'bool' },
      { name: 'serving', type: 'bool' },
      { name: 'terminating', type: 'bool' },
    ],
    TargetRef: [
      { name: 'kind', type: 'string' },
      { name: 'name', type: 'string' },
      { name: 'namespace', type: 'string' },
    ],
    Port: [
      { name: 'name', type: 'string' },
      { name: 'protocol', type: 'string' },
      { name: 'port', type: 'int32' },
      { name: 'appProtocol', type: 'string' },
    ],
  },
  rules: checkSlice,
  flatten,
  indexes: indexSlice,
});

function flatten(decoded: Decoded): EndpointSliceData {
  const namespace = decoded.metadata?.namespace || 'default';
  return {
    addressType: decoded.addressType as EndpointSliceData['addressType'],
    endpoints: (decoded.endpoints ?? []).map(endpoint => flattenEndpoint(endpoint, namespace)),
    ports: (decoded.ports ?? []).map(({ name = '', protocol = 'TCP', ...rest }) => ({ name, protocol, ...rest })),
  };
}

function flattenEndpoint(endpoint: DecodedEndpoint, namespace: string): SliceEndpoint {
  const { targetRef } = endpoint;
  return {
    addresses: endpoint.addresses ?? [],
    conditions: endpoint.conditions ?? {},
    hostname: endpoint.hostname ?? '',
    nodeName: endpoint.nodeName ?? '',
    zone: endpoint.zone ?? '',
    ...(targetRef === undefined
      ? {}
      : {
          targetRef: {
            kind: targetRef.kind ?? '',
            name: targetRef.name ?? '',
            namespace: targetRef.namespace || namespace,
          },
        }),
  };
}

function checkSlice(decoded: Decoded, report: Report): void {
  const { addressType, endpoints = [], ports = [] } = decoded;
  if (addressType !== 'IPv4' && addressType !== 'IPv6' && addressType !== 'FQDN') {
    const found = addressType === undefined ? 'is missing' : `is ${quoted(addressType)}`;
    report('addressType', `${found}; expected IPv4, IPv6 or FQDN`);
  }
  if (endpoints.length > ENDPOINTS_MAX)
    report('endpoints', `${endpoints.length} are too many: at most ${ENDPOINTS_MAX}`);
  if (ports.length > PORTS_MAX) report('ports', `${ports.length} are too many: at most ${PORTS_MAX}`);
  endpoints.forEach((endpoint, i) => {
    const { addresses = [] } = endpoint;
    const at = `endpoints[${i}].addresses`;
    if (addresses.length === 0) report(at, 'is empty; expected at least one address');
    if (addresses.length > ADDRESSES_MAX) report(at, `${addresses.length} are too many: at most ${ADDRESSES_MAX}`);
    addresses.forEach((address, j) => {
      if (!isAddressOf(addressType, address)) report(`${at}[${j}]`, `${quoted(address)} is not of type ${addressType}`);
    });
  });
  ports.forEach(({ port }, i) => {
    if (port !== undefined && !isPort(port)) report(`ports[${i}].port`, `${port} is not a port: expected 1 to 65535`);
  });
}

/** With an unknown type there is nothing to hold the address against. */
function isAddressOf(type: string | undefined, address: string): boolean {
  if (type === 'IPv4') return isIpv4(address);
  if (type === 'IPv6') return isIpv6(address);
  return type !== 'FQDN' || isDns1123Subdomain(address);
}

function indexSlice(obj: Obj<'EndpointSlice'>): IndexEntries {
  const { cluster, namespace } = obj;
  const service = obj.labels[SERVICE_NAME_LABEL];
  const pods: string[] = [];
  const ips: string[] = [];
  for (const { targetRef, addresses } of obj.spec.endpoints) {
    if (targetRef?.kind === 'Pod') pods.push(`${cluster}/${targetRef.namespace}/${targetRef.name}`);
    else if (targetRef === undefined) for (const ip of addresses) ips.push(`${cluster}/${namespace}/${ip}`);
  }
  return {
    slicesByService: service === undefined ? [] : [`${cluster}/${namespace}/${service}`],
    slicesByPod: sortedOnce(pods),
    slicesByIp: sortedOnce(ips),
  };
}

/** Sorted, each once. Most come so already. */
function sortedOnce(entries: string[]): readonly string[] {
  for (let i = 1; i < entries.length; i++) if (entries[i - 1]! >= entries[i]!) return [...new Set(entries)].sort();
  return entries;
}
