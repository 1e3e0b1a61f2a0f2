// AuthorizationPolicy: who may do what. Rules: Istio pkg/config/validation (ValidateAuthorizationPolicy).

import { isObject, type Json } from '../../base/json.ts';
import type { RawObject } from '../../event.ts';
import type { Obj } from '../../model/object.ts';
import { PROBLEMS_MAX } from '../../schema/decode.ts';
import type { AuthorizationPolicy, Operation, Rule, Source } from '../../schema/istio-types.gen.ts';
import type { Reference } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkIpOrCidr } from '../validate/addresses.ts';
import { istioKind, SECURITY, SECURITY_VERSIONS } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { type AuthorizationPolicySpec, refusedPolicy } from './refused-policy.ts';
import { CONDITION_VALUES_MAX, checkCondition, conditionValues } from './validate/conditions.ts';
import { checkPathTemplate } from './validate/path-template.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';
import { checkNoneEmpty, checkPortTexts, checkServiceAccounts, checkTrustDomains } from './validate/principals.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly AuthorizationPolicy: { readonly spec: AuthorizationPolicySpec; readonly push: 'config' };
  }
}

export const authorizationPolicy = istioKind({
  kind: 'AuthorizationPolicy',
  group: SECURITY,
  versions: SECURITY_VERSIONS,
  push: 'config',
  type: 'istio.security.v1beta1.AuthorizationPolicy',
  rules: checkAuthorizationPolicy,
  references: authorizationPolicyReferences,
  standIn: {
    specOf: ({ spec }) => refusedPolicy(spec, checkRefusedRule(spec), takeChecked(spec)),
    effect: ({ selectsAll }) => (selectsAll ? UNDECIDED : DECIDED),
  },
});

/** Attributes that cannot select an external authorizer: the proxy knows them only after its own checks. */
const NOT_WITH_CUSTOM = [
  'namespaces',
  'notNamespaces',
  'serviceAccounts',
  'notServiceAccounts',
  'trustDomains',
  'notTrustDomains',
  'principals',
  'notPrincipals',
  'requestPrincipals',
  'notRequestPrincipals',
] as const satisfies readonly (keyof Source)[];
const CONDITIONS_NOT_WITH_CUSTOM = [
  'source.namespace',
  'source.serviceAccount',
  'source.trustDomain',
  'source.principal',
];
const ADDRESSES = ['ipBlocks', 'notIpBlocks', 'remoteIpBlocks', 'notRemoteIpBlocks'] as const;
const NAMES = [
  'principals',
  'requestPrincipals',
  'namespaces',
  'notPrincipals',
  'notRequestPrincipals',
  'notNamespaces',
] as const;
const BESIDE_ACCOUNTS = ['principals', 'notPrincipals', 'namespaces', 'notNamespaces'] as const;
const ACCOUNTS = ['serviceAccounts', 'notServiceAccounts'] as const;
const DOMAINS = ['trustDomains', 'notTrustDomains'] as const;
const PORTS = ['ports', 'notPorts'] as const;
const TEXTS = ['methods', 'notMethods', 'hosts', 'notHosts', 'paths', 'notPaths'] as const;
const PATHS = ['paths', 'notPaths'] as const;
const NEVER_APPLIES = 'without rules it would never apply; for every request, give one empty rule {}';

const DECIDED = 'what the policy selects is refused as far as it can be read';
const UNDECIDED = `${DECIDED}; its selection is unclear, so it selects its whole namespace (the root namespace: the mesh)`;

/**
 * The sound rules of policies that decode as a whole, by the spec as it was given: the stand-in of a refused policy
 * need not decode and check each rule again.
 */
const checkedRules = new WeakMap<object, readonly Rule[]>();

function takeChecked(spec: Json | undefined): readonly Rule[] | undefined {
  if (!isObject(spec)) return undefined;
  const known = checkedRules.get(spec);
  checkedRules.delete(spec);
  return known;
}

function checkAuthorizationPolicy(spec: AuthorizationPolicy, report: Report, raw: RawObject): void {
  const { action = 'ALLOW', provider, rules = [] } = spec;
  checkPolicyTargets(spec, report);
  if ((action === 'CUSTOM' || action === 'DENY') && rules.length === 0)
    report('spec.rules', `action ${action}: ${NEVER_APPLIES}`);
  if (action === 'CUSTOM') {
    if (rules.length > 0 && !provider?.name) report('spec.provider.name', 'is missing, and action CUSTOM needs it');
  } else if (provider !== undefined) report('spec.provider', `has no meaning with action ${action}`);
  const sound = checkRules(rules, action, report);
  if (isObject(raw.spec)) checkedRules.set(raw.spec, sound);
}

