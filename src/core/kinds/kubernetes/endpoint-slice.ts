// EndpointSlice: some of the addresses behind a Service, which the label kubernetes.io/service-name names.
// Rules: Kubernetes pkg/apis/discovery/validation.

import { isIpv4, isIpv6 } from '../../base/ip.ts';
import type { Obj } from '../../model/object.ts';
import { each, type Reference } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkEndpointCount } from '../validate/endpoint-count.ts';
import { isDns1123Subdomain } from '../validate/names.ts';
import { isPort, PORTS_MAX } from '../validate/ports.ts';
import { kubernetesKind } from './kubernetes-kind.ts';
import { podReference, serviceReference } from './references.ts';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** As many as the API server takes. */
const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;

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

/** As the decoder reads it. */
export const targetRefFields = [
  { name: 'kind', type: 'string' },
  { name: 'name', type: 'string' },
  { name: 'namespace', type: 'string' },
] as const;
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

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly EndpointSlice: {
      readonly spec: EndpointSliceData;
      readonly indexes: 'slicesByService' | 'slicesByPod' | 'slicesByIp';
      readonly push: 'own';
    };
  }
}

export const endpointSlice = kubernetesKind<'EndpointSlice', Decoded>({
  kind: 'EndpointSlice',
  group: 'discovery.k8s.io',
  versions: ['v1', 'v1beta1'],
  push: 'own',
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
    TargetRef: targetRefFields,
    Port: [
      { name: 'name', type: 'string' },
      { name: 'protocol', type: 'string' },
      { name: 'port', type: 'int32' },
      { name: 'appProtocol', type: 'string' },
    ],
  },
  rules: checkSlice,
  flatten,
  indexes: {
    /** `cluster/namespace/service` */
    slicesByService: ({ cluster, namespace, labels }) => {
      const service = labels[SERVICE_NAME_LABEL];
      return service === undefined ? [] : [`${cluster}/${namespace}/${service}`];
    },
    /** `cluster/namespace/pod` */
    slicesByPod: podKeys,
    /** `cluster/namespace/ip`, of addresses without a reference to a pod. */
    slicesByIp: addressKeys,
  },
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
  const listed = endpoints.reduce((sum, { addresses = [] }) => sum + addresses.length, 0);
  checkEndpointCount(listed * ports.length, 'addresses times ports', 'endpoints', report);
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

function podKeys({ cluster, spec }: Obj<'EndpointSlice'>): readonly string[] {
  const keys: string[] = [];
  for (const { targetRef } of spec.endpoints) {
    if (targetRef?.kind === 'Pod') keys.push(`${cluster}/${targetRef.namespace}/${targetRef.name}`);
  }
  return sortedOnce(keys);
}

function addressKeys({ cluster, namespace, spec }: Obj<'EndpointSlice'>): readonly string[] {
  const keys: string[] = [];
  for (const { targetRef, addresses } of spec.endpoints) {
    if (targetRef === undefined) for (const ip of addresses) keys.push(`${cluster}/${namespace}/${ip}`);
  }
  return sortedOnce(keys);
}

/** Sorted, each once. Most come so already. */
function sortedOnce(entries: string[]): readonly string[] {
  for (let i = 1; i < entries.length; i++) if (entries[i - 1]! >= entries[i]!) return [...new Set(entries)].sort();
  return entries;
}

function endpointSliceReferences(obj: Obj<'EndpointSlice'>): readonly Reference[] {
  return [
    ...serviceReference(`metadata.labels[${SERVICE_NAME_LABEL}]`, obj, obj.labels[SERVICE_NAME_LABEL]),
    ...each('endpoints', obj.spec.endpoints, (path, { targetRef }) =>
      podReference(`${path}.targetRef`, obj, targetRef),
    ),
  ];
}
