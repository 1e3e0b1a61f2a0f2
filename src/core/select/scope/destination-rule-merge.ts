// Which DestinationRules of one host and namespace make one entry. Rules with a workload selector come first and are
// looked up by it, others by a namespace that they are exported to, so that thousands of selectors or of `exportTo` are
// not compared with each other.
// Source: Istio pilot/pkg/model/destination_rule.go (mergeDestinationRule).

import { canonicalJson } from '../../base/json.ts';
import type { ObjOf } from './specs.ts';

type Rule = ObjOf<'DestinationRule'>;

export interface ExportedRule {
  readonly rule: Rule;
  /** In any order, none twice; of a rule with a workload selector always `.` alone. */
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
  if (rules.length === 1) return [{ from: [rules[0]!.rule], exportTo: rules[0]!.exportTo }];
  const selecting: Draft[] = [];
  const bySelector = new Map<string, Draft[]>();
  const plain = new PlainEntries();
  for (const one of rules) {
    if (one.rule.spec.workloadSelector === undefined) addPlain(selecting, plain, one, enhanced);
    else addSelecting(selecting, bySelector, one);
  }
  return [...selecting, ...plain.all];
}

/** Entries without a selector. */
class PlainEntries {
  readonly all: Draft[] = [];
  /** Each entry once, under that of its targets which had the fewest. */
  readonly #byTarget = new Map<string, Draft[]>();
  /** With an empty `exportTo`. */
  readonly #unlimited: Draft[] = [];

  add(entry: Draft): void {
    this.all.push(entry);
    let fewest = entry.exportTo.length === 0 ? this.#unlimited : undefined;
    for (const target of entry.exportTo) {
      const others = this.#byTarget.get(target) ?? [];
      this.#byTarget.set(target, others);
      if (fewest === undefined || others.length < fewest.length) fewest = others;
    }
    fewest?.push(entry);
  }

  /** Those exported to the same, or to a part of it; an empty list, the mesh's default, is a part of none. */
  within(exportTo: readonly string[]): readonly Draft[] {
    if (exportTo.length === 0) return this.#unlimited;
    const targets = new Set(exportTo);
    const found: Draft[] = [];
    for (const target of exportTo) {
      for (const entry of this.#byTarget.get(target) ?? []) {
        if (entry.exportTo.every(own => targets.has(own))) found.push(entry);
      }
    }
    return found;
  }
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

/** Joins the entries it may be merged with; the last of all decides whether it is also an entry of its own. */
function addPlain(
  selecting: readonly Draft[],
  plain: PlainEntries,
  { rule, exportTo }: ExportedRule,
  enhanced: boolean,
): void {
  // All entries with a selector are exported alike.
  const isPrivate = exportTo.length === 1 && exportTo[0] === '.';
  if (!enhanced || exportTo.includes('.')) for (const { from } of selecting) from.push(rule);
  const joined = enhanced ? plain.within(exportTo) : plain.all;
  for (const { from } of joined) from.push(rule);
  const last = plain.all.at(-1);
  const joinsLast = last === undefined ? enhanced && isPrivate && selecting.length > 0 : last.from.at(-1) === rule;
  if (!joinsLast) plain.add({ from: [rule], exportTo });
}
