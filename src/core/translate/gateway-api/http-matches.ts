// Matches of HTTPRoute and GRPCRoute.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (createURIMatch, createGRPCURIMatch, createHeadersMatch).

import type { GRPCRouteRuleMatch, HeaderMatch, HTTPRouteRuleMatch } from '../../schema/gateway-api-types.gen.ts';
import type { HTTPMatchRequest, StringMatch } from '../../schema/istio-types.gen.ts';
import { type ConfigError, configError, INVALID_CONFIGURATION } from './config-error.ts';
import { withoutTrailingSlash } from './route-filters.ts';

export function httpMatch({ path, headers, queryParams, method }: HTTPRouteRuleMatch): HTTPMatchRequest {
  return {
    uri: pathMatch(path),
    ...(headers === undefined || headers.length === 0 ? {} : { headers: byName(headers) }),
    ...(queryParams === undefined || queryParams.length === 0 ? {} : { queryParams: byName(queryParams) }),
    ...(method === undefined ? {} : { method: { exact: method } }),
  };
}

function pathMatch({ type, value }: HTTPRouteRuleMatch['path']): StringMatch {
  switch (type) {
    case 'Exact':
      return { exact: value };
    case 'RegularExpression':
      return { regex: value };
    default:
      return { prefix: value === '/' ? value : withoutTrailingSlash(value) };
  }
}

/** Of a repeated name the last counts. */
function byName(matches: readonly HeaderMatch[]): Readonly<Record<string, StringMatch>> {
  return Object.fromEntries(
    matches.map(({ name, type, value }) => [name, type === 'RegularExpression' ? { regex: value } : { exact: value }]),
  );
}

export type GrpcMatch = { readonly match: HTTPMatchRequest } | { readonly error: ConfigError };

/** The path of a gRPC request is `/service/method`. */
export function grpcMatch({ method, headers }: GRPCRouteRuleMatch): GrpcMatch {
  const ofHeaders = headers === undefined || headers.length === 0 ? {} : { headers: byName(headers) };
  if (method === undefined) return { match: ofHeaders };
  if (method.method === undefined && method.service === undefined) {
    return { error: configError(INVALID_CONFIGURATION, 'gRPC match must have method or service defined') };
  }
  return { match: { uri: methodMatch(method.type, method.service, method.method), ...ofHeaders } };
}

function methodMatch(type: string, service: string | undefined, method: string | undefined): StringMatch {
  if (service === undefined) return { regex: `/[^/]+/${method}` };
  if (type === 'RegularExpression') return { regex: method === undefined ? `/${service}/.+` : `/${service}/${method}` };
  return method === undefined ? { prefix: `/${service}/` } : { exact: `/${service}/${method}` };
}
