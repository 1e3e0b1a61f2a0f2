// Removes duplicate domains and names: Envoy refuses a route configuration in which one appears twice. The first in
// order keeps it. Routes are no input, so a change of routes alone does not run this.
// Source: Istio pilot/pkg/networking/core/httproute.go (dedupeDomains).

import { joined } from '../../../core/base/groups.ts';
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
  run: ({ claims }) => claimBlock.run({ claims, from: 0, services: serviceNames.run({ claims }), before: [] }),
};

/** What consecutive claims of many keep beside those before them. */
export interface ClaimBlock extends Deduplicated {
  readonly names: ReadonlySet<string>;
  /** Domains, in small letters. */
  readonly taken: ReadonlySet<string>;
}

export interface ClaimBlockInputs {
  readonly claims: readonly Claim[];
  /** Place of the first. */
  readonly from: number;
  /** Of all claims (`serviceNames`). */
  readonly services: ReadonlySet<string>;
  /** The blocks before it. */
  readonly before: readonly ClaimBlock[];
}

export const claimBlock: Generator<ClaimBlockInputs, ClaimBlock> = {
  name: 'route/claimBlock',
  run: ({ claims, from, services, before }) => {
    const names = new Set<string>();
    const taken = new Set<string>();
    const byName = new Map<string, Kept>();
    const problems: Problem[] = [];
    const isTaken = (key: string): boolean => taken.has(key) || before.some(block => block.taken.has(key));
    for (let i = 0; i < claims.length; i++) {
      const claim = claims[i]!;
      const { name } = claim;
      if (names.has(name) || before.some(block => block.names.has(name))) {
        problems.push(problem(name, 'several VirtualServices have this host; only the first one applies'));
        continue;
      }
      names.add(name);
      const domains = domainsLeft(claim, services, taken, isTaken);
      if (domains.length > 0) byName.set(name, { claim, place: from + i, domains });
      else problems.push(problem(name, 'all domains of this host belong to other hosts already'));
    }
    // Texts are sorted rather than claims, which takes half as long.
    const kept = [...byName.keys()].sort(compareText).map(name => byName.get(name)!);
    return { names, taken, kept, problems };
  },
  work: (_, { claims }) => claims.length / CLAIMS_PER_WORK_UNIT,
};

/** Claims that are gone through in about the time of one run of a query. */
const CLAIMS_PER_WORK_UNIT = 32;

/** The blocks of all claims. */
export const mergedClaims: Generator<{ readonly blocks: readonly ClaimBlock[] }, Deduplicated> = {
  name: 'route/mergedClaims',
  run: ({ blocks }) => ({
    kept: mergedByName(blocks.map(({ kept }) => kept)),
    problems: joined(blocks.map(({ problems }) => problems)),
  }),
  work: ({ kept }) => kept.length / MERGED_PER_WORK_UNIT,
};

/** Claims that are merged in about the time of one run of a query. */
const MERGED_PER_WORK_UNIT = 100;

function mergedByName(lists: readonly (readonly Kept[])[]): readonly Kept[] {
  if (lists.length <= 1) return lists[0] ?? [];
  const middle = lists.length >> 1;
  const [left, right] = [mergedByName(lists.slice(0, middle)), mergedByName(lists.slice(middle))];
  const merged: Kept[] = [];
  let next = 0;
  for (const one of left) {
    while (next < right.length && compareText(right[next]!.claim.name, one.claim.name) < 0) merged.push(right[next++]!);
    merged.push(one);
  }
  while (next < right.length) merged.push(right[next++]!);
  return merged;
}

/** The domains of the claim that are still free, now taken; the claim's own list if all are free. */
function domainsLeft(
  { domains, derived }: Claim,
  known: ReadonlySet<string>,
  taken: Set<string>,
  isTaken: (key: string) => boolean,
): readonly string[] {
  let left: string[] | undefined;
  for (let i = 0; i < domains.length; i++) {
    const domain = domains[i]!;
    const key = domain.toLowerCase();
    if (isTaken(key) || (known.has(domain) && derived.includes(domain))) {
      left ??= domains.slice(0, i);
      continue;
    }
    taken.add(key);
    left?.push(domain);
  }
  return left ?? domains;
}

/**
 * Full names, with and without port: a domain that was made up from another name gives way to a service of exactly that
 * name. None if no domain was made up.
 */
export const serviceNames: Generator<{ readonly claims: readonly Claim[] }, ReadonlySet<string>> = {
  name: 'route/serviceNames',
  run: ({ claims }) => {
    if (!claims.some(({ derived }) => derived.length > 0)) return noNames;
    const names = new Set<string>();
    for (const { hostname, name } of claims) if (hostname !== undefined) names.add(hostname).add(name);
    return names;
  },
  work: ({ size }) => size / MERGED_PER_WORK_UNIT,
};

const noNames: ReadonlySet<string> = new Set();
