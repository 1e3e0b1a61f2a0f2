// What acts in place of an AuthorizationPolicy whose first version is refused, so that a policy with a mistake closes
// instead of opening.
//
// An ALLOW policy allows nothing where it applies. Of DENY and CUSTOM the rules that are sound act; if none is,
// everything is denied. An action that cannot be read denies, too. AUDIT refuses nothing, so nothing acts for it.
//
// A selection with any problem is undecided: the stand-in selects every proxy that the policy could select, those of
// its namespace, or of the mesh in the root namespace. Keeping the readable part would open what the rest was for.
//
// Istio has no such verdict: there the webhook keeps the object out, and without it the bad values are left out
// (pilot/pkg/security/authz/model/model.go), which for an unknown key of a DENY policy opens.

import { isRight } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { decodeIstio } from '../../schema/istio.ts';
import type { AuthorizationPolicy, IstioTypeMap, Rule } from '../../schema/istio-types.gen.ts';
import type { Report } from '../report.ts';
import { checkPolicyTargets, type PolicyTargets } from './validate/policy-targets.ts';

/** The policy and its stand-in. */
export interface AuthorizationPolicySpec extends AuthorizationPolicy {
  /** Only of a stand-in: its selection is undecided, so it selects every proxy that the policy could select. */
  readonly selectsAll?: true;
}

const SELECTION = ['selector', 'targetRef', 'targetRefs'];
const BESIDE_SELECTION = ['action', 'provider', 'rules'];

/**
 * `checkRule`: the checks beyond the schema; a reported problem makes a rule unsound. `known`: the sound rules, if
 * they were checked already. Undefined: nothing has to act.
 */
export function refusedPolicy(
  spec: Json | undefined,
  checkRule: (rule: Rule, path: string, report: Report) => void,
  known?: readonly Rule[],
): AuthorizationPolicySpec | undefined {
  const given: JsonObject = isObject(spec) ? spec : {};
  const scope = scopeOf(given);
  const denyAll: AuthorizationPolicySpec = { ...scope, action: 'DENY', rules: [{}] };
  switch (given.action ?? 'ALLOW') {
    case 'ALLOW':
      return { ...scope, action: 'ALLOW', rules: [] };
    case 'AUDIT':
      return undefined;
    case 'DENY': {
      const rules = known ?? soundRules(given.rules, checkRule);
      return rules.length === 0 ? denyAll : { ...scope, action: 'DENY', rules };
    }
    case 'CUSTOM': {
      const rules = known ?? soundRules(given.rules, checkRule);
      const provider = part('istio.security.v1beta1.AuthorizationPolicy.ExtensionProvider', given.provider);
      return rules.length === 0 || !provider?.name ? denyAll : { ...scope, action: 'CUSTOM', provider, rules };
    }
    default:
      return denyAll;
  }
}

function scopeOf(given: JsonObject): PolicyTargets & Pick<AuthorizationPolicySpec, 'selectsAll'> {
  const members = Object.entries(given);
  const selection = members.filter(([name]) => SELECTION.includes(name));
  // Without a selection, an unknown member may be a misspelt one.
  const read = selection.length > 0 ? selection : members.filter(([name]) => !BESIDE_SELECTION.includes(name));
  const scope = part('istio.security.v1beta1.AuthorizationPolicy', Object.fromEntries(read));
  if (scope === undefined) return { selectsAll: true };
  let decided = true;
  checkPolicyTargets(scope, () => {
    decided = false;
  });
  return decided ? scope : { selectsAll: true };
}

function soundRules(
  given: Json | undefined,
  checkRule: (rule: Rule, path: string, report: Report) => void,
): readonly Rule[] {
  if (!Array.isArray(given)) return [];
  return (given as readonly Json[]).flatMap(one => {
    const rule = part('istio.security.v1beta1.Rule', one);
    if (rule === undefined) return [];
    let sound = true;
    checkRule(rule, '', () => {
      sound = false;
    });
    return sound ? [rule] : [];
  });
}

/** A part of the object, if it decodes by itself. */
function part<T extends keyof IstioTypeMap>(type: T, value: Json | undefined): IstioTypeMap[T] | undefined {
  if (value === undefined || value === null) return undefined;
  const decoded = decodeIstio(type, value, '');
  return isRight(decoded) ? decoded.right : undefined;
}
