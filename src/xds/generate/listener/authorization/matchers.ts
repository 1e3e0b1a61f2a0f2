// How the values of an AuthorizationPolicy become Envoy's matchers: exact, prefix*, *suffix, or * for presence.
//
// Every literal that enters a regular expression is quoted as Go's regexp.QuoteMeta quotes it, so that a name with `.`
// or `+` in it matches itself alone (CVE-2026-39350).
// Source: Istio pilot/pkg/security/authz/matcher.

import { any } from '../../../proto/any.ts';
import type {
  HeaderMatcher,
  MetadataMatcher,
  Permission,
  StringMatcher,
  ValueMatcher,
} from '../../../proto/types.gen.ts';
import { JWT_FILTER, JWT_PAYLOAD } from '../../common/jwt.ts';
import { quoteRegex } from '../../common/quote-regex.ts';

/** envoy.extensions.path.match.uri_template.v3 */
const TEMPLATE_LENGTH_MAX = 256;

export function regexMatcher(regex: string): StringMatcher {
  return { safeRegex: { regex } };
}

/** `prefix` stands before every value, e.g. `spiffe://`; only a regular expression matches a suffix behind a prefix. */
export function textMatcher(value: string, prefix = ''): StringMatcher {
  if (value === '*') return regexMatcher('.+');
  if (value.startsWith('*')) {
    const suffix = value.slice(1);
    return prefix === '' ? { suffix } : regexMatcher(`${prefix}.*${quoteRegex(suffix)}`);
  }
  if (value.endsWith('*')) return { prefix: prefix + value.slice(0, -1) };
  return { exact: prefix + value };
}

/** The host header is compared without regard to case (CVE-2021-39155). */
export function hostMatcher(value: string): HeaderMatcher {
  if (value === '*') return { name: ':authority', presentMatch: true };
  return { name: ':authority', stringMatch: { ...textMatcher(value), ignoreCase: true } };
}

export function headerMatcher(name: string, value: string): HeaderMatcher {
  return value === '*' ? { name, presentMatch: true } : { name, stringMatch: textMatcher(value) };
}

/** Matches the path without query and fragment (CVE-2021-39156). */
export function pathPermission(value: string): Permission | undefined {
  if (!value.includes('{*}') && !value.includes('{**}')) return { urlPath: { path: textMatcher(value) } };
  const pathTemplate = value.replaceAll('{**}', '**').replaceAll('{*}', '*');
  // Envoy would refuse the whole listener.
  if (!pathTemplate.startsWith('/') || pathTemplate.length > TEMPLATE_LENGTH_MAX) return undefined;
  const typedConfig = any('envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig', { pathTemplate });
  return { uriTemplate: { name: 'uri-template', typedConfig } };
}

/** Any of the values; one alone is not wrapped. */
export function anyValue(values: readonly ValueMatcher[]): ValueMatcher {
  return values.length === 1 ? values[0]! : { orMatch: { valueMatchers: values } };
}

/** A claim of a validated token that is one of the values, or a list that has one of them. */
export function claimMatcher(claims: readonly string[], values: readonly ValueMatcher[]): MetadataMatcher {
  const value = anyValue(values);
  return tokenMatcher(claims, { orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] } });
}

/** A claim that is a single text. */
export function plainClaimMatcher(claim: string, matcher: StringMatcher): MetadataMatcher {
  return tokenMatcher([claim], { stringMatch: matcher });
}

function tokenMatcher(claims: readonly string[], value: ValueMatcher): MetadataMatcher {
  return { filter: JWT_FILTER, path: [JWT_PAYLOAD, ...claims].map(key => ({ key })), value };
}
