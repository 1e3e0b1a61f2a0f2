// One DNS query: all A and AAAA records of a name from the servers of resolv.conf. As in istiod
// (pilot/pkg/model/network.go), names are absolute (no search domains) and the hosts file is not read.

import { promises as dns, type RecordWithTtl } from 'node:dns';
import { ADDRESSES_MAX, QUERY_MS_MAX, QUERY_TRIES, TTL_MS_MAX, TTL_MS_MIN } from './limits.ts';

export type DnsAnswer =
  /** Sorted, without duplicates; empty: the name has no address. `ttlMs`: time to live, within the limits. */
  | { readonly addresses: readonly string[]; readonly ttlMs: number }
  /** No server answered. */
  | { readonly failed: string };

/** Never rejects. */
export type Resolve = (name: string) => Promise<DnsAnswer>;

type Records = readonly RecordWithTtl[];

/** `servers`: addresses with ports; default: those of resolv.conf. */
export function dnsResolver(servers?: readonly string[]): Resolve {
  const resolver = new dns.Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return async name =>
    answerOf(
      await Promise.all([
        recordsOf(resolver.resolve4(name, { ttl: true })),
        recordsOf(resolver.resolve6(name, { ttl: true })),
      ]),
    );
}

/** Codes of a server's answer that there is no such record. */
const NONE: readonly unknown[] = ['ENODATA', 'ENOTFOUND'];

async function recordsOf(asked: Promise<Records>): Promise<Records | string> {
  try {
    return await asked;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return NONE.includes(code) ? [] : (code ?? message);
  }
}

/** Addresses of one family count even if the other query fails; "no address" needs both answers. */
export function answerOf(families: readonly (Records | string)[]): DnsAnswer {
  const records = families.flatMap(family => (typeof family === 'string' ? [] : family));
  const failed = families.find(family => typeof family === 'string');
  if (records.length === 0 && failed !== undefined) return { failed };
  const addresses = [...new Set(records.map(({ address }) => address))].sort().slice(0, ADDRESSES_MAX);
  const lives = records.map(({ ttl }) => ttl * 1000);
  const partial = records.length === 0 || failed !== undefined;
  const ttlMs = partial ? TTL_MS_MIN : Math.max(TTL_MS_MIN, Math.min(TTL_MS_MAX, ...lives));
  return { addresses, ttlMs };
}
