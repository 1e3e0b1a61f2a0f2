// The conditions (`when`) of an AuthorizationPolicy: which attributes there are, and what their values look like.
// Source: Istio pkg/config/security (ValidateAttribute).

import type { Condition, Rule } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkIpOrCidr } from '../../validate/addresses.ts';
import { checkNoneEmpty, checkPortTexts, checkServiceAccounts, checkWildcards } from './principals.ts';

type CheckValues = (values: readonly string[], path: string, report: Report) => void;

const anything: CheckValues = () => {};
const addresses: CheckValues = (values, path, report) => {
  values.forEach((value, i) => {
    if (value !== '') checkIpOrCidr(value, `${path}[${i}]`, report);
  });
};
const ATTRIBUTES: ReadonlyMap<string, CheckValues> = new Map([
  ['source.ip', addresses],
  ['remote.ip', addresses],
  ['source.namespace', anything],
  ['source.serviceAccount', checkServiceAccounts],
  ['source.principal', anything],
  ['source.trustDomain', checkWildcards],
  ['request.auth.principal', anything],
  ['request.auth.audiences', anything],
  ['request.auth.presenter', anything],
  ['destination.ip', addresses],
  ['destination.port', checkPortTexts],
  ['connection.sni', anything],
]);
/** Attributes that take a key in brackets, such as `request.headers[x-name]`. */
const KEYED: readonly string[] = ['request.headers', 'request.auth.claims', 'experimental.envoy.filters.'];

export function checkCondition(
  { key = '', values = [], notValues = [] }: Condition,
  path: string,
  report: Report,
): void {
  if (key === '') {
    report(`${path}.key`, 'is missing');
    return;
  }
  if (values.length + notValues.length === 0) {
    report(path, 'has neither values nor notValues');
    return;
  }
  const check = ATTRIBUTES.get(key);
  if (check === undefined) checkKeyed(key, `${path}.key`, report);
  for (const [name, given] of [
    ['values', values],
    ['notValues', notValues],
  ] as const) {
    checkNoneEmpty(given, `${path}.${name}`, report);
    check?.(given, `${path}.${name}`, report);
  }
}

/** Copies of values that one policy makes of its conditions, some 6 MB in every proxy that it selects. */
export const CONDITION_VALUES_MAX = 100_000;

/** Attributes of what is asked for; all others are of who asks. */
const OF_OPERATIONS = ['destination.', 'connection.', 'experimental.'];

/**
 * Every condition is repeated in each operation of its rule, or in each source, by its attribute (Istio
 * pilot/pkg/security/authz/model/model.go). Returns the values in all of them.
 */
export function conditionValues({ from = [], to = [], when = [] }: Rule): number {
  let sum = 0;
  for (const { key = '', values = [], notValues = [] } of when) {
    const entries = OF_OPERATIONS.some(prefix => key.startsWith(prefix)) ? to.length : from.length;
    if (entries > 1) sum += entries * (values.length + notValues.length);
  }
  return sum;
}

function checkKeyed(key: string, path: string, report: Report): void {
  if (!KEYED.some(prefix => key.startsWith(prefix))) {
    report(path, `${quoted(key)} is not an attribute that conditions know`);
  } else {
    const open = key.indexOf('[');
    if (open < 1 || open >= key.length - 2 || !key.endsWith(']')) {
      report(path, `${quoted(key)}: expected a key in brackets, such as request.headers[x-name]`);
    }
  }
}
