// What the Istio API says of AuthorizationPolicy and RequestAuthentication: whether a request or connection that
// reaches a workload passes, and the rule that decided. Written from the API's description, rule by rule over objects;
// it knows nothing of RBAC filters.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { AuthorizerAnswer } from '../../../src/oracle/question.ts';
import type { Workload } from './inbound-model.ts';
import {
  byteOrder,
  type Called,
  type Caller,
  conditionHolds,
  operationHolds,
  sourceHolds,
  type Token,
} from './policy-match.ts';
import { includes, listIn, nameOf, namespaceOf, objectIn, ROOT_NAMESPACE, specOf, textIn, textsIn } from './read.ts';

export interface PolicyQuestion {
  readonly caller: Caller;
  readonly called: Called;
  /** A token and the header in which it comes. */
  readonly token?: { readonly header: string; readonly text: string } & Token;
  readonly authorizer?: AuthorizerAnswer;
}

export interface Answer {
  /**
   * `passes`, or who refuses it: `deny KEY`, `allow`, `token`, `authorizer`, `closed` for the handshake; `authorizer
   * open` if its answer is not given.
   */
  readonly verdict: string;
  /** Dry-run policies, by action: the key that matches, or ''. */
  readonly shadow: readonly string[];
}

interface Facing {
  readonly question: PolicyQuestion;
  readonly tcp: boolean;
  readonly trustDomains: readonly string[];
  /** The claims of a token that was found good. */
  readonly claims: JsonObject | undefined;
}

/** `mesh`: MeshConfig. */
export function expectPolicies(
  objects: readonly JsonObject[],
  mesh: JsonObject,
  workload: Workload,
  question: PolicyQuestion,
): Answer {
  const tcp = question.called.http === undefined;
  const trustDomains = [textIn(mesh.trustDomain) || 'cluster.local', ...textsIn(mesh.trustDomainAliases)];
  // Certificates of trust domains that are not the mesh's are not accepted at all.
  const { identity } = question.caller;
  if (identity !== undefined && !trustDomains.includes(identity.domain)) return { verdict: 'closed', shadow: [] };
  const attached = objects.filter(object => isAttached(object, workload));
  const policies = attached.filter(({ kind }) => kind === 'AuthorizationPolicy');
  const of = (action: string, dryRun: boolean): readonly JsonObject[] =>
    policies.filter(policy => actionOf(policy) === action && isDryRun(policy) === dryRun);
  const before: Facing = { question, tcp, trustDomains, claims: undefined };
  const custom = customVerdict(of('CUSTOM', false), mesh, before);
  if (custom !== undefined) return { verdict: custom, shadow: [] };
  const rules = attached
    .filter(({ kind }) => kind === 'RequestAuthentication')
    .flatMap(one => listIn(specOf(one).jwtRules));
  const token = tcp ? undefined : tokenVerdict(rules, question);
  if (token === 'refused') return { verdict: 'token', shadow: [] };
  const facing = { ...before, claims: token };
  const denied = firstMatch(of('DENY', false), facing);
  const shadow = [
    ...(of('DENY', true).length === 0 ? [] : [`deny ${firstMatch(of('DENY', true), facing)}`]),
    ...(denied !== '' || of('ALLOW', true).length === 0 ? [] : [`allow ${firstMatch(of('ALLOW', true), facing)}`]),
  ];
  if (denied !== '') return { verdict: `deny ${denied}`, shadow };
  const allowing = of('ALLOW', false);
  const passes = allowing.length === 0 || firstMatch(allowing, facing) !== '';
  return { verdict: passes ? 'passes' : 'allow', shadow };
}

function isAttached(object: JsonObject, workload: Workload): boolean {
  const namespace = namespaceOf(object);
  if (namespace !== ROOT_NAMESPACE && namespace !== workload.namespace) return false;
  return includes(workload.labels, objectIn(objectIn(specOf(object).selector).matchLabels));
}

const actionOf = (policy: JsonObject): string => textIn(specOf(policy).action) || 'ALLOW';
const isDryRun = (policy: JsonObject): boolean =>
  objectIn(objectIn(policy.metadata).annotations)['istio.io/dry-run'] === 'true';

