// Envoy refuses a route configuration in which a domain or the name of a virtual host appears twice. The first in order keeps it.
// Source: Istio pilot/pkg/networking/core/httproute.go (dedupeDomains); spec-routes-visibility §4.

import { type Problem, problem } from '../../../core/problem.ts';

export interface HostCandidate {
  /** `<host>:<port>` */
  readonly name: string;
  readonly domains: readonly string[];
  /** Domains that give way to a service of exactly that name. */
  readonly derived: readonly string[];
}

export interface Deduplicated<C> {
  /** Each with the domains that it keeps, at least one. */
  readonly kept: readonly { readonly candidate: C; readonly domains: readonly string[] }[];
  readonly problems: readonly Problem[];
}

/** `knownNames`: full names of services, with and without port. */
export function withoutDuplicates<C extends HostCandidate>(
  candidates: readonly C[],
  knownNames: ReadonlySet<string>,
): Deduplicated<C> {
  const names = new Set<string>();
  const taken = new Set<string>();
  const kept: { candidate: C; domains: readonly string[] }[] = [];
  const problems: Problem[] = [];
  for (const candidate of candidates) {
    if (names.has(candidate.name)) {
      problems.push(problem(candidate.name, 'several VirtualServices have this host; only the first one applies'));
      continue;
    }
    names.add(candidate.name);
    const derived = new Set(candidate.derived);
    const domains: string[] = [];
    for (const domain of candidate.domains) {
      const key = domain.toLowerCase();
      if (taken.has(key) || (derived.has(domain) && knownNames.has(domain))) continue;
      taken.add(key);
      domains.push(domain);
    }
    if (domains.length > 0) kept.push({ candidate, domains });
    else problems.push(problem(candidate.name, 'all domains of this host belong to other hosts already'));
  }
  return { kept, problems };
}
