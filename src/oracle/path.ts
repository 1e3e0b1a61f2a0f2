// Paths of HTTP requests: the connection manager's normalization before routing, and the parts that routes match.

import {
  HttpConnectionManager_PathWithEscapedSlashesAction as EscapedSlashes,
  type HttpConnectionManager,
} from '../xds/proto/types.gen.ts';

export interface SplitPath {
  readonly path: string;
  /** With the question mark; '' if there is none. */
  readonly query: string;
}

/** Routes match the path without query and fragment. */
export function splitPath(full: string): SplitPath {
  const fragment = full.indexOf('#');
  const text = fragment === -1 ? full : full.slice(0, fragment);
  const query = text.indexOf('?');
  return query === -1 ? { path: text, query: '' } : { path: text.slice(0, query), query: text.slice(query) };
}

/** The value of a query parameter, the first if there are several; undefined if it is not there. */
export function queryParameter(query: string, name: string): string | undefined {
  for (const part of query.slice(1).split('&')) {
    const equals = part.indexOf('=');
    const key = equals === -1 ? part : part.slice(0, equals);
    if (key === name && part !== '') return equals === -1 ? '' : part.slice(equals + 1);
  }
  return undefined;
}

/** The path as routes see it, or the status with which the request ends before routing. */
export function cleanPath(hcm: HttpConnectionManager, full: string): string | { readonly status: number } {
  // Envoy's envoy.reloadable_features.http_reject_path_with_fragment, on by default.
  if (full.includes('#')) return { status: 400 };
  let { path } = splitPath(full);
  const { query } = splitPath(full);
  const escaped = hcm.pathWithEscapedSlashesAction ?? EscapedSlashes.IMPLEMENTATION_SPECIFIC_DEFAULT;
  if (/%2f|%5c/i.test(path)) {
    if (escaped === EscapedSlashes.REJECT_REQUEST) return { status: 400 };
    if (escaped === EscapedSlashes.UNESCAPE_AND_REDIRECT) return { status: 307 };
    if (escaped === EscapedSlashes.UNESCAPE_AND_FORWARD) path = path.replace(/%2f/gi, '/').replace(/%5c/gi, '\\');
  }
  if (hcm.normalizePath?.value === true) {
    const normal = normalize(path);
    if (normal === undefined) return { status: 400 };
    path = normal;
  }
  if (hcm.mergeSlashes === true) path = path.replace(/\/{2,}/g, '/');
  return `${path}${query}`;
}

/**
 * RFC 3986: unreserved characters are not escaped, dot segments are resolved, a backslash is a slash. Undefined: no
 * absolute path.
 */
function normalize(path: string): string | undefined {
  if (!path.startsWith('/')) return undefined;
  const plain = path
    .replace(/%([0-9a-f]{2})/gi, (whole, code: string) => {
      const character = String.fromCharCode(Number.parseInt(code, 16));
      return /[A-Za-z0-9\-._~]/.test(character) ? character : whole;
    })
    .replace(/\\/g, '/');
  const segments = plain.slice(1).split('/');
  const out: string[] = [];
  segments.forEach((segment, i) => {
    const last = i === segments.length - 1;
    if (segment === '..') out.pop();
    if (segment !== '..' && segment !== '.') out.push(segment);
    else if (last) out.push('');
  });
  return `/${out.join('/')}`;
}
