// Filters of HTTPRoute and GRPCRoute: headers, redirect, rewrite, mirror, CORS. Any other is an error that ends the
// conversion of the route.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (convertHTTPRoute, createRedirectFilter,
// createRewriteFilter, createMirrorFilter, createCorsFilter).

import type { Reader } from '../../query/reader.ts';
import type {
  CorsFilter,
  RequestMirror,
  RequestRedirect,
  RouteFilter,
  UrlRewrite,
} from '../../schema/gateway-api-types.gen.ts';
import type {
  CorsPolicy,
  HTTPMirrorPolicy,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
  StringMatch,
} from '../../schema/istio-types.gen.ts';
import { backendDestination, type RouteContext } from './backends.ts';
import { type ConfigError, configError, INVALID_FILTER, quoted } from './config-error.ts';
import { isHeaderFilter, withHeaderFilter } from './header-filters.ts';

export type FilteredParts = Pick<HTTPRoute, 'corsPolicy' | 'headers' | 'mirrors' | 'redirect' | 'rewrite'>;

export interface Filtered {
  readonly parts: FilteredParts;
  /** Of a mirror whose backend cannot be used: the mirror is left out. */
  readonly mirrorError: ConfigError | undefined;
  /** Hard. */
  readonly error: ConfigError | undefined;
}

export function applyFilters(reader: Reader, context: RouteContext, filters: readonly RouteFilter[]): Filtered {
  let parts: FilteredParts = {};
  let mirrorError: ConfigError | undefined;
  for (const filter of filters) {
    if (isHeaderFilter(filter)) {
      const { headers, error } = withHeaderFilter(parts.headers, filter);
      if (error !== undefined) return { parts, mirrorError, error };
      if (headers !== undefined) parts = { ...parts, headers };
    } else if (filter.type === 'RequestMirror') {
      const { mirror, error } = mirrorOf(reader, context, filter.requestMirror);
      if (mirror !== undefined) parts = { ...parts, mirrors: [...(parts.mirrors ?? []), mirror] };
      if (error !== undefined && context.kind === 'GRPCRoute') return { parts, mirrorError, error };
      mirrorError = error ?? mirrorError;
    } else {
      const part = context.kind === 'HTTPRoute' ? httpPart(filter) : undefined;
      if (part === undefined) return { parts, mirrorError, error: unsupported(filter.type) };
      parts = { ...parts, ...part };
    }
  }
  return { parts, mirrorError, error: undefined };
}

export function unsupported(type: string): ConfigError {
  return configError(INVALID_FILTER, `unsupported filter type ${quoted(type)}`);
}

function httpPart({ type, requestRedirect, urlRewrite, cors }: RouteFilter): FilteredParts | undefined {
  switch (type) {
    case 'RequestRedirect':
      return requestRedirect === undefined ? {} : { redirect: redirectOf(requestRedirect) };
    case 'URLRewrite': {
      const rewrite = urlRewrite === undefined ? undefined : rewriteOf(urlRewrite);
      return rewrite === undefined ? {} : { rewrite };
    }
    case 'CORS':
      return cors === undefined ? {} : { corsPolicy: corsOf(cors) };
    default:
      return undefined;
  }
}

function mirrorOf(
  reader: Reader,
  context: RouteContext,
  mirror: RequestMirror | undefined,
): { readonly mirror: HTTPMirrorPolicy | undefined; readonly error: ConfigError | undefined } {
  if (mirror === undefined) return { mirror: undefined, error: undefined };
  const { destination, error } = backendDestination(reader, context, mirror.backendRef);
  if (error !== undefined || destination === undefined) return { mirror: undefined, error };
  const { fraction, percent } = mirror;
  const value = fraction === undefined ? percent : (100 * fraction.numerator) / fraction.denominator;
  return { mirror: { destination, ...(value === undefined ? {} : { percentage: { value } }) }, error: undefined };
}

/** The replaced prefix is a token that only routes of the Gateway API know. */
const PREFIX_TOKEN = '%PREFIX()%';

function redirectOf({ statusCode, hostname, scheme, port, path }: RequestRedirect): HTTPRedirect {
  const derived = scheme === undefined ? 'FROM_REQUEST_PORT' : 'FROM_PROTOCOL_DEFAULT';
  const uri =
    path?.type === 'ReplaceFullPath'
      ? path.replaceFullPath
      : path?.replacePrefixMatch === undefined
        ? undefined
        : `${PREFIX_TOKEN}${path.replacePrefixMatch}`;
  return {
    redirectCode: statusCode,
    ...(hostname === undefined ? {} : { authority: hostname }),
    ...(scheme === undefined ? {} : { scheme }),
    ...(port === undefined ? { derivePort: derived } : { port }),
    ...(uri === undefined ? {} : { uri }),
  };
}

function rewriteOf({ hostname, path }: UrlRewrite): HTTPRewrite | undefined {
  const changed: HTTPRewrite =
    path === undefined
      ? {}
      : path.type === 'ReplacePrefixMatch'
        ? { uri: withoutTrailingSlash(path.replacePrefixMatch ?? '') || '/' }
        : { uriRegexRewrite: { match: '/.*', rewrite: path.replaceFullPath ?? '' } };
  const rewrite = { ...changed, ...(hostname === undefined ? {} : { authority: hostname }) };
  return Object.keys(rewrite).length === 0 ? undefined : rewrite;
}

export function withoutTrailingSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Any origin, in the form of RFC 6454: scheme, host, port. */
const ANY_ORIGIN = '^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\\s?#]+$';

function corsOf(cors: CorsFilter): CorsPolicy {
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAge } = cors;
  const origins = (allowOrigins ?? []).filter(origin => origin !== '').map(originMatch);
  return {
    ...(origins.length === 0 ? {} : { allowOrigins: origins }),
    ...(allowCredentials === true ? { allowCredentials } : {}),
    ...(allowMethods === undefined ? {} : { allowMethods }),
    ...(allowHeaders === undefined ? {} : { allowHeaders }),
    ...(exposeHeaders === undefined ? {} : { exposeHeaders }),
    ...(maxAge > 0 ? { maxAge: { seconds: maxAge, nanos: 0 } } : {}),
    unmatchedPreflights: 'IGNORE',
  };
}

function originMatch(origin: string): StringMatch {
  if (origin === '*') return { regex: ANY_ORIGIN };
  const stars = origin.split('*').length - 1;
  if (stars === 0) return { exact: origin };
  if (stars === 1 && origin.endsWith('*')) return { prefix: origin.slice(0, -1) };
  return { regex: `^${origin.split('*').map(quotedPattern).join('.*')}$` };
}

/** As Go's regexp.QuoteMeta writes a literal. */
function quotedPattern(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
