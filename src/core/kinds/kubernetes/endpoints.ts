// Endpoints: the older form of EndpointSlice, one object a Service, of the Service's name.

import type { Obj } from '../../model/object.ts';
import { each, type Reference } from '../references.ts';
import type { Report } from '../report.ts';
import { checkIp } from '../validate/addresses.ts';
import { checkEndpointCount } from '../validate/endpoint-count.ts';
import { checkPort } from '../validate/ports.ts';
import { type TargetRef, targetRefFields } from './endpoint-slice.ts';
import { kubernetesKind } from './kubernetes-kind.ts';
import { podReference, serviceReference } from './references.ts';

export interface EndpointsAddress {
  readonly ip: string;
  readonly hostname: string;
  readonly nodeName: string;
  /** Its namespace is empty when none is given. */
  readonly targetRef?: TargetRef;
}
export interface EndpointsSubset {
  readonly addresses: readonly EndpointsAddress[];
  readonly notReadyAddresses: readonly EndpointsAddress[];
  readonly ports: readonly {
    readonly name: string;
    readonly port: number;
    readonly protocol: string;
    readonly appProtocol?: string;
  }[];
}
export interface EndpointsData {
  readonly subsets: readonly EndpointsSubset[];
}

interface DecodedAddress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: Partial<TargetRef>;
}
interface DecodedSubset {
  readonly addresses?: readonly DecodedAddress[];
  readonly notReadyAddresses?: readonly DecodedAddress[];
  readonly ports?: readonly Partial<EndpointsSubset['ports'][number]>[];
}
interface Decoded {
  readonly subsets?: readonly DecodedSubset[];
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Endpoints: { readonly spec: EndpointsData; readonly push: 'own' };
  }
}

export const endpoints = kubernetesKind<'Endpoints', Decoded>({
  kind: 'Endpoints',
  group: '',
  versions: ['v1'],
  push: 'own',
  references: endpointsReferences,
  messages: {
    Object: [{ name: 'subsets', type: { message: 'Subset' }, repeated: true }],
    Subset: [
      { name: 'addresses', type: { message: 'Address' }, repeated: true },
      { name: 'notReadyAddresses', type: { message: 'Address' }, repeated: true },
      { name: 'ports', type: { message: 'Port' }, repeated: true },
    ],
    Address: [
      { name: 'ip', type: 'string' },
      { name: 'hostname', type: 'string' },
      { name: 'nodeName', type: 'string' },
      { name: 'targetRef', type: { message: 'TargetRef' } },
    ],
    TargetRef: targetRefFields,
    Port: [
      { name: 'name', type: 'string' },
      { name: 'port', type: 'int32' },
      { name: 'protocol', type: 'string' },
      { name: 'appProtocol', type: 'string' },
    ],
  },
  rules: checkEndpoints,
  flatten: decoded => ({ subsets: (decoded.subsets ?? []).map(flattenSubset) }),
});

function flattenSubset(subset: DecodedSubset): EndpointsSubset {
  return {
    addresses: (subset.addresses ?? []).map(flattenAddress),
    notReadyAddresses: (subset.notReadyAddresses ?? []).map(flattenAddress),
    ports: (subset.ports ?? []).map(({ name = '', port = 0, protocol = 'TCP', ...rest }) => ({
      name,
      port,
      protocol,
      ...rest,
    })),
  };
}

function flattenAddress({ ip = '', hostname = '', nodeName = '', targetRef }: DecodedAddress): EndpointsAddress {
  if (targetRef === undefined) return { ip, hostname, nodeName };
  const { kind = '', name = '', namespace = '' } = targetRef;
  return { ip, hostname, nodeName, targetRef: { kind, name, namespace } };
}

function checkEndpoints(decoded: Decoded, report: Report): void {
  let count = 0;
  (decoded.subsets ?? []).forEach((subset, i) => {
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    count += (addresses.length + notReadyAddresses.length) * ports.length;
    for (const list of ['addresses', 'notReadyAddresses'] as const) {
      (subset[list] ?? []).forEach(({ ip = '' }, j) => {
        checkIp(ip, `subsets[${i}].${list}[${j}].ip`, report);
      });
    }
    (subset.ports ?? []).forEach(({ port }, j) => {
      checkPort(port, `subsets[${i}].ports[${j}].port`, report);
    });
  });
  checkEndpointCount(count, 'addresses times ports', 'subsets', report);
}

function endpointsReferences(obj: Obj<'Endpoints'>): readonly Reference[] {
  return [
    ...serviceReference('metadata.name', obj, obj.name),
    ...each('subsets', obj.spec.subsets, (path, { addresses }) =>
      each(`${path}.addresses`, addresses, (at, { targetRef }) => podReference(`${at}.targetRef`, obj, targetRef)),
    ),
  ];
}
