// Which route configurations, virtual hosts and routes a patch is for.
// Source: Istio pilot/pkg/networking/core/envoyfilter/rc_patch.go (routeConfigurationMatch, virtualHostMatch,
// routeMatch).

import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import { parseGatewayRouteName } from '../../../core/select/patch/gateway-ports.ts';
import type { Route, VirtualHost } from '../../proto/types.gen.ts';

/** `serverPorts`: of a gateway's configuration, the ports of its servers; undefined: of a sidecar's. */
export function isForConfiguration(
  { route: match }: EnvoyPatch,
  configuration: string,
  serverPorts: readonly number[] | undefined,
): boolean {
  if (match === undefined) return true;
  const { name = '', portNumber = 0, portName = '', gateway = '' } = match;
  if (name !== '' && name !== configuration) return false;
  if (serverPorts === undefined) return portNumber === 0 || portNumber === portOf(configuration);
  const parsed = parseGatewayRouteName(configuration);
  return (
    (portNumber === 0 || serverPorts.includes(portNumber)) &&
    (portName === '' || portName === parsed.portName) &&
    (gateway === '' || gateway === parsed.gateway)
  );
}

/** 0 for names that are neither a port nor of an inbound cluster. */
function portOf(name: string): number {
  if (name.startsWith('inbound')) return parseClusterName(name)?.port ?? 0;
  return /^[+-]?\d{1,9}$/.test(name) ? Number(name) : 0;
}

export function isForVirtualHost({ route: match }: EnvoyPatch, { name: own = '', domains = [] }: VirtualHost): boolean {
  const { name = '', domainName = '' } = match?.vhost ?? {};
  return (name === '' || name === own) && (domainName === '' || domains.includes(domainName));
}

/** undefined: the match names no route, which restricts nothing. */
export function routeOf({ route: match }: EnvoyPatch): ((route: Route) => boolean) | undefined {
  const wanted = match?.vhost?.route;
  if (wanted === undefined) return undefined;
  const { name = '', action = 'ANY' } = wanted;
  return route => {
    if (name !== '' && name !== route.name) return false;
    if (action === 'ANY') return true;
    if (route.route !== undefined) return action === 'ROUTE';
    if (route.redirect !== undefined) return action === 'REDIRECT';
    return route.directResponse === undefined || action === 'DIRECT_RESPONSE';
  };
}
