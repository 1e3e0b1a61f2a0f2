// Which DestinationRule applies to a service for a proxy, rules of one host merged. Two steps: the list for (client
// namespace, service), shared by all proxies of the namespace, and the choice by workload selector.
// Source: Istio pilot/pkg/model/push_context.go, pilot/pkg/model/destination_rule.go,
// pilot/pkg/model/sidecar.go.

import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { proxySelectedBy } from '../../registry/workload.ts';
import { type MergedRule, matchingHost, type RuleEntry, type RulePoolRef, rulePool } from './destination-rule-pools.ts';
import { scopedServices, scopeService, scopeSettings } from './sidecar-scope.ts';

export type { MergedRule } from './destination-rule-pools.ts';

interface RuleTarget {
  readonly hostname: string;
  readonly direction: 'outbound' | 'inbound';
}

/**
 * The rule for the current proxy. Only services in its sidecar scope have one; it is looked up for the service that the
 * scope chose for the hostname.
 */
export const destinationRule: Query<RuleTarget, MergedRule | undefined> = {
  name: 'select/destinationRule',
  key: ({ hostname, direction }) => `${hostname}|${direction}`,
  run: (reader, { hostname, direction }) => {
    const service = reader.get(scopeService, hostname);
    if (service === undefined) return undefined;
    const { namespace } = reader.get(scopeSettings, '');
    const rules = reader.get(rulesForClient, { client: namespace, owner: service.namespace, hostname });
    return chosenRule(reader, rules, direction === 'outbound');
  },
};

/**
 * The outbound rule of every service of the scope that has one, by hostname: the same result as `destinationRule` for
 * each. For callers that need all of them: a changed rule costs one pass over the services of a scope instead of one
 * memoised query for each.
 */
export const scopeRules: Query<'', ReadonlyMap<string, MergedRule>> = {
  name: 'select/scopeRules',
  run: reader => new Map(reader.get(rulePairs, '')),
};

/** As pairs, which are compared by content: a rule that concerns no service of the scope changes nothing. */
const rulePairs: Query<'', readonly (readonly [hostname: string, rule: MergedRule])[]> = {
  name: 'select/rulePairs',
  run: reader => {
    const { namespace } = reader.get(scopeSettings, '');
    const pairs: [string, MergedRule][] = [];
    for (const { hostname, namespace: owner } of reader.get(scopedServices, '')) {
      const rule = chosenRule(reader, candidates(reader, namespace, owner, hostname), true);
      if (rule !== undefined) pairs.push([hostname, rule]);
    }
    return pairs;
  },
};

/** A rule with a workload selector is private: only proxies of its namespace have it among theirs. */
function chosenRule(reader: ProxyReader, rules: readonly MergedRule[], outbound: boolean): MergedRule | undefined {
  let last: MergedRule | undefined;
  for (const rule of rules) {
    const selector = rule.from[0]!.spec.workloadSelector;
    if (selector === undefined) last = rule;
    else if (outbound && proxySelectedBy(reader, selector.matchLabels ?? {})) return rule;
  }
  return last;
}

interface RuleClient {
  /** Namespace of the proxy. */
  readonly client: string;
  /** Namespace of the service. */
  readonly owner: string;
  readonly hostname: string;
}

/** The candidates in order, those with a workload selector among them. */
const rulesForClient: Query<RuleClient, readonly MergedRule[]> = {
  name: 'select/rulesForClient',
  key: ({ client, owner, hostname }) => `${client}|${owner}|${hostname}`,
  run: (reader, { client, owner, hostname }) => candidates(reader, client, owner, hostname),
};

function candidates(reader: Reader, client: string, owner: string, hostname: string): readonly MergedRule[] {
  const root = reader.mesh('rootNamespace');
  const found = (pool: RulePoolRef['pool'], namespace: string): readonly RuleEntry[] => {
    const rules = reader.get(rulePool, { pool, namespace });
    const host = matchingHost(hostname, rules);
    return host === undefined ? [] : (rules.entries.get(host) ?? []);
  };
  const own = client === root ? found('rootPrivate', root) : found('local', client);
  if (own.length > 0) return own.map(entry => entry.rule);
  for (const namespace of new Set([owner, root])) {
    const exported = found('exported', namespace).filter(entry => isExportedTo(entry, client));
    if (exported.length > 0) return exported.map(entry => entry.rule);
  }
  return [];
}

function isExportedTo(entry: RuleEntry, client: string): boolean {
  return entry.exportTo.length === 0 || entry.exportTo.includes('*') || entry.exportTo.includes(client);
}
