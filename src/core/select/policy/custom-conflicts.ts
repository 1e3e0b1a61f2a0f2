// Workloads with CUSTOM policies of several providers, which only PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS allows:
// without it all that these policies match is refused (Istio pilot/pkg/security/authz/builder/builder.go).
//
// Two policies meet if both select a pod, or what a third selects: the labels of pods and those of selectors are
// workloads here, and the selectors of a workload are found by one of their labels. Thousands of policies are not
// compared in pairs: of those that a policy meets a few are listed, and of those with one selector a few are looked at.

import { groupsOf } from '../../base/groups.ts';
import { canonicalJson, type Json } from '../../base/json.ts';
import { type Labels, selects } from '../../base/labels.ts';
import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { providerNamed } from './external-authorizer.ts';

type Policy = Obj<'AuthorizationPolicy'>;

/** Policies that are listed of those that one meets. */
export const CONFLICTS_MAX = 10;

/** Argument ''. Policy → some of the policies of other providers that it meets, in key order. */
export const customConflicts: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'select/customConflicts',
  run: reader => {
    if (reader.feature('PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS')) return new Map();
    const root = reader.mesh('rootNamespace');
    const custom = reader.objects('AuthorizationPolicy').filter(({ spec }) => spec.action === 'CUSTOM');
    const met: Met = new Map();
    for (const attached of groupsOf(custom, targetOf).values()) {
      const byNamespace = groupsOf(attached, ({ namespace }) => namespace);
      for (const [namespace, own] of byNamespace) {
        addMeetings(reader, namespace, own, namespace === root ? [] : (byNamespace.get(root) ?? []), met);
      }
    }
    return new Map([...met].sort(byText).map(([policy, others]) => [policy, [...others].sort()] as const));
  },
};

const nameOf = ({ namespace, name }: Policy): string => `${namespace}/${name}`;
const labelsOf = ({ spec }: Policy): Labels => spec.selector?.matchLabels ?? {};
const providerOf = ({ spec }: Policy): string => providerNamed(spec);
const byText = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** Policies attached to a Gateway or Service by name meet those with the same name alone. */
function targetOf({ spec }: Policy): string {
  return canonicalJson((spec.targetRefs ?? spec.targetRef ?? null) as Json);
}

/** Policies with one selector. */
interface Members {
  /** Those for which not enough others are listed. */
  open: readonly Policy[];
  readonly some: readonly Policy[];
}

interface SelectorGroup {
  readonly id: number;
  readonly labels: Labels;
  readonly own: Members;
  readonly ofRoot: Members;
}

/**
 * Adds the meetings of a namespace's own policies, and of these with policies of the root namespace. Meetings of
 * policies of the root namespace alone are found there.
 */
function addMeetings(
  reader: Reader,
  namespace: string,
  own: readonly Policy[],
  ofRoot: readonly Policy[],
  met: Met,
): void {
  if (new Set([...own, ...ofRoot].map(providerOf)).size < 2) return;
  const bySelector = groupsOf([...ofRoot, ...own], policy => canonicalJson(labelsOf(policy)));
  const groups = [...bySelector.values()].map((policies, id): SelectorGroup => {
    const [mine, others] = [true, false].map(isOwn => policies.filter(one => (one.namespace === namespace) === isOwn));
    return { id, labels: labelsOf(policies[0]!), own: membersOf(mine!), ofRoot: membersOf(others!) };
  });
  const byLabel = groupsOf(groups, ({ labels }) => keyOfLabel(Object.entries(labels)[0]));
  const workloads = [...groups, ...reader.indexed('podsByNamespace', namespace)].map(({ labels }) => labels);
  const seen = new Set<string>();
  for (const labels of workloads) {
    const keys = [keyOfLabel(undefined), ...Object.entries(labels).map(keyOfLabel)];
    const selecting = keys.flatMap(key => byLabel.get(key) ?? []).filter(group => selects(group.labels, labels));
    // Pods that the same selectors select add nothing.
    const key = selecting.map(({ id }) => id).join();
    if (seen.has(key)) continue;
    seen.add(key);
    const here = someOf(selecting.flatMap(group => group.own.some));
    const all = someOf([...here, ...selecting.flatMap(group => group.ofRoot.some)]);
    for (const group of selecting) {
      note(group.own, all, met);
      note(group.ofRoot, here, met);
    }
  }
}

function keyOfLabel(label: readonly [string, string] | undefined): string {
  return label === undefined ? '' : label.join('=');
}

function membersOf(policies: readonly Policy[]): Members {
  return { open: policies, some: someOf(policies) };
}

/** Of one provider and of others as many as are listed: a policy of any provider finds one of another among them. */
function someOf(policies: readonly Policy[]): readonly Policy[] {
  const [first] = policies;
  if (first === undefined) return [];
  const provider = providerOf(first);
  const same = policies.filter(policy => providerOf(policy) === provider).slice(0, CONFLICTS_MAX);
  const others = policies.filter(policy => providerOf(policy) !== provider).slice(0, CONFLICTS_MAX + 1);
  return [...same, ...others];
}

type Met = Map<string, Set<string>>;

function note(members: Members, others: readonly Policy[], met: Met): void {
  const isEnough = (policy: Policy): boolean => (met.get(nameOf(policy))?.size ?? 0) >= CONFLICTS_MAX;
  for (const policy of members.open) {
    const meets = others.filter(other => providerOf(other) !== providerOf(policy));
    if (meets.length === 0) continue;
    const known = met.get(nameOf(policy)) ?? new Set();
    met.set(nameOf(policy), known);
    for (const other of meets) if (known.size < CONFLICTS_MAX) known.add(nameOf(other));
  }
  if (members.open.some(isEnough)) members.open = members.open.filter(policy => !isEnough(policy));
}
