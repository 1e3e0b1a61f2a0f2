// Removes duplicate domains and names: Envoy refuses a route configuration in which one appears twice. The first in
// order keeps it. Routes are no input, so a change of routes alone does not run this.
// Source: Istio pilot/pkg/networking/core/httproute.go (dedupeDomains).

import { type Problem, problem } from '../../../core/base/problem.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Claim } from './domains.ts';

/** The domains that a host keeps, at least one. */
export interface Kept {
  readonly claim: Claim;
  /** Of the claim, in the order given. */
  readonly place: number;
  readonly domains: readonly string[];
}

export interface Deduplicated {
  /** By name, which is unique. */
  readonly kept: readonly Kept[];
  readonly problems: readonly Problem[];
}

export const withoutDuplicates: Generator<{ readonly claims: readonly Claim[] }, Deduplicated> = {
  name: 'route/withoutDuplicates',
  run: ({ claims }) => sorted(firstOfEach(claims)),
};

/** The first claim of each name, in the order of the claims. */
export interface FirstClaims {
  /** undefined: it keeps no domain. */
  readonly byName: ReadonlyMap<string, Kept | undefined>;
  readonly problems: readonly Problem[];
}

/** The two halves of `withoutDuplicates`, for lists of which each half is long work. */
export const firstClaims: Generator<{ readonly claims: readonly Claim[] }, FirstClaims> = {
  name: 'route/firstClaims',
  run: ({ claims }) => firstOfEach(claims),
  work: (_, { claims }) => claims.length / CLAIMS_PER_WORK_UNIT,
};

export const sortedClaims: Generator<{ readonly first: FirstClaims }, Deduplicated> = {
  name: 'route/sortedClaims',
  run: ({ first }) => sorted(first),
  work: ({ kept }) => kept.length / CLAIMS_PER_WORK_UNIT,
};

/** Claims of which one takes about as long as a hundredth of a run of a query. */
const CLAIMS_PER_WORK_UNIT = 100;

function firstOfEach(claims: readonly Claim[]): FirstClaims {
  const known = claims.some(({ derived }) => derived.length > 0) ? namesOfServices(claims) : noNames;
  const taken = new Set<string>();
  const byName = new Map<string, Kept | undefined>();
  const problems: Problem[] = [];
  for (let place = 0; place < claims.length; place++) {
    const claim = claims[place]!;
    if (byName.has(claim.name)) {
      problems.push(problem(claim.name, 'several VirtualServices have this host; only the first one applies'));
      continue;
    }
    const domains = domainsLeft(claim, known, taken);
    const isKept = domains.length > 0;
    byName.set(claim.name, isKept ? { claim, place, domains } : undefined);
    if (!isKept) problems.push(problem(claim.name, 'all domains of this host belong to other hosts already'));
  }
  return { byName, problems };
}

/** Texts are sorted rather than claims, which takes half as long. */
function sorted({ byName, problems }: FirstClaims): Deduplicated {
  const names = [...byName.keys()].sort(compareText);
  return { kept: names.map(name => byName.get(name)).filter(one => one !== undefined), problems };
}

/** The domains of the claim that are still free, now taken; the claim's own list if all are free. */
function domainsLeft({ domains, derived }: Claim, known: ReadonlySet<string>, taken: Set<string>): readonly string[] {
  let left: string[] | undefined;
  for (let i = 0; i < domains.length; i++) {
    const domain = domains[i]!;
    const key = domain.toLowerCase();
    if (taken.has(key) || (known.has(domain) && derived.includes(domain))) {
      left ??= domains.slice(0, i);
      continue;
    }
    taken.add(key);
    left?.push(domain);
  }
  return left ?? domains;
}

const noNames: ReadonlySet<string> = new Set();

/**
 * Full names, with and without port: a domain that was made up from another name gives way to a service of exactly that
 * name.
 */
function namesOfServices(claims: readonly Claim[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { hostname, name } of claims) if (hostname !== undefined) names.add(hostname).add(name);
  return names;
}
