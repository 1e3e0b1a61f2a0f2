// The domains under which a sidecar's clients name a service: its hostname and aliases, the short forms that DNS search
// paths allow from where the proxy is, and its addresses.
// Source: Istio pilot/pkg/networking/core/httproute.go (generateVirtualHostDomains, GenerateAltVirtualHosts).

import { isIp, isIpv6 } from '../../../core/base/ip.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { allAddresses, frozenAddresses, NO_ADDRESS } from '../../../core/select/nametable/service-addresses.ts';
import type { ClaimInputs, DomainsInputs } from '../../../core/select/route/domains.ts';
import { shortForms } from '../../../core/select/route/short-forms.ts';

export interface Domains {
  /** In order; may contain repeats. */
  readonly domains: readonly string[];
  /** Those of them that were made up from a name: they give way to a service that is really called so. */
  readonly derived: readonly string[];
}

/** Candidate domains of a virtual host; earlier virtual hosts keep theirs. */
export interface Claim extends Domains {
  /** `<host>:<port>` */
  readonly name: string;
  readonly port: number;
  /** Of a service; undefined: a host that is none. */
  readonly hostname: string | undefined;
}

/** Of a host of a VirtualService that is no service. */
export const hostClaim: Generator<{ readonly host: string; readonly port: number }, Claim> = {
  name: 'route/hostClaim',
  run: ({ host, port }) => claimOf(host, port),
};

/** Of many such hosts, in order. */
export const hostClaims: Generator<{ readonly hosts: readonly string[]; readonly port: number }, readonly Claim[]> = {
  name: 'route/hostClaims',
  run: ({ hosts, port }) => hosts.map(host => claimOf(host, port)),
  work: (_, { hosts }) => hosts.length / CLAIMS_PER_WORK_UNIT,
};

/** Claims of hosts that are made in about the time of one run of a query. */
const CLAIMS_PER_WORK_UNIT = 32;

function claimOf(host: string, port: number): Claim {
  const domain = asDomain(host.toLowerCase());
  return { name: `${domain}:${port}`, port, domains: [domain], derived: [], hostname: undefined };
}

/** For a client that compares hosts with their ports. */
export const portedClaim: Generator<{ readonly claim: Claim }, Claim> = {
  name: 'route/portedClaim',
  run: ({ claim }) => ({ ...claim, domains: [...claim.domains, claim.name] }),
};

export const serviceClaim: Generator<ClaimInputs, Claim> = {
  name: 'route/serviceClaim',
  run: inputs => {
    const { service, port } = inputs;
    const { hostname } = service;
    const { domains, derived } = domainsOf(inputs);
    return { name: `${asDomain(hostname)}:${port}`, port, domains, derived, hostname };
  },
};

export function domainsOf(inputs: DomainsInputs): Domains {
  const domains: string[] = [];
  const derived: string[] = [];
  const { service, view } = inputs;
  addName(domains, derived, service.hostname, inputs);
  for (const { hostname } of service.aliases) addName(domains, derived, hostname, inputs);
  // Names of pods below a headless service are served as well.
  const headless = service.resolution === 'Passthrough' && service.registry === 'Kubernetes';
  if (headless) for (const domain of [...domains]) domains.push(`*.${domain}`);
  for (const address of inputs.frozen ? frozenAddresses(service, view) : allAddresses(service, view)) {
    if (address !== '' && address !== NO_ADDRESS) addWithPort(domains, address, inputs.withPort);
  }
  return { domains, derived };
}

function addName(domains: string[], derived: string[], name: string, inputs: DomainsInputs): void {
  addWithPort(domains, name, inputs.withPort);
  const before = derived.length;
  addAlternates(derived, name, inputs);
  for (let i = before; i < derived.length; i++) domains.push(derived[i]!);
}

/** A host as a domain: an IPv6 address is put in brackets, as in a Host header. */
export function asDomain(host: string): string {
  return isIpv6(host) ? `[${host}]` : host;
}

function addWithPort(domains: string[], host: string, port: number): void {
  const domain = asDomain(host);
  domains.push(domain);
  if (port !== 0) domains.push(`${domain}:${port}`);
}

function addAlternates(alternates: string[], name: string, inputs: DomainsInputs): void {
  if (inputs.absoluteNames) {
    // An address has no absolute form, but Istio writes the one with a port; nothing matches it.
    if (!isIp(name)) alternates.push(`${name}.`);
    if (inputs.withPort !== 0) alternates.push(`${name}.:${inputs.withPort}`);
  }
  for (const short of shortForms(name, inputs.dnsDomain)) addWithPort(alternates, short, inputs.withPort);
}