/** Returns those without a problem. The problems of action CUSTOM come before all others. */
function checkRules(rules: readonly Rule[], action: string, report: Report): readonly Rule[] {
  const unsound = new Set<number>();
  let found = 0;
  const checkEach = (check: typeof checkRule): void =>
    rules.forEach((rule, i) => {
      check(rule, `spec.rules[${i}]`, (path, message) => {
        unsound.add(i);
        // Beyond what is kept the reporter would end the checks, and the rules of the stand-in be checked again.
        if (++found <= PROBLEMS_MAX) report(path, message);
      });
    });
  if (action === 'CUSTOM') checkEach(checkCustomRule);
  checkEach(checkRule);
  checkEach(conditionCheck());
  return unsound.size === 0 ? rules : rules.filter((_, i) => !unsound.has(i));
}

function checkCustomRule({ from = [], when = [] }: Rule, path: string, report: Report): void {
  from.forEach(({ source = {} }, i) => {
    for (const name of NOT_WITH_CUSTOM) {
      if (count(source, name) > 0) report(`${path}.from[${i}].source.${name}`, 'is not supported with action CUSTOM');
    }
  });
  when.forEach(({ key = '' }, i) => {
    if (CONDITIONS_NOT_WITH_CUSTOM.includes(key) || key.startsWith('request.auth.')) {
      report(`${path}.when[${i}].key`, `${quoted(key)} is not supported with action CUSTOM`);
    }
  });
}

function checkRule({ from = [], to = [], when = [] }: Rule, path: string, report: Report): void {
  from.forEach(({ source }, i) => {
    checkSource(source, `${path}.from[${i}].source`, report);
  });
  to.forEach(({ operation }, i) => {
    checkOperation(operation, `${path}.to[${i}].operation`, report);
  });
  when.forEach((condition, i) => {
    checkCondition(condition, `${path}.when[${i}]`, report);
  });
}

/** Of rules in order: those past what one policy may repeat of its conditions are unsound. */
function conditionCheck(): typeof checkRule {
  let left = CONDITION_VALUES_MAX;
  return (rule, path, report) => {
    const values = conditionValues(rule);
    if (values <= left) left -= values;
    else {
      const message = `conditions times operations or sources come to ${values} values; at most ${CONDITION_VALUES_MAX} are allowed in one policy`;
      report(`${path}.when`, message);
    }
  };
}

/** The checks of one rule of a refused policy, by the policy's action. */
function checkRefusedRule(spec: Json | undefined): (rule: Rule, path: string, report: Report) => void {
  const custom = isObject(spec) && spec.action === 'CUSTOM';
  const checkConditions = conditionCheck();
  return (rule, path, report) => {
    if (custom) checkCustomRule(rule, path, report);
    checkRule(rule, path, report);
    checkConditions(rule, path, report);
  };
}

function checkSource(source: Source | undefined, path: string, report: Report): void {
  if (source === undefined) {
    report(path, 'is missing');
    return;
  }
  if (isEmpty(source)) report(path, 'is empty; expected at least one property of the source');
  const accounts = count(source, 'serviceAccounts') + count(source, 'notServiceAccounts');
  if (accounts > 0 && BESIDE_ACCOUNTS.some(name => count(source, name) > 0)) {
    report(path, 'service accounts cannot be combined with principals or namespaces');
  }
  for (const name of ADDRESSES) {
    source[name]?.forEach((address, i) => {
      checkIpOrCidr(address, `${path}.${name}[${i}]`, report);
    });
  }
  for (const name of NAMES) checkGiven(source[name], checkNoneEmpty, path, name, report);
  for (const name of ACCOUNTS) checkGiven(source[name], checkServiceAccounts, path, name, report);
  for (const name of DOMAINS) checkGiven(source[name], checkTrustDomains, path, name, report);
}

function checkOperation(operation: Operation | undefined, path: string, report: Report): void {
  if (operation === undefined) {
    report(path, 'is missing');
    return;
  }
  if (isEmpty(operation)) report(path, 'is empty; expected at least one property of the operation');
  for (const name of PORTS) checkGiven(operation[name], checkPortTexts, path, name, report);
  for (const name of TEXTS) checkGiven(operation[name], checkNoneEmpty, path, name, report);
  for (const name of PATHS) {
    operation[name]?.forEach((template, i) => {
      checkPathTemplate(template, `${path}.${name}[${i}]`, report);
    });
  }
}

type CheckList = (values: readonly string[], path: string, report: Report) => void;

/** A policy can have ten thousands of rules: no path is written for a list that is absent. */
function checkGiven(
  values: readonly string[] | undefined,
  check: CheckList,
  path: string,
  name: string,
  report: Report,
): void {
  if (values !== undefined) check(values, `${path}.${name}`, report);
}

/** All members of sources and operations are lists. */
function isEmpty(of: Source | Operation): boolean {
  return Object.values(of).every(list => (list as readonly string[]).length === 0);
}

function count(source: Source, name: keyof Source): number {
  return source[name]?.length ?? 0;
}

function authorizationPolicyReferences(obj: Obj<'AuthorizationPolicy'>): readonly Reference[] {
  const provider = obj.spec.provider?.name;
  return [...policyReferences(obj), ...(provider ? [{ path: 'spec.provider', provider }] : [])];
}
