// Which DestinationRules of one host and namespace make one entry. Rules with a workload selector come first and are
// looked up by it, so that thousands of selectors are not compared with each other.
// Source: Istio pilot/pkg/model/destination_rule.go (mergeDestinationRule).

import { canonicalJson } from '../../base/json.ts';
import type { ObjOf } from './specs.ts';

type Rule = ObjOf<'DestinationRule'>;

export interface ExportedRule {
  readonly rule: Rule;
  /** Sorted; of a rule with a workload selector always `.` alone. */
  readonly exportTo: readonly string[];
}

export interface MergedRules {
  /** In order; the first decides. */
  readonly from: readonly Rule[];
  readonly exportTo: readonly string[];
}

interface Draft extends MergedRules {
  readonly from: Rule[];
}

/** Of rules in order, those with a workload selector first. `enhanced`: only rules that are exported alike merge. */
export function mergedRules(rules: readonly ExportedRule[], enhanced: boolean): readonly MergedRules[] {
  const selecting: Draft[] = [];
  const bySelector = new Map<string, Draft[]>();
  const plain: Draft[] = [];
  for (const one of rules) {
    if (one.rule.spec.workloadSelector === undefined) addPlain(selecting, plain, one, enhanced);
    else addSelecting(selecting, bySelector, one);
  }
  return [...selecting, ...plain];
}

/** Joins the entries with the same selector; it is also an entry of its own unless the last of all is one of them. */
function addSelecting(selecting: Draft[], bySelector: Map<string, Draft[]>, { rule, exportTo }: ExportedRule): void {
  const key = canonicalJson(rule.spec.workloadSelector?.matchLabels ?? {});
  const same = bySelector.get(key) ?? [];
  const joinsLast = same.length > 0 && same.at(-1) === selecting.at(-1);
  for (const { from } of same) from.push(rule);
  if (joinsLast) return;
  const own = { from: [rule], exportTo };
  selecting.push(own);
  same.push(own);
  bySelector.set(key, same);
}

/** Joins the entries it may be merged with; the last of them decides whether it is also an entry of its own. */
function addPlain(
  selecting: readonly Draft[],
  plain: Draft[],
  { rule, exportTo }: ExportedRule,
  enhanced: boolean,
): void {
  // All entries with a selector are exported alike.
  const isPrivate = exportTo.length === 1 && exportTo[0] === '.';
  let alone = !(enhanced && isPrivate && selecting.length > 0);
  if (!enhanced || exportTo.includes('.')) for (const { from } of selecting) from.push(rule);
  for (const entry of plain) {
    const joins = !enhanced || sameSet(entry.exportTo, exportTo) || isWithin(entry.exportTo, exportTo);
    alone = !joins;
    if (joins) entry.from.push(rule);
  }
  if (alone) plain.push({ from: [rule], exportTo });
}

/** An empty list, the mesh's default, is within none. */
function isWithin(exportTo: readonly string[], other: readonly string[]): boolean {
  return exportTo.length > 0 && exportTo.every(target => other.includes(target));
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(value => b.includes(value));
}
