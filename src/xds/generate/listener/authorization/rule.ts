// One rule of an AuthorizationPolicy as one policy of Envoy's RBAC: permissions from `to`, principals from `from`, and
// each condition of `when` on the side that its attribute belongs to.
//
// What cannot be rendered closes: an ALLOW rule goes as a whole (it allows nothing), a rule of another action loses the
// value and so refuses more. An unknown key takes the whole rule with it in every action, as in Istio; validation
// refuses such an object.
// Source: Istio pilot/pkg/security/authz/model/model.go (New, Generate).

import type { Condition, Operation, Rule, Source } from '../../../../core/schema/istio-types.gen.ts';
import type { Permission, Policy, Principal } from '../../../proto/types.gen.ts';
import {
  type Attribute,
  attributeOfKey,
  hosts,
  ipBlocks,
  isUnknown,
  methods,
  namespaces,
  paths,
  ports,
  principals,
  type RuleContext,
  remoteIpBlocks,
  renderedValues,
  requestPrincipals,
  serviceAccounts,
  trustDomains,
} from './attributes.ts';

/** The values of one attribute in a rule. */
interface Clause {
  readonly attribute: Attribute;
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

/** A list of values of an attribute. */
export interface ValueList {
  readonly attribute: Attribute;
  /** As it is written. */
  readonly given: readonly string[];
  /** Expanded. */
  readonly values: readonly string[];
}

/** Matches nothing: the content of a policy without rules. */
export const neverPolicy: Policy = {
  permissions: [{ notRule: { any: true } }],
  principals: [{ notId: { any: true } }],
};

/** `allows`: the action is ALLOW. Undefined: the rule cannot be rendered and is left out. */
export function rulePolicy(rule: Rule, context: RuleContext, allows: boolean): Policy | undefined {
  const conditions: Clause[] = [];
  for (const condition of rule.when ?? []) {
    const clause = conditionClause(condition);
    if (clause === undefined) return undefined;
    conditions.push(clause);
  }
  const of = (side: Attribute['side']) => conditions.filter(({ attribute }) => attribute.side === side);
  const onPermissions = of('permission');
  const onPrincipals = of('principal');
  const permissions: Permission[] = [];
  for (const { operation } of orOne(rule.to)) {
    const rules = render(permissionShape, [...operationClauses(operation ?? {}), ...onPermissions], context, allows);
    if (rules === undefined) return undefined;
    permissions.push({ andRules: { rules: rules.length === 0 ? [{ any: true }] : rules } });
  }
  const ids: Principal[] = [];
  for (const { source } of orOne(rule.from)) {
    const own = render(principalShape, [...sourceClauses(source ?? {}), ...onPrincipals], context, allows);
    if (own === undefined) return undefined;
    ids.push({ andIds: { ids: own.length === 0 ? [{ any: true }] : own } });
  }
  return { permissions, principals: ids };
}

/** Without an entry, one empty entry. */
function orOne<T extends object>(entries: readonly T[] | undefined): readonly Partial<T>[] {
  return entries === undefined || entries.length === 0 ? [{}] : entries;
}

function conditionClause({ key = '', values = [], notValues = [] }: Condition): Clause | undefined {
  const attribute = attributeOfKey(key);
  return attribute === undefined ? undefined : { attribute, values, notValues };
}

/** In the order in which Istio writes them. */
function operationClauses(of: Operation): readonly Clause[] {
  return [
    clause(hosts, of.hosts, of.notHosts),
    clause(methods, of.methods, of.notMethods),
    clause(paths, of.paths, of.notPaths),
    clause(ports, of.ports, of.notPorts),
  ];
}

function sourceClauses(of: Source): readonly Clause[] {
  return [
    clause(principals, of.principals, of.notPrincipals),
    clause(requestPrincipals, of.requestPrincipals, of.notRequestPrincipals),
    clause(serviceAccounts, of.serviceAccounts, of.notServiceAccounts),
    clause(trustDomains, of.trustDomains, of.notTrustDomains),
    clause(namespaces, of.namespaces, of.notNamespaces),
    clause(remoteIpBlocks, of.remoteIpBlocks, of.notRemoteIpBlocks),
    clause(ipBlocks, of.ipBlocks, of.notIpBlocks),
  ];
}

function clause(attribute: Attribute, values: readonly string[] = [], notValues: readonly string[] = []): Clause {
  return { attribute, values, notValues };
}

/** How the matchers of one side are joined. */
interface Shape<M> {
  readonly any: (of: readonly M[]) => M;
  readonly not: (of: M) => M;
}
const permissionShape: Shape<Permission> = {
  any: rules => ({ orRules: { rules } }),
  not: rule => ({ notRule: rule }),
};
const principalShape: Shape<Principal> = {
  any: ids => ({ orIds: { ids } }),
  not: id => ({ notId: id }),
};

/** Undefined: something could not be rendered, and the action is ALLOW. */
function render<M extends Permission | Principal>(
  shape: Shape<M>,
  clauses: readonly Clause[],
  context: RuleContext,
  allows: boolean,
): readonly M[] | undefined {
  const out: M[] = [];
  for (const { attribute, values, notValues } of clauses) {
    for (const [given, negated] of [
      [values, false],
      [notValues, true],
    ] as const) {
      if (given.length === 0) continue;
      const { matchers, failed } = matchersOf<M>(attribute, given, context);
      if (failed && allows) return undefined;
      // Values are joined by "or": without the failed one, a DENY rule would match fewer requests.
      if (matchers.length === 0 || (failed && !negated)) continue;
      const one = 'all' in attribute ? matchers[0]! : shape.any(matchers);
      out.push(negated ? shape.not(one) : one);
    }
  }
  return out;
}

function matchersOf<M>(
  attribute: Attribute,
  given: readonly string[],
  context: RuleContext,
): { readonly matchers: readonly M[]; readonly failed: boolean } {
  if (isUnknown(attribute, context)) return { matchers: [], failed: true };
  const parts = context.rendered?.get(given) ?? renderedValues(attribute, expanded(attribute, given, context), context);
  const rendered = 'all' in attribute ? [attribute.all(parts as readonly never[])] : parts;
  const matchers = rendered.filter(matcher => matcher !== undefined) as readonly unknown[] as readonly M[];
  return { matchers, failed: matchers.length < rendered.length };
}

export function expanded(
  { expand }: Attribute,
  given: readonly string[],
  context: Pick<RuleContext, 'trustDomains'>,
): readonly string[] {
  return expand === undefined ? given : expand(given, context);
}

/** Shorter lists of values are rendered with their rule. */
const LONG_LIST = 1_024;

const lists = new WeakMap<Rule, readonly ValueList[]>();

/** The long lists of values of a rule; the same objects each time. */
export function longLists(rule: Rule): readonly ValueList[] {
  const known = lists.get(rule) ?? longListsOf(rule);
  lists.set(rule, known);
  return known;
}

function hasLongList(of: Operation | Source): boolean {
  for (const name in of) {
    const list = of[name as keyof typeof of] as readonly string[] | undefined;
    if (list !== undefined && list.length > LONG_LIST) return true;
  }
  return false;
}

function longListsOf({ from = [], to = [], when = [] }: Rule): readonly ValueList[] {
  const clauses = [
    ...to.flatMap(({ operation = {} }) => (hasLongList(operation) ? operationClauses(operation) : [])),
    ...from.flatMap(({ source = {} }) => (hasLongList(source) ? sourceClauses(source) : [])),
    ...when.map(conditionClause),
  ];
  return clauses.flatMap((one): readonly ValueList[] => {
    if (one === undefined) return [];
    const long = [one.values, one.notValues].filter(({ length }) => length > LONG_LIST);
    return long.map(given => ({ attribute: one.attribute, given, values: given }));
  });
}
