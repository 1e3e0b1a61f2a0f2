// The part of a proxy's ProxyConfig.proxyHeaders that shows in routes: two booleans, so that proxies with other settings share routes.
// The ProxyConfig is the one the agent sent (metadata PROXY_CONFIG), else the mesh's default; they are not merged here.
// Source: Istio pilot/pkg/networking/core/httproute.go, GetProxyHeaders; spec-routes-visibility §2, §5.

import { isObject, type Json } from '../json.ts';
import type { Derivation } from '../reader.ts';

export type RouteHeaderOptions = {
  /** Requests carry x-envoy-attempt-count; off with attemptCount.disabled. */
  readonly attemptCount: boolean;
  /** xForwardedHost.enabled */
  readonly appendXForwardedHost: boolean;
};

export const routeHeaderOptions: Derivation<RouteHeaderOptions> = {
  name: 'select/routeHeaderOptions',
  run: reader => {
    const sent = reader.metadata('PROXY_CONFIG');
    const config: unknown = isObject(sent) ? sent : reader.mesh('defaultConfig');
    const headers = isObject(config) ? config.proxyHeaders : undefined;
    return {
      attemptCount: !isTrue(headers, 'attemptCount', 'disabled'),
      appendXForwardedHost: isTrue(headers, 'xForwardedHost', 'enabled'),
    };
  },
};

function isTrue(headers: Json | undefined, part: string, field: string): boolean {
  const value = isObject(headers) ? headers[part] : undefined;
  return isObject(value) && value[field] === true;
}
