// Names of HTTP headers in matches and in operations. Source: Istio pkg/config/validation (ValidateHTTPHeaderName and its relatives).

import type { Headers } from '../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../report.ts';

const NAME = /^[-_A-Za-z0-9]+$/;
const CLAIM = /^@request\.auth\.claims(\.[^.]+)+$|^@request\.auth\.claims(\[[^[\]]+\])+$/;

/** A header that can be looked at; `claims`: a claim of a token can stand for it. */
export function checkHeaderName(name: string, path: string, report: Report, claims = false): void {
  if (NAME.test(name) || (claims && CLAIM.test(name))) return;
  report(path, `${quoted(name)} is not the name of a header: expected letters, digits, "-" and "_"`);
}

/** The operations on request and response headers of a route or destination. */
export function checkHeaderOperations(headers: Headers | undefined, path: string, report: Report): void {
  for (const side of ['request', 'response'] as const) {
    const operations = headers?.[side];
    for (const kind of ['add', 'set'] as const) {
      for (const name of Object.keys(operations?.[kind] ?? {})) {
        checkOperationName(name, side === 'request', `${path}.${side}.${kind}[${name}]`, report);
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
  else if (!NAME.test(name)) report(path, `${quoted(name)} is not the name of a header`);
}

/** The header that says which host is asked for. */
export function isAuthority(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === ':authority' || lower === 'host';
}
