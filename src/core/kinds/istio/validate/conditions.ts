// The conditions (`when`) of an AuthorizationPolicy: which attributes there are, and what their values look like.
// Source: Istio pkg/config/security (ValidateAttribute).

import type { Condition } from '../../../schema/istio-types.gen.ts';
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
