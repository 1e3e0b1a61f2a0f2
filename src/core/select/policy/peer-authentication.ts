// mTLS modes from PeerAuthentication: mesh, namespace, workload, port; the narrower level replaces the wider where it
// sets a mode. Of several policies of one level the oldest counts. An empty selector is none; a selector in the root
// namespace makes a policy void.
// Source: Istio pilot/pkg/security/authn/policy_applier.go.

import { type Labels, selects } from '../../base/labels.ts';
import { byAge } from '../../model/object.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { proxySelectedBy } from '../../registry/workload.ts';
import type { PeerAuthentication_MutualTLS } from '../../schema/istio-types.gen.ts';
import type { ObjOf } from '../scope/specs.ts';

export type MtlsMode = 'STRICT' | 'PERMISSIVE' | 'DISABLE';
type Policy = ObjOf<'PeerAuthentication'>;

/** Argument: a target port of the proxy's own workload. */
export const inboundMtlsMode: Query<string, MtlsMode> = {
  name: 'select/inboundMtlsMode',
  run: (reader, port) => {
    const namespace = reader.facet('namespace');
    const policy = workloadPolicyOfProxy(reader, namespace);
    return modeAt(policy, reader.get(namespaceMtlsMode, namespace), Number(port));
  },
};

/** The modes of the ports that a workload policy of the proxy names. Keys that are whole numbers come ascending. */
export const portLevelMtlsModes: Query<'', Readonly<Record<number, MtlsMode>>> = {
  name: 'select/portLevelMtlsModes',
  run: reader => {
    const namespace = reader.facet('namespace');
    const policy = workloadPolicyOfProxy(reader, namespace);
    const inherited = reader.get(namespaceMtlsMode, namespace);
    const own = modeOf(policy?.spec.mtls) ?? inherited;
    const ofPorts = policy?.spec.portLevelMtls ?? {};
    const modes: Record<number, MtlsMode> = {};
    for (const name in ofPorts) {
      const port = Number(name);
      modes[port] = modeOf(ofPorts[port]) ?? own;
    }
    return modes;
  },
};

/** The mode of a workload with these labels in this namespace, at a target port. */
export function endpointMtlsMode(reader: Reader, namespace: string, labels: Labels, port: number): MtlsMode {
  const policy = reader.get(workloadPolicies, namespace).find(candidate => selects(selectorOf(candidate), labels));
  return modeAt(policy, reader.get(namespaceMtlsMode, namespace), port);
}

/** Argument: a namespace. Namespace policy, else mesh policy, else PERMISSIVE. */
export const namespaceMtlsMode: Query<string, MtlsMode> = {
  name: 'select/namespaceMtlsMode',
  run: (reader, namespace) => {
    const root = reader.mesh('rootNamespace');
    const mesh = modeOf(oldestGeneral(reader, root)?.spec.mtls) ?? 'PERMISSIVE';
    return modeOf(oldestGeneral(reader, namespace)?.spec.mtls) ?? mesh;
  },
};

/** Argument: a namespace. Its policies with a selector, oldest first; none in the root namespace. */
const workloadPolicies: Query<string, readonly Policy[]> = {
  name: 'select/workloadPeerAuthentications',
  run: (reader, namespace) => {
    if (namespace === reader.mesh('rootNamespace')) return [];
    return policiesOf(reader, namespace).filter(hasSelector);
  },
};

function workloadPolicyOfProxy(reader: ProxyReader, namespace: string): Policy | undefined {
  return reader.get(workloadPolicies, namespace).find(policy => proxySelectedBy(reader, selectorOf(policy)));
}

function oldestGeneral(reader: Reader, namespace: string): Policy | undefined {
  return policiesOf(reader, namespace).find(policy => !hasSelector(policy));
}

function policiesOf(reader: Reader, namespace: string): readonly Policy[] {
  return [...reader.objects('PeerAuthentication', `${namespace}/`)].sort(byAge);
}

function modeAt(policy: Policy | undefined, inherited: MtlsMode, port: number): MtlsMode {
  const own = modeOf(policy?.spec.mtls) ?? inherited;
  return modeOf(policy?.spec.portLevelMtls?.[String(port)]) ?? own;
}

function modeOf(mtls: PeerAuthentication_MutualTLS | undefined): MtlsMode | undefined {
  const mode = mtls?.mode;
  return mode === 'UNSET' ? undefined : mode;
}

function selectorOf(policy: Policy): Labels {
  return policy.spec.selector?.matchLabels ?? {};
}

function hasSelector(policy: Policy): boolean {
  return Object.keys(selectorOf(policy)).length > 0;
}
