// One rule of an AuthorizationPolicy as one policy of Envoy's RBAC: permissions from `to`, principals from `from`, and
// each condition of `when` on the side that its attribute belongs to.
//
// What cannot be rendered closes: an ALLOW rule goes as a whole (it allows nothing), a rule of another action loses the
// value and so refuses more. An unknown key takes the whole rule with it in every action, as in Istio; validation
// refuses such an object.
// Source: Istio pilot/pkg/security/authz/model/model.go (New, Generate).

import type {
  Condition,
  Rule_From as From,
  Operation,
  Rule,
  Source,
  Rule_To as To,
} from '../../../../core/schema/istio-types.gen.ts';
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
  readonly values: readonly string[] | undefined;
  readonly notValues: readonly string[] | undefined;
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
  const conditions = renderedConditions(rule.when, context, allows);
  if (conditions === undefined) return undefined;
  const permissions = renderedOperations(orOne(rule.to), conditions, context, allows);
  if (permissions === undefined) return undefined;
  const principals = renderedSources(orOne(rule.from), conditions, context, allows);
  return principals === undefined ? undefined : { permissions, principals };
}

/** What the conditions of a rule add to each of its operations and sources. */
export interface Conditions {
  readonly permissions: readonly Permission[];
  readonly principals: readonly Principal[];
}

const NO_CONDITIONS: Conditions = { permissions: [], principals: [] };

/** Undefined here and below: they cannot be rendered, and the rule is left out. */
export function renderedConditions(
  when: readonly Condition[] | undefined,
  context: RuleContext,
  allows: boolean,
): Conditions | undefined {
  if (when === undefined || when.length === 0) return NO_CONDITIONS;
  const permissions: Permission[] = [];
  const principals: Principal[] = [];
  for (const { key = '', values, notValues } of when) {
    const attribute = attributeOfKey(key);
    if (attribute === undefined) return undefined;
    const of = { attribute, values, notValues };
    const isRendered =
      attribute.side === 'permission'
        ? render(permissions, permissionShape, of, context, allows)
        : render(principals, principalShape, of, context, allows);
    if (!isRendered) return undefined;
  }
  return { permissions, principals };
}

export function renderedOperations(
  entries: readonly Partial<To>[],
  conditions: Conditions,
  context: RuleContext,
  allows: boolean,
): readonly Permission[] | undefined {
  const made: Permission[] = [];
  for (const { operation } of entries) {
    const rules: Permission[] = [];
    for (const clause of operationClauses(operation))
      if (!render(rules, permissionShape, clause, context, allows)) return undefined;
    made.push({ andRules: { rules: allOf(rules, conditions.permissions) } });
  }
  return made;
}

export function renderedSources(
  entries: readonly Partial<From>[],
  conditions: Conditions,
  context: RuleContext,
  allows: boolean,
): readonly Principal[] | undefined {
  const made: Principal[] = [];
  for (const { source } of entries) {
    const ids: Principal[] = [];
    for (const clause of sourceClauses(source))
      if (!render(ids, principalShape, clause, context, allows)) return undefined;
    made.push({ andIds: { ids: allOf(ids, conditions.principals) } });
  }
  return made;
}

function allOf<M extends Permission | Principal>(own: readonly M[], conditions: readonly M[]): readonly M[] {
  if (own.length + conditions.length === 0) return [{ any: true } as M];
  return conditions.length === 0 ? own : own.concat(conditions);
}

/** Without an entry, one empty entry. */
export function orOne<T extends object>(entries: readonly T[] | undefined): readonly Partial<T>[] {
  return entries === undefined || entries.length === 0 ? [{}] : entries;
}

/** In the order in which Istio writes them. */
function operationClauses(of: Operation | undefined): readonly Clause[] {
  if (of === undefined) return NO_CLAUSES;
  const clauses: Clause[] = [];
  add(clauses, hosts, of.hosts, of.notHosts);
  add(clauses, methods, of.methods, of.notMethods);
  add(clauses, paths, of.paths, of.notPaths);
  add(clauses, ports, of.ports, of.notPorts);
  return clauses;
}

