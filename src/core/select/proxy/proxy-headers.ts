// The part of a proxy's ProxyConfig.proxyHeaders that shows in routes: two booleans, so that proxies with other
// settings share routes.
// Source: Istio pilot/pkg/networking/util/proxy_headers.go (GetProxyHeaders).

import { isObject, type JsonObject } from '../../base/json.ts';
import type { Derivation } from '../../query/reader.ts';
import { proxyHeaders } from './proxy-config.ts';

export type RouteHeaderOptions = {
  /** Requests carry x-envoy-attempt-count; off with attemptCount.disabled. */
  readonly attemptCount: boolean;
  /** xForwardedHost.enabled */
  readonly appendXForwardedHost: boolean;
};

export const routeHeaderOptions: Derivation<RouteHeaderOptions> = {
  name: 'select/routeHeaderOptions',
  run: reader => {
    const headers = reader.derived(proxyHeaders);
    return {
      attemptCount: !isTrue(headers, 'attemptCount', 'disabled'),
      appendXForwardedHost: isTrue(headers, 'xForwardedHost', 'enabled'),
    };
  },
};

function isTrue(headers: JsonObject, part: string, field: string): boolean {
  const value = headers[part];
  return isObject(value) && value[field] === true;
}
