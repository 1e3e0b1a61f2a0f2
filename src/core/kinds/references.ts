// What objects refer to: other objects by name, and hosts with their subsets. Only as written: whether there is such a thing is a question
// to the state (select/references.ts). For provenance, and for saying that something refers to nothing.

import type { Obj } from '../object.ts';
import type { Destination, PolicyTargetReference, Server } from '../schema/istio-types.gen.ts';
import { resolveGatewayName } from '../select/hosts.ts';
import type { KindName } from './kinds.ts';

export interface ObjectReference {
  /** Path inside the object that refers. */
  readonly path: string;
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
}
export interface HostReference {
  readonly path: string;
  /** As written: it may be short, and then it is beside the object. */
  readonly host: string;
  /** Empty if none is named. */
  readonly subset: string;
}
export type Reference = ObjectReference | HostReference;

const TARGET_KINDS: ReadonlyMap<string, KindName> = new Map([
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
  ['gateway.networking.k8s.io/Gateway', 'KubernetesGateway'],
]);

/** Gateways, destinations, mirrors and delegates. */
export function virtualServiceReferences({ namespace, spec }: Obj<'VirtualService'>): readonly Reference[] {
  const found: Reference[] = [];
  (spec.gateways ?? []).forEach((gateway, i) => {
    const [owner = '', name] = resolveGatewayName(gateway, namespace).split('/');
    if (name !== undefined) found.push({ path: `spec.gateways[${i}]`, kind: 'Gateway', namespace: owner, name });
  });
  const to = (path: string, destination: Destination | undefined): void => {
    const { host = '', subset = '' } = destination ?? {};
    if (host !== '') found.push({ path, host, subset });
  };
  (spec.http ?? []).forEach(({ route = [], mirror, mirrors = [], delegate }, i) => {
    const path = `spec.http[${i}]`;
    route.forEach(({ destination }, j) => {
      to(`${path}.route[${j}].destination`, destination);
    });
    to(`${path}.mirror`, mirror);
    mirrors.forEach(({ destination }, j) => {
      to(`${path}.mirrors[${j}].destination`, destination);
    });
    if (delegate?.name) {
      const owner = delegate.namespace || namespace;
      found.push({ path: `${path}.delegate`, kind: 'VirtualService', namespace: owner, name: delegate.name });
    }
  });
  for (const kind of ['tls', 'tcp'] as const) {
    (spec[kind] ?? []).forEach(({ route = [] }, i) => {
      route.forEach(({ destination }, j) => {
        to(`spec.${kind}[${i}].route[${j}].destination`, destination);
      });
    });
  }
  return found;
}

export function destinationRuleReferences({ spec: { host = '' } }: Obj<'DestinationRule'>): readonly Reference[] {
  return host === '' ? [] : [{ path: 'spec.host', host, subset: '' }];
}

/** The Secrets of its servers; what is not the name of a Secret (a file, another provider) is none. */
export function gatewayReferences({ namespace, spec }: Obj<'Gateway'>): readonly Reference[] {
  return (spec.servers ?? []).flatMap(({ tls }: Server, i) => {
    const names: readonly (readonly [string, string])[] = [
      ['credentialName', tls?.credentialName ?? ''],
      ...(tls?.credentialNames ?? []).map((name, j): [string, string] => [`credentialNames[${j}]`, name]),
    ];
    return names
      .filter(([, name]) => name !== '' && !name.includes(':') && !name.includes('/'))
      .map(
        ([member, name]): Reference => ({ path: `spec.servers[${i}].tls.${member}`, kind: 'Secret', namespace, name }),
      );
  });
}

/** What a policy says it is for. Services are found by host, because those of every cluster count. */
export function policyReferences(obj: {
  readonly namespace: string;
  readonly spec: {
    readonly targetRef?: PolicyTargetReference;
    readonly targetRefs?: readonly PolicyTargetReference[];
  };
}): readonly Reference[] {
  const { targetRef, targetRefs = [] } = obj.spec;
  const all: [string, PolicyTargetReference][] = targetRefs.map((target, i) => [`spec.targetRefs[${i}]`, target]);
  if (targetRef !== undefined) all.push(['spec.targetRef', targetRef]);
  return all.flatMap(([path, { group = '', kind = '', name = '' }]): readonly Reference[] => {
    if (kind === 'Service') return [{ path, host: name, subset: '' }];
    if (kind === 'GatewayClass') return [{ path, kind, namespace: '', name }];
    const target = TARGET_KINDS.get(`${group}/${kind}`);
    return target === undefined ? [] : [{ path, kind: target, namespace: obj.namespace, name }];
  });
}
