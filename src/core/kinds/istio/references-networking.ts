// What the kinds of networking.istio.io refer to.

import { resolveGatewayName } from '../../model/hosts.ts';
import type { Obj } from '../../model/object.ts';
import type {
  ClientTLSSettings,
  Destination,
  Gateway,
  ServerTLSSettings,
  TrafficPolicy,
} from '../../schema/istio-types.gen.ts';
import { account, each, host, type Reference, type Referring, secret, workloads } from '../references.ts';

const GROUP_ANNOTATION = 'istio.io/autoRegistrationGroup';

/** Gateways, destinations, mirrors and delegates. */
export function virtualServiceReferences({ namespace, spec }: Obj<'VirtualService'>): readonly Reference[] {
  const to = (path: string, { destination }: { readonly destination?: Destination }): readonly Reference[] =>
    host(`${path}.destination`, destination);
  return [
    ...each('spec.gateways', spec.gateways, (path, gateway) => {
      const [owner = '', name] = resolveGatewayName(gateway, namespace).split('/');
      return name === undefined ? [] : [{ path, kind: 'Gateway', namespace: owner, name }];
    }),
    ...each('spec.http', spec.http, (path, { route, mirror, mirrors, delegate }) => [
      ...each(`${path}.route`, route, to),
      ...host(`${path}.mirror`, mirror),
      ...each(`${path}.mirrors`, mirrors, to),
      ...delegateOf(`${path}.delegate`, namespace, delegate),
    ]),
    ...each('spec.tls', spec.tls, (path, { route }) => each(`${path}.route`, route, to)),
    ...each('spec.tcp', spec.tcp, (path, { route }) => each(`${path}.route`, route, to)),
  ];
}

function delegateOf(
  path: string,
  namespace: string,
  delegate: { readonly name?: string; readonly namespace?: string } | undefined,
): readonly Reference[] {
  if (!delegate?.name) return [];
  return [{ path, kind: 'VirtualService', namespace: delegate.namespace || namespace, name: delegate.name }];
}

export function destinationRuleReferences({ namespace, spec }: Obj<'DestinationRule'>): readonly Reference[] {
  return [
    ...host('spec.host', spec),
    ...policySecrets('spec.trafficPolicy', namespace, spec.trafficPolicy),
    ...each('spec.subsets', spec.subsets, (path, subset) =>
      policySecrets(`${path}.trafficPolicy`, namespace, subset.trafficPolicy),
    ),
    ...workloads('spec.workloadSelector', spec.workloadSelector?.matchLabels, 'namespace'),
  ];
}

function policySecrets(path: string, namespace: string, policy: TrafficPolicy | undefined): readonly Reference[] {
  const of = (at: string, tls: ClientTLSSettings | undefined): readonly Reference[] =>
    secret(`${at}.tls.credentialName`, namespace, tls?.credentialName);
  return [
    ...of(path, policy?.tls),
    ...each(`${path}.portLevelSettings`, policy?.portLevelSettings, (at, { tls }) => of(at, tls)),
  ];
}

/** The Secrets of its servers, and the workloads that it is for, wherever they are. */
export function gatewayReferences({ namespace, spec }: Referring<Gateway>): readonly Reference[] {
  return [
    ...workloads('spec.selector', spec.selector, 'mesh'),
    ...each('spec.servers', spec.servers, (path, { tls }) => serverSecrets(`${path}.tls`, namespace, tls)),
  ];
}

function serverSecrets(path: string, namespace: string, tls: ServerTLSSettings | undefined): readonly Reference[] {
  return [
    ...secret(`${path}.credentialName`, namespace, tls?.credentialName),
    ...each(`${path}.credentialNames`, tls?.credentialNames, (at, name) => secret(at, namespace, name)),
  ];
}

/** Hosts that it imports by their whole name, and its egress proxies. */
export function sidecarReferences({ namespace, spec }: Obj<'Sidecar'>): readonly Reference[] {
  return [
    ...workloads('spec.workloadSelector', spec.workloadSelector?.labels, 'policy'),
    ...each('spec.egress', spec.egress, (path, { hosts }) =>
      each(`${path}.hosts`, hosts, (at, text) => {
        const name = text.slice(text.indexOf('/') + 1);
        return name.startsWith('*') || text.startsWith('~') ? [] : host(at, { host: name });
      }),
    ),
    ...each('spec.ingress', spec.ingress, (path, { tls }) => serverSecrets(`${path}.tls`, namespace, tls)),
    ...host('spec.outboundTrafficPolicy.egressProxy', spec.outboundTrafficPolicy?.egressProxy),
  ];
}

export function serviceEntryReferences({ namespace, spec }: Obj<'ServiceEntry'>): readonly Reference[] {
  return [
    ...workloads('spec.workloadSelector', spec.workloadSelector?.labels, 'namespace'),
    ...each('spec.endpoints', spec.endpoints, (path, { serviceAccount }) =>
      account(`${path}.serviceAccount`, namespace, serviceAccount),
    ),
  ];
}

/** Its account, and the group that it registered with. */
export function workloadEntryReferences({ namespace, spec, annotations }: Obj<'WorkloadEntry'>): readonly Reference[] {
  const group = annotations[GROUP_ANNOTATION];
  const path = `metadata.annotations[${GROUP_ANNOTATION}]`;
  return [
    ...account('spec.serviceAccount', namespace, spec.serviceAccount),
    ...(group === undefined ? [] : [{ path, kind: 'WorkloadGroup' as const, namespace, name: group }]),
  ];
}

export function workloadGroupReferences({ namespace, spec }: Obj<'WorkloadGroup'>): readonly Reference[] {
  return account('spec.template.serviceAccount', namespace, spec.template?.serviceAccount);
}
