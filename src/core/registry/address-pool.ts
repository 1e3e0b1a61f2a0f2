// The addresses of one prefix that can be allocated to hosts: a host gets the place that a hash of its name gives, or
// the next free place after it. So the address of a host depends on other hosts only if their hashes give one place,
// and control planes without a common log allocate equal addresses. What is allocated is the place; the text of its
// address takes far longer to make, and need not be made in the order of the hosts.
//
// Places are numbered from 1, since the network's own address is never allocated. Of a prefix with more than 32 free
// bits only the last 32 are used.

import ipaddr from 'ipaddr.js';
import { isCidr, isIp, isIpv4 } from '../base/ip.ts';

const PLACE_BITS_MAX = 32;
const BYTE_BITS = 8;
const IPV4_BYTES = 4;

/** `text`: a prefix of the family; undefined if it is none. */
export function isPrefixOf(family: 4 | 6, text: string): boolean {
  return isCidr(text) && isIpv4(text.slice(0, text.indexOf('/'))) === (family === 4);
}

/**
 * One text for all spellings of an address; an IPv4 address that is mapped into IPv6 is an IPv4 address. Undefined for
 * one with a zone, which lies in no prefix (Go's net/netip, Prefix.Contains).
 */
export function canonicalAddress(text: string): string | undefined {
  return isIp(text) && !text.includes('%') ? ipaddr.process(text).toString() : undefined;
}

/** The places of a prefix. */
export class AddressPrefix {
  readonly #network: readonly number[];
  readonly #prefix: [ipaddr.IPv4 | ipaddr.IPv6, number];
  /** The highest place. */
  readonly last: number;

  /** `prefix` must be a prefix of an IP family. */
  constructor(prefix: string) {
    this.#prefix = ipaddr.parseCIDR(prefix);
    const [base, length] = this.#prefix;
    const bytes = base.toByteArray();
    this.#network = bytes.map((byte, i) => {
      const kept = Math.min(BYTE_BITS, Math.max(0, length - i * BYTE_BITS));
      return byte - (byte % 2 ** (BYTE_BITS - kept));
    });
    this.last = 2 ** Math.min(PLACE_BITS_MAX, bytes.length * BYTE_BITS - length) - 1;
  }

  /** `address`: canonical. */
  contains(address: string): boolean {
    const parsed = ipaddr.parse(address);
    const [base, length] = this.#prefix;
    // Two calls for the sake of the types: a comparison is within one family.
    if (parsed instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && parsed.match(base, length);
    return base instanceof ipaddr.IPv6 && parsed.match(base, length);
  }

  /** An address beyond the last 32 bits has the place of another one, which is then passed over. */
  placeOf(address: string): number {
    const bytes = ipaddr.parse(address).toByteArray().slice(-4);
    return bytes.reduce((sum, byte) => sum * 2 ** BYTE_BITS + byte, 0) % (this.last + 1);
  }

  addressAt(place: number): string {
    const bytes = [...this.#network];
    let rest = place;
    for (let i = bytes.length - 1; rest > 0; i--) {
      bytes[i]! += rest % 2 ** BYTE_BITS;
      rest = Math.trunc(rest / 2 ** BYTE_BITS);
    }
    return bytes.length === IPV4_BYTES ? bytes.join('.') : ipaddr.fromByteArray(bytes).toString();
  }
}

export class AddressPool {
  readonly prefix: AddressPrefix;
  /** A taken place → one behind it, before which none is free. */
  readonly #taken = new Map<number, number>();

  constructor(prefix: AddressPrefix) {
    this.prefix = prefix;
  }

  /** `address`: canonical. */
  take(address: string): void {
    if (this.prefix.contains(address)) this.#takePlace(this.prefix.placeOf(address));
  }

  /** Takes a free place for a host; undefined if every place is taken. `hash`: 32 bits. */
  next(hash: number): number | undefined {
    const { last } = this.prefix;
    if (this.#taken.size >= last) return undefined;
    const place = this.#freeFrom((hash % last) + 1);
    this.#takePlace(place);
    return place;
  }

  #takePlace(place: number): void {
    if (!this.#taken.has(place)) this.#taken.set(place, place === this.prefix.last ? 1 : place + 1);
  }

  /** The first free place from `start` on, of which there is one. The places passed over lead to it from now on. */
  #freeFrom(start: number): number {
    let free = start;
    for (let next = this.#taken.get(free); next !== undefined; next = this.#taken.get(free)) free = next;
    for (let place = start; place !== free; ) {
      const next = this.#taken.get(place)!;
      this.#taken.set(place, free);
      place = next;
    }
    return free;
  }
}
