// PeerAuthentications for ztunnel, which knows no modes: it gets policies that deny what has no identity.
//
// One with port levels and a selector becomes a policy of its own, if a port differs from what holds without it. All
// others are one static policy, which a workload lists where its mode is STRICT. What a workload lists and what is
// sent are decided apart, so a workload may list a policy that is not sent.
// Source: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertPeerAuthentication,
// convertedSelectorPeerAuthentications), pilot/pkg/serviceregistry/ambient/policies.go.

import { type Labels, selects } from '../../base/labels.ts';
import { configKey, type Obj } from '../../model/object.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../../query/reader.ts';
import type { PeerAuthentication_MutualTLS } from '../../schema/istio-types.gen.ts';

export const STATIC_STRICT = 'istio_converted_static_strict';
const CONVERTED = 'converted_peer_authentication_';

type Mode = 'UNSET' | 'DISABLE' | 'PERMISSIVE' | 'STRICT';
type Policy = Obj<'PeerAuthentication'>;

/** What a workload policy with port levels says, and the levels above it. */
export interface PortLevels {
  readonly namespace: string;
  /** Of the policy that ztunnel gets. */
  readonly name: string;
  readonly mode: Mode;
  /** Undefined: there is no policy of that level. */
  readonly ofNamespace: Mode | undefined;
  readonly ofMesh: Mode | undefined;
  /** By port, ascending. */
  readonly ports: readonly (readonly [number, Mode])[];
}

/** The workload policies with port levels, in key order. Argument ''. */
export const portLevelPolicies: Query<'', readonly PortLevels[]> = {
  name: 'select/ambient/portLevelPolicies',
  run: reader => {
    if (!isOn(reader)) return [];
    return reader.objects('PeerAuthentication').flatMap(({ namespace, name }) => {
      const levels = reader.get(portLevels, configKey(namespace, name));
      return levels === undefined ? [] : [levels];
    });
  },
};

/** Argument `namespace/name`. */
const portLevels: Query<string, PortLevels | undefined> = {
  name: 'select/ambient/portLevels',
  run: (reader, key) => {
    const policy = reader.object('PeerAuthentication', key);
    if (policy === undefined || policy.namespace === reader.mesh('rootNamespace')) return undefined;
    // Accepted only beside a selector. Numbers as keys are in ascending order.
    const ports = Object.entries(policy.spec.portLevelMtls ?? {});
    if (ports.length === 0) return undefined;
    return {
      namespace: policy.namespace,
      name: `${CONVERTED}${policy.name}`,
      mode: modeOf(policy.spec.mtls),
      ofNamespace: reader.get(generalMode, policy.namespace),
      ofMesh: reader.get(generalMode, reader.mesh('rootNamespace')),
      ports: ports.map(([port, mtls]) => [Number(port), modeOf(mtls)]),
    };
  },
};

/** Argument: a namespace. The mode of its oldest policy without a selector. */
const generalMode: Query<string, Mode | undefined> = {
  name: 'select/ambient/generalMode',
  run: (reader, namespace) => {
    const general = policiesOf(reader, namespace).filter(({ spec }) => spec.selector === undefined);
    const oldest = oldestOf(general);
    return oldest === undefined ? undefined : modeOf(oldest.spec.mtls);
  },
};

/** Argument ''. The namespace of the static policy; undefined: without a PeerAuthentication it is not sent. */
export const staticPolicyNamespace: Query<'', string | undefined> = {
  name: 'select/ambient/staticPolicyNamespace',
  run: reader => (isOn(reader) && reader.get(anyPolicy, '') ? reader.mesh('rootNamespace') : undefined),
};

const anyPolicy: Query<'', boolean> = {
  name: 'select/ambient/anyPeerAuthentication',
  run: reader => reader.objects('PeerAuthentication').length > 0,
};

export interface LabelledIn {
  readonly namespace: string;
  readonly labels: Labels;
}

/** Workloads of one namespace with equal labels share the values. */
export function labelledKey({ namespace, labels }: LabelledIn): string {
  const parts = Object.keys(labels)
    .sort()
    .map(key => `${key}=${labels[key]}`);
  return [namespace, ...parts].join(KEY_SEPARATOR);
}

/** The policy made of PeerAuthentications that a workload lists, if there is one. */
export const peerAuthenticationsOf: Query<LabelledIn, readonly string[]> = {
  name: 'select/ambient/peerAuthenticationsOf',
  key: labelledKey,
  run: (reader, { namespace, labels }) => {
    const root = reader.mesh('rootNamespace');
    const mesh = policiesOf(reader, root).filter(({ spec }) => namespace === root || spec.selector === undefined);
    const meshMode = modeIn(oldestOf(mesh.filter(({ spec }) => isEmpty(spec.selector?.matchLabels))));
    const here = namespace === root ? [] : policiesOf(reader, namespace);
    const general = modeIn(oldestOf(here.filter(({ spec }) => isEmpty(spec.selector?.matchLabels))));
    const inherited = general === 'UNSET' ? meshMode : general;
    const workload = oldestOf(
      here.filter(
        ({ spec: { selector } }) => !isEmpty(selector?.matchLabels) && selects(selector!.matchLabels!, labels),
      ),
    );
    if (workload !== undefined && portsDiffer(workload, inherited === 'STRICT')) {
      return [configKey(namespace, `${CONVERTED}${workload.name}`)];
    }
    const own = modeIn(workload);
    return (own === 'UNSET' ? inherited : own) === 'STRICT' ? [configKey(root, STATIC_STRICT)] : [];
  },
};

/** A port is laxer where the rest of the workload is strict, or strict where the rest is not. */
function portsDiffer({ spec }: Policy, inherited: boolean): boolean {
  const ports = Object.values(spec.portLevelMtls ?? {}).map(modeOf);
  switch (modeOf(spec.mtls)) {
    case 'STRICT':
      return ports.some(port => port === 'PERMISSIVE' || port === 'DISABLE');
    case 'PERMISSIVE':
    case 'DISABLE':
      return ports.includes('STRICT');
    default:
      // A port with DISABLE does not count here, in istiod either.
      return ports.includes(inherited ? 'PERMISSIVE' : 'STRICT');
  }
}

function isOn(reader: Reader): boolean {
  return reader.feature('PILOT_ENABLE_AMBIENT');
}

function policiesOf(reader: Reader, namespace: string): readonly Policy[] {
  return reader.objects('PeerAuthentication', `${namespace}/`);
}

/** The first by name of those of one age. */
function oldestOf(policies: readonly Policy[]): Policy | undefined {
  let oldest: Policy | undefined;
  for (const policy of policies) {
    if (oldest === undefined || policy.creationTime < oldest.creationTime) oldest = policy;
  }
  return oldest;
}

function modeIn(policy: Policy | undefined): Mode {
  return policy === undefined ? 'UNSET' : modeOf(policy.spec.mtls);
}

function modeOf(mtls: PeerAuthentication_MutualTLS | undefined): Mode {
  return mtls?.mode ?? 'UNSET';
}

function isEmpty(labels: Labels | undefined): boolean {
  return labels === undefined || Object.keys(labels).length === 0;
}
