// Names of HTTP headers in matches and in operations. Source: Istio pkg/config/validation (ValidateHTTPHeaderName and
// its relatives).

import type { Headers } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { headerValueProblem } from './header-value.ts';

const NAME = /^[-_A-Za-z0-9]+$/;
/** RFC 9110, token. */
const TOKEN = /^[-!#$%&'*+.^_`|~A-Za-z0-9]+$/;
const PSEUDO: readonly string[] = [':method', ':scheme', ':authority', ':path', ':status'];
const CLAIMS = '@request.auth.claims';

/** A header that a policy names: stricter than HTTP. */
export function checkHeaderName(name: string, path: string, report: Report): void {
  if (!NAME.test(name))
    report(path, `${quoted(name)} is not the name of a header: expected letters, digits, "-" and "_"`);
}

/** Any name that HTTP allows. */
export function checkHeaderToken(name: string, path: string, report: Report): void {
  if (!TOKEN.test(name)) report(path, `${quoted(name)} is not the name of a header`);
}

/** A header, pseudo-header or claim of a token that a route looks at. */
export function checkMatchedHeader(name: string, path: string, report: Report): void {
  if (!isClaim(name) && !PSEUDO.includes(name)) checkHeaderToken(name, path, report);
}

/** A claim of a token stands for a header: `@request.auth.claims.a.b` or `@request.auth.claims[a][b]`. */
export function isClaim(name: string): boolean {
  if (!name.toLowerCase().startsWith(CLAIMS)) return false;
  const rest = name.slice(CLAIMS.length);
  return /^\..|^\[.+\]$/s.test(rest);
}

/** The operations on request and response headers of a route or destination. */
export function checkHeaderOperations(headers: Headers | undefined, path: string, report: Report): void {
  for (const side of ['request', 'response'] as const) {
    const operations = headers?.[side];
    for (const kind of ['add', 'set'] as const) {
      for (const [name, value] of Object.entries(operations?.[kind] ?? {})) {
        const at = `${path}.${side}.${kind}[${name}]`;
        checkOperationName(name, side === 'request', at, report);
        const found = headerValueProblem(value);
        if (found !== undefined) report(at, found);
      }
    }
    (operations?.remove ?? []).forEach((name, i) => {
      checkOperationName(name, false, `${path}.${side}.remove[${i}]`, report);
    });
  }
}

function checkOperationName(name: string, authorityAllowed: boolean, path: string, report: Report): void {
  if (name === '') report(path, 'the name of the header is missing');
  else if (isAuthority(name)) {
    if (!authorityAllowed) report(path, `${quoted(name)} cannot be changed here`);
  } else if (name.startsWith(':')) report(path, `${quoted(name)}: headers that begin with ":" cannot be changed`);
}

/** The header with the requested host. */
export function isAuthority(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === ':authority' || lower === 'host';
}