function sourceClauses(of: Source | undefined): readonly Clause[] {
  if (of === undefined) return NO_CLAUSES;
  const clauses: Clause[] = [];
  add(clauses, principals, of.principals, of.notPrincipals);
  add(clauses, requestPrincipals, of.requestPrincipals, of.notRequestPrincipals);
  add(clauses, serviceAccounts, of.serviceAccounts, of.notServiceAccounts);
  add(clauses, trustDomains, of.trustDomains, of.notTrustDomains);
  add(clauses, namespaces, of.namespaces, of.notNamespaces);
  add(clauses, remoteIpBlocks, of.remoteIpBlocks, of.notRemoteIpBlocks);
  add(clauses, ipBlocks, of.ipBlocks, of.notIpBlocks);
  return clauses;
}

const NO_CLAUSES: readonly Clause[] = [];

function add(
  clauses: Clause[],
  attribute: Attribute,
  values: readonly string[] | undefined,
  notValues: readonly string[] | undefined,
): void {
  if (values !== undefined || notValues !== undefined) clauses.push({ attribute, values, notValues });
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

/** Adds the matchers of a clause. False: something could not be rendered, and the action is ALLOW. */
function render<M extends Permission | Principal>(
  out: M[],
  shape: Shape<M>,
  { attribute, values, notValues }: Clause,
  context: RuleContext,
  allows: boolean,
): boolean {
  if (values !== undefined && values.length > 0) {
    const { matchers, failed } = matchersOf<M>(attribute, values, context);
    if (failed && allows) return false;
    // Values are joined by "or": without the failed one, a DENY rule would match fewer requests.
    if (matchers.length > 0 && !failed) out.push(oneOf(attribute, shape, matchers));
  }
  if (notValues !== undefined && notValues.length > 0) {
    const { matchers, failed } = matchersOf<M>(attribute, notValues, context);
    if (failed && allows) return false;
    if (matchers.length > 0) out.push(shape.not(oneOf(attribute, shape, matchers)));
  }
  return true;
}

function oneOf<M>(attribute: Attribute, shape: Shape<M>, matchers: readonly M[]): M {
  return 'all' in attribute ? matchers[0]! : shape.any(matchers);
}

function matchersOf<M>(
  attribute: Attribute,
  given: readonly string[],
  context: RuleContext,
): { readonly matchers: readonly M[]; readonly failed: boolean } {
  if (isUnknown(attribute, context)) return NONE_RENDERED;
  const parts = context.rendered?.get(given) ?? renderedValues(attribute, expanded(attribute, given, context), context);
  if ('all' in attribute) {
    const one = attribute.all(parts as readonly never[]) as M | undefined;
    return one === undefined ? NONE_RENDERED : { matchers: [one], failed: false };
  }
  const failed = parts.includes(undefined);
  return { matchers: (failed ? parts.filter(part => part !== undefined) : parts) as readonly M[], failed };
}

const NONE_RENDERED = { matchers: [], failed: true } as const;

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

function longListsOf({ from = [], to = [], when = [] }: Rule): readonly ValueList[] {
  const found: ValueList[] = [];
  const take = ({ attribute, values, notValues }: Clause): void => {
    if (isLong(values)) found.push({ attribute, given: values, values });
    if (isLong(notValues)) found.push({ attribute, given: notValues, values: notValues });
  };
  for (const { operation } of to) if (hasLongList(operation)) operationClauses(operation).forEach(take);
  for (const { source } of from) if (hasLongList(source)) sourceClauses(source).forEach(take);
  for (const { key = '', values, notValues } of when) {
    const attribute = isLong(values) || isLong(notValues) ? attributeOfKey(key) : undefined;
    if (attribute !== undefined) take({ attribute, values, notValues });
  }
  return found;
}

function hasLongList(of: Operation | Source | undefined): boolean {
  for (const name in of) if (isLong(of[name as keyof typeof of])) return true;
  return false;
}

function isLong(list: readonly string[] | undefined): list is readonly string[] {
  return list !== undefined && list.length > LONG_LIST;
}