/** The key of the first rule that matches, in the order of keys; '' if none does. */
function firstMatch(policies: readonly JsonObject[], facing: Facing): string {
  const keys = policies.flatMap(policy =>
    listIn(specOf(policy).rules).flatMap((rule, i) =>
      ruleHolds(rule, policy, facing) ? [`ns[${namespaceOf(policy)}]-policy[${nameOf(policy)}]-rule[${i}]`] : [],
    ),
  );
  return keys.sort(byteOrder)[0] ?? '';
}

/**
 * A rule holds if one of its sources, one of its operations and all its conditions do. On a connection without HTTP, a
 * rule of ALLOW that asks anything of HTTP never holds, and one of another action holds as if it did not ask.
 */
function ruleHolds(rule: JsonObject, policy: JsonObject, { question, tcp, trustDomains, claims }: Facing): boolean {
  if (tcp && actionOf(policy) === 'ALLOW' && asksHttp(rule)) return false;
  const context = { ...question, tcp, trustDomains, claims, namespace: namespaceOf(policy) };
  const from = listIn(rule.from).map(entry => objectIn(entry.source));
  const to = listIn(rule.to).map(entry => objectIn(entry.operation));
  return (
    (from.length === 0 || from.some(source => sourceHolds(source, context))) &&
    (to.length === 0 || to.some(operation => operationHolds(operation, context))) &&
    listIn(rule.when).every(condition => conditionHolds(condition, context))
  );
}

const HTTP_FIELDS = /^(not)?(hosts|methods|paths|requestPrincipals)$/i;

function asksHttp(rule: JsonObject): boolean {
  const fields = (objects: readonly JsonObject[], key: string): readonly string[] =>
    objects.flatMap(entry => Object.keys(objectIn(entry[key])));
  return (
    [...fields(listIn(rule.from), 'source'), ...fields(listIn(rule.to), 'operation')].some(name =>
      HTTP_FIELDS.test(name),
    ) || listIn(rule.when).some(({ key }) => textIn(key).startsWith('request.'))
  );
}

/** Undefined: no external authorizer stands in the way. Of several that one workload names, none can be asked. */
function customVerdict(policies: readonly JsonObject[], mesh: JsonObject, facing: Facing): string | undefined {
  const nameIn = (policy: JsonObject): string => textIn(objectIn(specOf(policy).provider).name);
  const names = [...new Set(policies.map(nameIn))].sort(byteOrder);
  for (const name of names) {
    const provider = names.length > 1 ? undefined : listIn(mesh.extensionProviders).find(one => one.name === name);
    const own = policies.filter(policy => nameIn(policy) === name);
    const matched = firstMatch(own, facing);
    if (matched === '') continue;
    if (provider === undefined) return `deny istio-ext-authz-${name}-${matched}-deny-due-to-bad-CUSTOM-action`;
    // Authorizers that are asked by HTTP know nothing of connections.
    if (facing.tcp && provider.envoyExtAuthzHttp !== undefined) continue;
    const answer = authorizerVerdict(
      objectIn(provider.envoyExtAuthzHttp ?? provider.envoyExtAuthzGrpc),
      facing.question,
    );
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function authorizerVerdict({ failOpen }: JsonObject, { authorizer }: PolicyQuestion): string | undefined {
  switch (authorizer) {
    case 'allows':
      return undefined;
    case 'denies':
      return 'authorizer';
    case 'fails':
      return failOpen === true ? undefined : 'authorizer';
    default:
      return 'authorizer open';
  }
}

/** The claims of a good token; undefined without a token that a rule looks for. */
function tokenVerdict(rules: readonly JsonObject[], { token }: PolicyQuestion): JsonObject | undefined | 'refused' {
  if (token === undefined) return undefined;
  const looking = rules.filter(rule => headersOf(rule).includes(token.header));
  if (looking.length === 0) return undefined;
  const good = looking.some(
    rule =>
      rule.issuer === token.claims.iss &&
      token.genuine &&
      !token.expired &&
      (textsIn(rule.audiences).length === 0 ||
        audiences(token.claims.aud).some(one => textsIn(rule.audiences).includes(one))),
  );
  return good ? token.claims : 'refused';
}

function headersOf(rule: JsonObject): readonly string[] {
  const named = listIn(rule.fromHeaders).map(({ name }) => textIn(name));
  return named.length === 0 ? ['authorization'] : named;
}

const audiences = (aud: Json | undefined): readonly string[] => (typeof aud === 'string' ? [aud] : textsIn(aud));
