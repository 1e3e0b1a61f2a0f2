// Names of HTTP headers in matches and in operations. Source: Istio pkg/config/validation (ValidateHTTPHeaderName and
// its relatives).

import { keysOf } from '../../../base/keys.ts';
import type { Headers } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { headerValueProblem } from './header-value.ts';

const NAME = /^[-_A-Za-z0-9]+$/;
/** RFC 9110, token. */
const TOKEN = /^[-!#$%&'*+.^_`|~A-Za-z0-9]+$/;
const PSEUDO: readonly string[] = [':method', ':scheme', ':authority', ':path', ':status'];
const CLAIMS = '@request.auth.claims';
const AT = 0x40;

/** A header that a policy names: stricter than HTTP. */
export function checkHeaderName(name: string, path: string, report: Report): void {
  if (!NAME.test(name))
    report(path, `${quoted(name)} is not the name of a header: expected letters, digits, "-" and "_"`);
}

/** Any name that HTTP allows. */
export function checkHeaderToken(name: string, path: string, report: Report): void {
  if (!TOKEN.test(name)) report(path, `${quoted(name)} is not the name of a header`);
}

/** A route looks at headers, pseudo-headers and claims of a token. */
export function isMatchedHeader(name: string): boolean {
  return TOKEN.test(name) || isClaim(name) || PSEUDO.includes(name);
}

/** A claim of a token stands for a header: `@request.auth.claims.a.b` or `@request.auth.claims[a][b]`. */
export function isClaim(name: string): boolean {
  if (name.charCodeAt(0) !== AT || !name.toLowerCase().startsWith(CLAIMS)) return false;
  const rest = name.slice(CLAIMS.length);
  return /^\..|^\[.+\]$/s.test(rest);
}

/** The operations on request and response headers of a route or destination. */
export function checkHeaderOperations(headers: Headers | undefined, path: string, report: Report): void {
  for (const side of ['request', 'response'] as const) {
    const operations = headers?.[side];
    for (const kind of ['add', 'set'] as const) {
      const members = operations?.[kind] ?? {};
      for (const name of keysOf(members)) {
        const wrong = operationNameProblem(name, side === 'request');
        const found = headerValueProblem(members[name]!);
        if (wrong === undefined && found === undefined) continue;
        const at = `${path}.${side}.${kind}[${name}]`;
        if (wrong !== undefined) report(at, wrong);
        if (found !== undefined) report(at, found);
      }
    }
    (operations?.remove ?? []).forEach((name, i) => {
      const wrong = operationNameProblem(name, false);
      if (wrong !== undefined) report(`${path}.${side}.remove[${i}]`, wrong);
    });
  }
}

function operationNameProblem(name: string, authorityAllowed: boolean): string | undefined {
  if (name === '') return 'the name of the header is missing';
  if (isAuthority(name)) return authorityAllowed ? undefined : `${quoted(name)} cannot be changed here`;
  return name.startsWith(':') ? `${quoted(name)}: headers that begin with ":" cannot be changed` : undefined;
}

/** The header with the requested host. */
export function isAuthority(name: string): boolean {
  // Another letter in lower case may be longer, which makes it none of them.
  if (name.length !== AUTHORITY.length && name.length !== HOST.length) return false;
  const lower = name.toLowerCase();
  return lower === AUTHORITY || lower === HOST;
}

const AUTHORITY = ':authority';
const HOST = 'host';
