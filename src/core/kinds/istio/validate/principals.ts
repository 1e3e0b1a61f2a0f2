// The lists of values in rules of an AuthorizationPolicy. Source: Istio pkg/config/security (CheckEmptyValues,
// CheckServiceAccount, CheckTrustDomainValues, ValidatePorts).

import { quoted, type Report } from '../../report.ts';
import { PORT_MAX } from '../../validate/ports.ts';

const ACCOUNTS_MAX = 16;
const ACCOUNT_LENGTH_MAX = 320;
const ACCOUNT = /^[^/*]+(?:\/[^/*]+)?$/;
const DIGITS = /^\d+$/;

type Values = readonly string[] | undefined;

export function checkNoneEmpty(values: Values, path: string, report: Report): void {
  values?.forEach((value, i) => {
    if (value === '') report(`${path}[${i}]`, 'is empty');
  });
}

/** `account` or `namespace/account`, without wildcards. */
export function checkServiceAccounts(values: Values, path: string, report: Report): void {
  if (values === undefined) return;
  if (values.length > ACCOUNTS_MAX) report(path, `has ${values.length} values; at most ${ACCOUNTS_MAX} are allowed`);
  values.forEach((value, i) => {
    if (!ACCOUNT.test(value)) {
      const expected = 'expected account or namespace/account, without wildcards';
      report(`${path}[${i}]`, `${quoted(value)} is not a service account: ${expected}`);
    } else if (value.length > ACCOUNT_LENGTH_MAX) {
      report(`${path}[${i}]`, `is ${value.length} characters long; at most ${ACCOUNT_LENGTH_MAX} are allowed`);
    }
  });
}

export function checkTrustDomains(values: Values, path: string, report: Report): void {
  checkWildcards(values, path, report);
  values?.forEach((value, i) => {
    if (value.includes('/')) report(`${path}[${i}]`, `${quoted(value)} is not a trust domain: it has a "/"`);
  });
}

/** Exact values, `prefix*`, `*suffix` or `*`. */
export function checkWildcards(values: Values, path: string, report: Report): void {
  checkNoneEmpty(values, path, report);
  values?.forEach((value, i) => {
    if (!value.includes('*')) return;
    const inside = value.slice(1, -1).includes('*');
    if (inside || (value.length > 1 && value.startsWith('*') && value.endsWith('*'))) {
      report(`${path}[${i}]`, `${quoted(value)}: one wildcard is allowed, at the start or at the end`);
    }
  });
}

/** Ports as text; 0 is allowed. */
export function checkPortTexts(values: Values, path: string, report: Report): void {
  values?.forEach((value, i) => {
    if (!DIGITS.test(value) || Number(value) > PORT_MAX) {
      report(`${path}[${i}]`, `${quoted(value)} is not a port: expected 0 to ${PORT_MAX}`);
    }
  });
}
