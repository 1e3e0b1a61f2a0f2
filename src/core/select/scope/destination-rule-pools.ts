// The DestinationRules of a namespace by host, in three pools: for its own clients, for others, and private ones of the
// root namespace. A merged rule keeps its identity while its source objects do.
// Source: Istio pilot/pkg/model/push_context.go (setDestinationRules),
// pilot/pkg/model/destination_rule.go (mergeDestinationRule).

import { hostIndexOf } from '../../model/host-index.ts';
import { isWildcard, resolveShortName } from '../../model/hosts.ts';
import { byAge } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query } from '../../query/reader.ts';
import type { DestinationRule } from '../../schema/istio-types.gen.ts';
import { destinationRulesInForce } from '../../translate/in-force.ts';
import { type ExportedRule, mergedRules } from './destination-rule-merge.ts';
import type { ObjOf, SpecOf } from './specs.ts';
import { subsetsInForce } from './subset-limit.ts';

export interface MergedRule {
  /** Host resolved, subsets united, the first traffic policy. */
  readonly spec: SpecOf<'DestinationRule'>;
  /** Name and namespace of the first rule. */
  readonly name: string;
  readonly namespace: string;
  /** The rules that it was made of, in order. */
  readonly from: readonly ObjOf<'DestinationRule'>[];
  /** Subsets past the limit of what they multiply to. */
  readonly leftOut: number;
}

export interface RuleEntry {
  readonly rule: MergedRule;
  /** As it is written: no entry occurs twice. Empty: the mesh's default. */
  readonly exportTo: readonly string[];
}

export interface RulePool {
  readonly entries: ReadonlyMap<string, readonly RuleEntry[]>;
  readonly wildcards: readonly string[];
}

type Rule = ObjOf<'DestinationRule'>;

export interface RulePoolRef {
  readonly pool: 'local' | 'exported' | 'rootPrivate';
  readonly namespace: string;
}

export const rulePool: Query<RulePoolRef, RulePool> = {
  name: 'select/destinationRulePool',
  key: ({ pool, namespace }) => `${pool}|${namespace}`,
  run: (reader, { pool, namespace }) => {
    const domain = reader.setting('domainSuffix');
    const enhanced = reader.feature('ENABLE_ENHANCED_DESTINATIONRULE_MERGE');
    const privateByDefault = (reader.mesh('defaultDestinationRuleExportTo') ?? []).includes('.');
    const byHost = new Map<string, ExportedRule[]>();
    for (const rule of [...destinationRulesInForce(reader, namespace)].sort(inOrder)) {
      const exportTo = exportOf(rule);
      if (!belongs(pool, namespace, exportTo, privateByDefault)) continue;
      const host = resolveShortName(rule.spec.host ?? '', namespace, domain);
      const known = byHost.get(host);
      if (known === undefined) byHost.set(host, [{ rule, exportTo }]);
      else known.push({ rule, exportTo });
    }
    const entries = new Map<string, readonly RuleEntry[]>();
    for (const [host, rules] of byHost) {
      const merged = mergedRules(rules, enhanced);
      entries.set(
        host,
        merged.map(({ from, exportTo }) => {
          const subsets = from.reduce((sum, { spec }) => sum + (spec.subsets?.length ?? 0), 0);
          const most = subsetsInForce(reader, host, subsets);
          return { rule: reader.make(mergedRule, { host, from, most }), exportTo };
        }),
      );
    }
    return { entries, wildcards: [...entries.keys()].filter(isWildcard) };
  },
};

/** The one host of the pool that decides for a service. */
export function matchingHost(hostname: string, pool: RulePool): string | undefined {
  return pool.entries.has(hostname) ? hostname : hostIndexOf(pool.wildcards).mostSpecific(hostname);
}

/** `most`: subsets that may be in force. */
const mergedRule: Generator<
  { readonly host: string; readonly from: readonly Rule[]; readonly most: number },
  MergedRule
> = {
  name: 'select/mergedDestinationRule',
  run: ({ host, from, most }) => {
    const [first, ...rest] = from;
    const spec: DestinationRule = { ...first!.spec, host, ...united(first!.spec, rest) };
    const leftOut = Math.max(0, (spec.subsets?.length ?? 0) - most);
    const applied = leftOut === 0 ? spec : { ...spec, subsets: spec.subsets!.slice(0, most) };
    return { spec: applied, name: first!.name, namespace: first!.namespace, from, leftOut };
  },
};

/** Subsets by first name, the first traffic policy that there is. */
function united(first: DestinationRule, rest: readonly Rule[]): Partial<DestinationRule> {
  if (rest.length === 0) return {};
  const subsets = [...(first.subsets ?? [])];
  const names = new Set(subsets.map(subset => subset.name));
  let { trafficPolicy } = first;
  for (const { spec } of rest) {
    const more = (spec.subsets ?? []).filter(subset => !names.has(subset.name));
    for (const subset of more) {
      subsets.push(subset);
      names.add(subset.name);
    }
    trafficPolicy ??= spec.trafficPolicy;
  }
  return { subsets, trafficPolicy };
}

function belongs(
  pool: string | undefined,
  namespace: string,
  exportTo: readonly string[],
  privateByDefault: boolean,
): boolean {
  const isLocal =
    exportTo.length === 0 || exportTo.includes('*') || exportTo.includes('.') || exportTo.includes(namespace);
  if (pool === 'local') return isLocal;
  const onlyOwn = exportTo.length === 1 && (exportTo[0] === '.' || exportTo[0] === namespace);
  const privateOnly = onlyOwn || (exportTo.length === 0 && privateByDefault);
  return pool === 'exported' ? !privateOnly : privateOnly;
}

/** A rule with a workload selector is private, regardless of its exportTo. */
function exportOf(rule: Rule): readonly string[] {
  if (rule.spec.workloadSelector !== undefined) return ['.'];
  return rule.spec.exportTo ?? [];
}

function inOrder(a: Rule, b: Rule): number {
  const selectors = Number(b.spec.workloadSelector !== undefined) - Number(a.spec.workloadSelector !== undefined);
  return selectors || byAge(a as never, b as never);
}

/** Argument ''. Rules with subsets past the limit. */
export const rulesPastLimit: Query<'', readonly MergedRule[]> = {
  name: 'select/rulesPastLimit',
  run: reader => {
    const namespaces = new Set(reader.objects('DestinationRule').map(({ namespace }) => namespace));
    const found = new Set<MergedRule>();
    for (const namespace of namespaces) {
      for (const pool of ['local', 'exported', 'rootPrivate'] as const) {
        for (const entries of reader.get(rulePool, { pool, namespace }).entries.values()) {
          for (const { rule } of entries) if (rule.leftOut > 0) found.add(rule);
        }
      }
    }
    return [...found];
  },
};
