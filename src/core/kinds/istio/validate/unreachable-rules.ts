// Rules of a VirtualService that no request reaches, and matches that an earlier rule already makes.
//
// Source: Istio pkg/config/validation/validation.go (analyzeUnreachableHTTPRules, analyzeUnreachableTCPRules,
// analyzeUnreachableTLSRules, genMatchHTTPRoutes, coveredValidation). The validating webhook and analysis tell them.

import { canonicalJson, type Json, type JsonObject } from '../../../base/json.ts';
import type { HTTPMatchRequest, HTTPRoute, StringMatch, VirtualService } from '../../../schema/istio-types.gen.ts';

/** A rule of any protocol: only HTTP rules and matches have names. */
interface Rule {
  readonly name?: string;
  readonly match?: readonly object[];
}

/** A rule or match as messages name it, in istiod's form: quoted, or `#` and the place. */
export interface UnreachableReport {
  readonly unused: (rule: string, reason: string, path: string) => void;
  readonly ineffective: (rule: string, match: string, earlier: string, path: string) => void;
}

export function findUnreachableRules({ http = [], tcp = [], tls = [] }: VirtualService, say: UnreachableReport): void {
  checkRules(http, 'spec.http', say);
  checkOverlaps(http, say);
  checkRules(tcp, 'spec.tcp', say);
  checkRules(tls, 'spec.tls', say);
}

function nameOf({ name = '' }: Rule, i: number): string {
  return name === '' ? `#${i}` : `${JSON.stringify(name)}`;
}

function checkRules(rules: readonly Rule[], path: string, say: UnreachableReport): void {
  const met = new Map<string, number>();
  let hasCatchAll = false;
  rules.forEach((rule, i) => {
    const { match = [] } = rule;
    const unreachable = (reason: string): void => say.unused(nameOf(rule, i), reason, `${path}[${i}]`);
    if (match.length === 0) {
      if (hasCatchAll) unreachable('only the last rule can have no matches');
      hasCatchAll = true;
      return;
    }
    let repeated = 0;
    match.forEach((one: Rule, j) => {
      if (hasCatchAll) {
        unreachable('route without matches defined before');
        return;
      }
      const text = canonicalJson({ ...one, name: undefined } as JsonObject);
      const earlier = met.get(text);
      if (earlier === undefined) {
        met.set(text, i);
        return;
      }
      repeated++;
      const names = [nameOf(rule, i), nameOf(one, j), nameOf(rules[earlier]!, earlier)] as const;
      say.ineffective(...names, `${path}[${i}].match[${j}]`);
    });
    if (repeated === match.length) unreachable('all matches used by prior rules');
  });
}

interface PrefixMatch {
  readonly rule: string;
  readonly match: string;
  readonly prefix: string;
  readonly port: number;
  readonly method: string;
  readonly authority: string;
  readonly headers: Texts;
  readonly queryParams: Texts;
  readonly withoutHeaders: Texts;
  readonly path: string;
}
type Texts = Readonly<Record<string, string>>;

/** A match on a path prefix whose prefix an earlier match covers, all other conditions being covered too. */
function checkOverlaps(rules: readonly HTTPRoute[], say: UnreachableReport): void {
  const all: PrefixMatch[] = [];
  const met = new Set<string>();
  let hasCatchAll = false;
  rules.forEach((rule, i) => {
    const { match = [] } = rule;
    if (match.length === 0) hasCatchAll = true;
    if (hasCatchAll) return;
    match.forEach((one, j) => {
      const text = canonicalJson({ ...one, name: undefined } as unknown as Json);
      if (met.has(text)) return;
      met.add(text);
      const prefix = one.uri?.prefix ?? '';
      if (prefix !== '')
        all.push(prefixMatch(one, prefix, nameOf(rule, i), nameOf(one, j), `spec.http[${i}].match[${j}]`));
    });
  });
  all.forEach((first, i) => {
    for (const later of all.slice(i + 1)) {
      if (later.prefix === first.prefix || !covers(first, later)) continue;
      const what = `${later.match} of prefix ${later.prefix}`;
      const by = `${first.match} of prefix ${first.prefix} on ${first.rule}`;
      say.ineffective(later.rule, what, by, later.path);
    }
  });
}

function prefixMatch(one: HTTPMatchRequest, prefix: string, rule: string, match: string, path: string): PrefixMatch {
  return {
    rule,
    match,
    prefix,
    path,
    port: one.port ?? 0,
    method: conditionText(one.method) || 'exact: GET',
    authority: conditionText(one.authority),
    headers: conditionTexts(one.headers),
    queryParams: conditionTexts(one.queryParams),
    withoutHeaders: conditionTexts(one.withoutHeaders),
  };
}

function conditionText({ exact = '', prefix = '' }: StringMatch = {}): string {
  if (exact !== '') return `exact: ${exact}`;
  return prefix === '' ? '' : `prefix: ${prefix}`;
}

function conditionTexts(conditions: Readonly<Record<string, StringMatch>> = {}): Texts {
  return Object.fromEntries(Object.entries(conditions).map(([key, value]) => [key, conditionText(value)]));
}

function covers(first: PrefixMatch, later: PrefixMatch): boolean {
  return (
    later.prefix.startsWith(first.prefix) &&
    later.port === first.port &&
    first.method.startsWith(later.method) &&
    first.authority.startsWith(later.authority) &&
    coverAll(first.headers, later.headers) &&
    coverAll(first.queryParams, later.queryParams) &&
    coverAll(first.withoutHeaders, later.withoutHeaders)
  );
}

function coverAll(first: Texts, later: Texts): boolean {
  if (Object.keys(first).length !== Object.keys(later).length) return false;
  return Object.entries(first).every(([key, value]) => later[key] !== undefined && value.startsWith(later[key]));
}
