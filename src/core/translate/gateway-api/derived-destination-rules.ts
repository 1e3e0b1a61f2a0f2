// The DestinationRules that policies for backends become: one for each target and host, of the oldest policy for each
// part. They have no age, so they come before the user's own: their traffic policy counts, the user's subsets stay.
// Source: Istio pilot/pkg/config/kube/gateway/backend_policies.go (DestinationRuleCollection).

import { append } from '../../base/append.ts';
import { OF_GATEWAY_API, PARENTS } from '../../model/derived.ts';
import { compareText, configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { TrafficPolicy, TrafficPolicy_PortTrafficPolicy } from '../../schema/istio-types.gen.ts';
import { derivedObject } from '../derived.ts';
import { arePoliciesRead, type PolicyEntry, type PolicyKind, policyKinds, translatedPolicy } from './policies.ts';
import { allOfRevision } from './revision.ts';

interface Given extends PolicyEntry {
  /** `Kind/namespace.name` of the policy. */
  readonly source: string;
}

/** Argument: a namespace. */
export const derivedDestinationRules: Query<string, readonly Obj<'DestinationRule'>[]> = {
  name: 'translate/derivedDestinationRules',
  run: (reader, namespace) => {
    const byTarget = new Map<string, Given[]>();
    for (const given of givenIn(reader, namespace)) {
      const key = `${given.target.kind}/${given.target.name}/${given.host}`;
      const known = byTarget.get(key);
      if (known === undefined) byTarget.set(key, [given]);
      else known.push(given);
    }
    return [...byTarget.values()].map(entries => ruleOf(reader, entries));
  },
};

/** Oldest first. */
function givenIn(reader: Reader, namespace: string): readonly Given[] {
  const policies: Obj[] = [];
  for (const kind of policyKinds) {
    if (arePoliciesRead(reader, kind)) append(policies, allOfRevision(reader, kind, `${namespace}/`));
  }
  policies.sort((a, b) => a.creationTime - b.creationTime || compareText(a.name, b.name));
  return policies.flatMap(({ kind, name }) => {
    const translated = reader.get(translatedPolicy, { kind: kind as PolicyKind, key: configKey(namespace, name) });
    return (translated?.entries ?? []).map(entry => ({ ...entry, source: `${kind}/${namespace}.${name}` }));
  });
}

function ruleOf(reader: Reader, entries: readonly Given[]): Obj<'DestinationRule'> {
  const { target, host } = entries[0]!;
  const policy: { -readonly [K in keyof TrafficPolicy]: TrafficPolicy[K] } = {};
  const byPort = new Map<number, TrafficPolicy_PortTrafficPolicy>();
  const sources = new Set<string>();
  for (const { section, parts, source } of entries) {
    if (section !== '') {
      const number = target.ports.find(({ name }) => name === section)?.number ?? 0;
      if (!byPort.has(number)) byPort.set(number, { port: { number }, tls: parts.tls });
    } else if (isGiven(policy, parts)) continue;
    else {
      policy.tls ??= parts.tls;
      policy.loadBalancer ??= parts.loadBalancer;
      policy.retryBudget ??= parts.retryBudget;
    }
    sources.add(source);
  }
  const levels = [...byPort].sort(([a], [b]) => a - b).map(([, level]) => level);
  if (levels.length > 0) policy.portLevelSettings = levels;
  const part = target.kind === 'ServiceEntry' ? `${host.replaceAll('.', '-')}~` : '';
  const meta = {
    namespace: target.namespace,
    name: `${target.name}~${part}${OF_GATEWAY_API}`,
    creationTime: 0,
    annotations: { [PARENTS]: [...sources].join(',') },
  };
  return derivedObject(reader, 'DestinationRule', meta, { host, trafficPolicy: policy });
}

/** An older policy of the kind has the target: of the younger one nothing counts, its retry budget neither. */
function isGiven(policy: TrafficPolicy, { tls, loadBalancer }: PolicyEntry['parts']): boolean {
  if (tls !== undefined && policy.tls !== undefined) return true;
  return loadBalancer !== undefined && policy.loadBalancer !== undefined;
}
