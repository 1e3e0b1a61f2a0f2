// Applies the locality setting to the groups: shares of the traffic, or priorities by labels or by distance.
// Source: Istio pilot/pkg/networking/core/loadbalancer/loadbalancer.go. Groups keep their order.

import { splitLocality } from '../../../core/base/labels.ts';
import { compareText } from '../../../core/model/object.ts';
import { type LocalityInputs, localityMatches } from '../../../core/select/endpoint/locality-inputs.ts';
import { type Group, type Member, WEIGHT_MAX, weightOfMembers } from './group.ts';

/**
 * Number of distances that failover by region, zone and subzone distinguishes; priorities by labels reserve this many.
 */
const DISTANCES = 5;

export function applyLocality(groups: readonly Group[], inputs: LocalityInputs): readonly Group[] {
  switch (inputs.localityMode) {
    case 'distribute':
      return distribute(groups, inputs.distributeTo ?? {});
    case 'priority': {
      const byLabels = compress(groups.flatMap(group => splitByLabels(group, inputs)));
      return inputs.failover === undefined ? byLabels : compress(byLabels.map(group => withDistance(group, inputs)));
    }
    case 'failover':
      return compress(groups.map(group => withDistance(group, inputs)));
    case 'none':
      return groups;
  }
}

/** Each pattern's weight is shared by the groups it matches first; groups that none matches lose their endpoints. */
function distribute(groups: readonly Group[], to: Readonly<Record<string, number>>): readonly Group[] {
  const weights = new Map<Group, number>();
  const left = new Set(groups);
  for (const [pattern, share] of Object.entries(to).sort((a, b) => compareText(a[0], b[0]))) {
    const matched = [...left].filter(group => localityMatches(pattern, splitLocality(group.locality)));
    let total = 0;
    for (const group of matched) total += Math.max(group.weight, 1);
    for (const group of matched) {
      left.delete(group);
      const weight = Math.ceil((Math.max(group.weight, 1) * share) / total);
      weights.set(group, weight > 0 ? Math.min(weight, WEIGHT_MAX) : group.weight);
    }
  }
  return groups.map(group => {
    const weight = weights.get(group);
    return weight === undefined ? { ...group, members: [] } : { ...group, weight };
  });
}

/** One group for each number of leading keys that agree: the more, the better. */
function splitByLabels(group: Group, inputs: LocalityInputs): readonly Group[] {
  const parts = new Map<number, Member[]>();
  for (const member of group.members) {
    const priority = labelPriority(member, inputs);
    const part = parts.get(priority);
    if (part === undefined) parts.set(priority, [member]);
    else part.push(member);
  }
  return [...parts]
    .sort((a, b) => a[0] - b[0])
    .map(([priority, members]) => ({ ...group, priority, members, weight: weightOfMembers(members) }));
}

function labelPriority(member: Member, inputs: LocalityInputs): number {
  const { priorityKeys, priorityValues } = inputs;
  const differing = priorityKeys.findIndex((key, i) => (member.labels[key] ?? '') !== (priorityValues[i] ?? ''));
  return differing < 0 ? 0 : priorityKeys.length - differing;
}

function withDistance(group: Group, inputs: LocalityInputs): Group {
  const { region, zone, subzone } = splitLocality(group.locality);
  let distance = 3;
  if (region === inputs.region) distance = zone !== inputs.zone ? 2 : subzone !== inputs.subzone ? 1 : 0;
  else {
    const rule = (inputs.failover ?? []).find(entry => (entry.from ?? '') === inputs.region);
    if (rule !== undefined && (rule.to ?? '') !== region) distance = 4;
  }
  return { ...group, priority: group.priority * DISTANCES + distance };
}

/** Envoy wants priorities without gaps, from 0. */
function compress(groups: readonly Group[]): readonly Group[] {
  const used = [...new Set(groups.map(group => group.priority))].sort((a, b) => a - b);
  return groups.map(group => ({ ...group, priority: used.indexOf(group.priority) }));
}
