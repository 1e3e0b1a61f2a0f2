// Addresses for the hosts of ServiceEntries that have none, so that TCP connections to two of them can be told apart
// (PILOT_ENABLE_IP_AUTOALLOCATE). In a cluster the status has them: one control plane writes it
// (core/wishes/entry-addresses.ts), and all read it. An object without a uid was never stored by an API server, so no
// controller writes its status: the addresses that would be written are used at once.
//
// Invariant: a pure function of the ServiceEntries. A recorded address stays with its host; of two owners of one the
// older keeps it, and an address in a spec beats both. New addresses go to hosts in order of age.
// Source: Istio pilot/pkg/controllers/ipallocate/ipallocate.go, pilot/pkg/networking/serviceentry/ip_autoallocation.go.

import { fnv1a } from '../base/fnv.ts';
import { isIp } from '../base/ip.ts';
import type { FeatureName } from '../mesh/features.ts';
import { isWildcard } from '../model/hosts.ts';
import { byAge, configKey, type Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import { AddressPool, AddressPrefix, canonicalAddress, isPrefixOf } from './address-pool.ts';

const AUTO_ALLOCATE_LABEL = 'networking.istio.io/enable-autoallocate-ip';

export interface HostAddress {
  readonly value: string;
  readonly host: string;
}

/** A place in the prefix of that number. */
interface HostPlace {
  readonly host: string;
  readonly prefix: number;
  readonly place: number;
}

/** Flag → the IP family of its prefix. */
export const prefixFlags = {
  PILOT_IP_AUTOALLOCATE_IPV4_PREFIX: 4,
  PILOT_IP_AUTOALLOCATE_IPV6_PREFIX: 6,
} as const satisfies { readonly [F in FeatureName]?: 4 | 6 };

/** True if the hosts of the entry are given addresses. */
export function isAutoAllocated({ spec, labels }: Obj<'ServiceEntry'>): boolean {
  if ((spec.resolution ?? 'NONE') === 'NONE' || (spec.addresses ?? []).length > 0) return false;
  return labels[AUTO_ALLOCATE_LABEL]?.toLowerCase() !== 'false';
}

/** The addresses that generation uses. */
export function addressesInForce(reader: Reader, entry: Obj<'ServiceEntry'>): readonly HostAddress[] {
  if (!isAutoAllocated(entry)) return [];
  if (entry.uid !== '') return recorded(entry);
  return reader.get(allocatedAddresses, configKey(entry.namespace, entry.name));
}

/**
 * Argument `namespace/name` of a ServiceEntry: the addresses allocated to it, by host in the order of its spec; of each
 * host IPv4 before IPv6. Empty: none.
 */
export const allocatedAddresses: Query<string, readonly HostAddress[]> = {
  name: 'registry/allocatedAddresses',
  run: (reader, key) => {
    const allocated = reader.get(addressAllocation, '').get(key) ?? [];
    if (allocated.length === 0) return [];
    const prefixes = reader.get(addressPrefixes, '');
    return allocated.map(one =>
      'value' in one ? one : { value: prefixes[one.prefix]!.addressAt(one.place), host: one.host },
    );
  },
};

/** The addresses in the status, as written there. */
export function recordedAddresses({ spec }: Obj<'ServiceEntry'>): readonly HostAddress[] {
  return (spec.status?.addresses ?? []).map(({ value = '', host = '' }) => ({ value, host }));
}

function recorded(entry: Obj<'ServiceEntry'>): readonly HostAddress[] {
  return recordedAddresses(entry).filter(({ value }) => isIp(value));
}

/** A flag that holds no prefix gives no addresses of its family; a server refuses to start with it. */
const addressPrefixes: Query<'', readonly AddressPrefix[]> = {
  name: 'registry/addressPrefixes',
  run: reader =>
    (Object.keys(prefixFlags) as (keyof typeof prefixFlags)[]).flatMap(flag => {
      const prefix = reader.feature(flag);
      return isPrefixOf(prefixFlags[flag], prefix) ? [new AddressPrefix(prefix)] : [];
    }),
};

/** By `namespace/name`: recorded addresses, and places of hosts that have none. Made of all ServiceEntries. */
export const addressAllocation: Query<'', ReadonlyMap<string, readonly (HostAddress | HostPlace)[]>> = {
  name: 'registry/addressAllocation',
  run: reader => {
    const entries = [...reader.objects('ServiceEntry')].sort(byAge);
    const pools = reader.get(addressPrefixes, '').map(prefix => new AddressPool(prefix));
    const owners = new Map<string, Obj>();
    const inPool = (address: string): boolean => pools.some(({ prefix }) => prefix.contains(address));
    const take = (address: string, owner: Obj): void => {
      owners.set(address, owner);
      for (const pool of pools) pool.take(address);
    };
    for (const entry of entries) for (const address of canonical(entry.spec.addresses)) take(address, entry);
    const eligible = entries.filter(isAutoAllocated);
    const kept = new Map<Obj, readonly HostAddress[]>();
    for (const entry of eligible) {
      const found = recorded(entry);
      const values = canonical(found.map(({ value }) => value));
      if (values.some(value => inPool(value) && (owners.get(value) ?? entry) !== entry)) continue;
      for (const value of values) take(value, entry);
      kept.set(entry, found);
    }
    const result = new Map<string, readonly (HostAddress | HostPlace)[]>();
    for (const entry of eligible) {
      result.set(configKey(entry.namespace, entry.name), completed(entry, kept.get(entry) ?? [], pools));
    }
    return result;
  },
};

/** The status is kept if it is for the right hosts; else new hosts are added and other hosts removed. */
function completed(
  entry: Obj<'ServiceEntry'>,
  known: readonly HostAddress[],
  pools: readonly AddressPool[],
): readonly (HostAddress | HostPlace)[] {
  const hosts = addressedHosts(entry);
  const knownHosts = new Set(known.map(({ host }) => host));
  if (knownHosts.size === hosts.length && hosts.every(host => knownHosts.has(host))) return known;
  return hosts.flatMap((host): readonly (HostAddress | HostPlace)[] => {
    if (knownHosts.has(host)) return known.filter(address => address.host === host);
    const hash = fnv1a(`${entry.namespace}/${host}`);
    return pools.flatMap((pool, prefix) => {
      const place = pool.next(hash);
      return place === undefined ? [] : [{ host, prefix, place }];
    });
  });
}

/** A wildcard is no name to resolve, except where each name below it is resolved when it is asked for. */
function addressedHosts({ spec: { hosts = [], resolution } }: Obj<'ServiceEntry'>): readonly string[] {
  return [...new Set(hosts)].filter(host => !isWildcard(host) || resolution === 'DYNAMIC_DNS');
}

function canonical(addresses: readonly string[] = []): readonly string[] {
  return addresses.flatMap(address => canonicalAddress(address) ?? []);
}
