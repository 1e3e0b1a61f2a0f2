// Shorter names that resolve to a host from where the proxy is, by the search path of its DNS domain.
// Source: Istio pilot/pkg/networking/core/httproute.go (GenerateAltVirtualHosts).

import { SERVICE_LABEL } from './domains.ts';

/** In Istio's order, which differs between the proxy's own namespace and others. */
export function shortForms(hostname: string, dnsDomain: string): readonly string[] {
  const at = dnsDomain.indexOf(SERVICE_LABEL);
  return at < 0
    ? ofPlainDomain(hostname, dnsDomain)
    : ofKubernetes(hostname, dnsDomain.slice(0, at), dnsDomain.slice(at));
}

/** `suffix` is what all services share, e.g. `.svc.cluster.local`. */
function ofKubernetes(hostname: string, ownNamespace: string, suffix: string): readonly string[] {
  if (!hostname.endsWith(suffix)) return [];
  const rest = hostname.slice(0, -suffix.length);
  const dot = rest.indexOf('.');
  if (dot < 0) return [];
  const service = rest.slice(0, dot);
  const namespace = rest.slice(dot + 1);
  if (namespace === ownNamespace) return [service, `${rest}.svc`, rest];
  return [rest, `${rest}.svc`];
}

/** Outside of Kubernetes: the part before the labels that host and proxy share. */
function ofPlainDomain(hostname: string, dnsDomain: string): readonly string[] {
  const host = hostname.split('.');
  const domain = dnsDomain.split('.');
  let shared = 0;
  while (shared < host.length && host.at(-1 - shared) === domain.at(-1 - shared)) shared++;
  if (shared === 0 || shared === host.length) return [];
  const unique = host.slice(0, host.length - shared);
  const short = unique.join('.');
  return unique.length === 2 ? [short, `${short}.${host[unique.length]}`] : [short];
}
