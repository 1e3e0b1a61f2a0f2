// Addresses for ServiceEntries without any, where they are not allocated by a controller
// (PILOT_ENABLE_IP_AUTOALLOCATE=false): each host gets a place by a hash of its name, and the places in use are
// numbered. So an address depends on the other hosts only where places collide, or where an address that ends in 255 is
// passed over.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/auto_allocation.go.

import { fnv1a } from '../base/fnv.ts';
import { compareText } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';

const PLACES = 256 * 254;
/** Below the number of places; steps of the second hash are made with it. */
const PRIME = 65011;
/** No address ends in 255 (or 0, in the next block). */
const LAST_OCTET = 255;

export interface HashedAddresses {
  readonly v4: string;
  readonly v6: string;
}

/**
 * Argument `namespace/host`; undefined for what gets no address: wildcards, resolution NONE, entries with addresses.
 */
export const hashedAddresses: Query<string, HashedAddresses | undefined> = {
  name: 'registry/hashedAddresses',
  run: (reader, key) => reader.get(allocation, '').get(key),
};

const allocation: Query<'', ReadonlyMap<string, HashedAddresses>> = {
  name: 'registry/hashedAllocation',
  run: reader => {
    const places = new Map<number, string>();
    for (const key of eligibleHosts(reader)) {
      if (places.size >= PLACES) break;
      places.set(freePlace(key, places), key);
    }
    const found = new Map<string, HashedAddresses>();
    let skipped = 0;
    for (const [place, key] of [...places].sort(([a], [b]) => a - b)) {
      if ((place + 1 + skipped) % LAST_OCTET === 0) skipped++;
      if (!found.has(key)) found.set(key, addressesAt(place + 1 + skipped));
    }
    return found;
  },
};

/** By namespace and host (Istio: in store order). The order decides only between hosts that collide. */
function eligibleHosts(reader: Reader): readonly string[] {
  const keys: string[] = [];
  for (const entry of reader.objects('ServiceEntry')) {
    const { resolution = 'NONE', addresses = [], hosts = [] } = entry.spec;
    if (resolution === 'NONE' || addresses.length > 0) continue;
    for (const host of hosts) if (!host.startsWith('*')) keys.push(`${entry.namespace}/${host}`);
  }
  return keys.sort(compareText);
}

function freePlace(key: string, taken: ReadonlyMap<number, string>): number {
  const hash = fnv1a(key);
  const first = hash % PLACES;
  if (!taken.has(first)) return first;
  const step = PRIME - (hash % PRIME);
  // Sums wrap at 32 bits, as the places have to come out the same.
  for (let i = 1; i <= PLACES; i++) {
    const place = ((hash + Math.imul(i, step)) >>> 0) % (PLACES - 1);
    if (!taken.has(place)) return place;
  }
  return first;
}

function addressesAt(number: number): HashedAddresses {
  const third = Math.trunc(number / LAST_OCTET);
  const fourth = number % LAST_OCTET;
  const tail = third === 0 ? fourth.toString(16) : third.toString(16) + fourth.toString(16);
  return { v4: `240.240.${third}.${fourth}`, v6: `2001:2::f0f0:${tail}` };
}
