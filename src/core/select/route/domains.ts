// Inputs of the domains of a service for a proxy: the service's addresses, the proxy's DNS search path, and flags.
//
// The DNS domain is cut down to the part that the service's own names are relative to. The proxy's namespace therefore
// is an input for services of that namespace only, and all other namespaces share the claims of a service.
// Source: Istio pilot/pkg/networking/core/httproute.go (generateVirtualHostDomains, GenerateAltVirtualHosts).

import type { Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { type AddressView, addressView } from '../nametable/service-addresses.ts';
import { isProxyless } from '../proxy/proxyless.ts';

export const SERVICE_LABEL = '.svc.';

export interface DomainsInputs {
  readonly service: Service;
  readonly view: AddressView;
  /** 0: domains without ports, of a service cut to one port. Else each is followed by itself with this port. */
  readonly withPort: number;
  /** The service was cut to one port, and its addresses with it. */
  readonly frozen: boolean;
  /** DNS domain of the proxy, e.g. `default.svc.cluster.local`, as `relevantDomain` cuts it down. */
  readonly dnsDomain: string;
  /** Names with a trailing dot are served as well. */
  readonly absoluteNames: boolean;
}

export interface ClaimInputs extends DomainsInputs {
  readonly port: number;
}

export interface ClaimSelector {
  /** The client compares hosts with their ports: gRPC does, a proxy is told to ignore them. */
  readonly withPorts: boolean;
  readonly inputsOf: (service: Service, port: number) => ClaimInputs;
}

/** The inputs of the claim of a service and port; the facets of the proxy are read once for all services. */
export function claimSelector(reader: ProxyReader, buildPort: number): ClaimSelector {
  const view = reader.derived(addressView);
  const dnsDomain = reader.facet('dnsDomain');
  const absoluteNames = reader.feature('PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN');
  const withPorts = isProxyless(reader);
  const frozen = buildPort !== 0;
  const inputsOf = (service: Service, port: number): ClaimInputs => {
    const withPort = withPorts || !frozen ? port : 0;
    return { service, port, view, withPort, frozen, dnsDomain: relevantDomain(service, dnsDomain), absoluteNames };
  };
  return { withPorts, inputsOf };
}

/** The part of a proxy's DNS domain that the domains of the service depend on. */
export function relevantDomain(service: Service, dnsDomain: string): string {
  const at = dnsDomain.indexOf(SERVICE_LABEL);
  if (at <= 0) return dnsDomain;
  const isNear = (name: string): boolean => name.endsWith(dnsDomain) || name.includes('..');
  const near = isNear(service.hostname) || service.aliases.some(alias => isNear(alias.hostname));
  return near ? dnsDomain : dnsDomain.slice(at);
}
