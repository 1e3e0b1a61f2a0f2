// Merges outbound listeners: decides which chains stay when two services want the same address and port.
// Source: Istio pilot/pkg/networking/core/listener.go (buildListenerFromEntry, mergeTCPFilterChains).

import ipaddr from 'ipaddr.js';
import { isCidr } from '../../base/ip.ts';
import { compareText } from '../../model/object.ts';
import type { Port, Service } from '../../model/service.ts';
import type { ChainPlan, TcpChainPlan } from './outbound-chains.ts';

export interface OutboundListenerPlan {
  /** The address that names the listener, then further ones. */
  readonly binds: readonly [string, ...string[]];
  readonly port: number;
  readonly bindToPort: boolean;
  /** The first service of the listener and its port: statistics, logs and some filters follow it. */
  readonly service: Service;
  readonly servicePort: Port;
  readonly chains: readonly ChainPlan[];
  /** The chains of other services that are indistinguishable from earlier ones. */
  readonly conflicts: readonly string[];
}

/** With the name of the listener. */
export type NamedPlan = readonly [name: string, plan: OutboundListenerPlan];

export type EntryClass = 'HTTP' | 'TCP' | 'auto';

export interface IncomingEntry {
  readonly plan: OutboundListenerPlan;
  readonly incoming: EntryClass;
  /**
   * The class that the entry has from then on: On the wildcard address, inspection distinguishes HTTP from other
   * traffic.
   */
  readonly settled: EntryClass;
  /** An HTTP proxy port replaces earlier chains. */
  readonly replaces: boolean;
}

interface Entry {
  plan: OutboundListenerPlan;
  kind: EntryClass;
  locked: boolean;
  /** Of the plan and all that joined it: a port can have a thousand services. */
  joined: Joined | undefined;
}

interface Joined {
  readonly chains: ChainPlan[];
  readonly conflicts: string[];
  /** What the chains match. */
  readonly taken: Set<string>;
}

/** Protocols in which the server may speak first in its own way: they share a port with nothing else. */
const exclusiveProtocols: readonly string[] = ['Mongo', 'MySQL'];

export class OutboundEntries {
  /**
   * By the first address, then by port. Looked up for each port of each service, so the key is not a concatenated
   * text.
   */
  readonly #entries = new Map<string, Map<number, Entry>>();

  /**
   * From here on existing entries stay as they are: a catch-all listener only fills the gaps of the earlier listeners.
   */
  lock(): void {
    for (const ports of this.#entries.values()) for (const entry of ports.values()) entry.locked = true;
  }

  /**
   * True if HTTP that comes to the address and port would change nothing, as with most services of a mesh: HTTP beside
   * HTTP needs no chain of its own, as its hosts come with the routes.
   */
  absorbsHttp(bind: string, port: number): boolean {
    const existing = this.#entries.get(bind)?.get(port);
    return existing !== undefined && (existing.locked || existing.kind !== 'TCP');
  }

  /** HTTP that is absorbed is not added, unless it replaces. */
  add(incoming: IncomingEntry): void {
    const [bind] = incoming.plan.binds;
    const ports = this.#entries.get(bind) ?? new Map<number, Entry>();
    this.#entries.set(bind, ports);
    const existing = ports.get(incoming.plan.port);
    if (existing === undefined) {
      ports.set(incoming.plan.port, { plan: incoming.plan, kind: incoming.settled, locked: false, joined: undefined });
      return;
    }
    if (existing.locked || excludes(existing, incoming)) return;
    if (incoming.replaces || (incoming.incoming === 'auto' && existing.kind === 'HTTP')) {
      existing.plan = incoming.plan;
      existing.joined = undefined;
      existing.kind = incoming.settled;
      return;
    }
    if (incoming.incoming === 'auto' && existing.kind === 'auto') return;
    join(existing, incoming.plan);
    if (incoming.incoming !== existing.kind) existing.kind = 'auto';
  }

  plans(): readonly NamedPlan[] {
    const named: NamedPlan[] = [];
    for (const [bind, ports] of this.#entries) {
      for (const [port, { plan, joined }] of ports) {
        const whole = joined === undefined ? plan : { ...plan, chains: joined.chains, conflicts: joined.conflicts };
        named.push([`${bind}_${port}`, whole]);
      }
    }
    return named;
  }
}

function excludes(existing: Entry, incoming: IncomingEntry): boolean {
  const there = existing.plan.servicePort.protocol;
  const comes = incoming.plan.servicePort.protocol;
  return there !== comes && (exclusiveProtocols.includes(there) || exclusiveProtocols.includes(comes));
}

function join(entry: Entry, incoming: OutboundListenerPlan): void {
  const { plan } = entry;
  entry.joined ??= {
    chains: [...plan.chains],
    conflicts: [],
    taken: new Set(plan.chains.map(matchOf)),
  };
  const { chains, conflicts, taken } = entry.joined;
  for (const chain of incoming.chains) {
    const match = matchOf(chain);
    if (taken.has(match)) {
      conflicts.push(
        `${incoming.service.hostname}:${incoming.port} shares ${plan.binds[0]}:${plan.port} with ${plan.service.hostname}, which takes its traffic`,
      );
      continue;
    }
    taken.add(match);
    chains.push(chain);
  }
}

/** Two chains with equal text would take the same connections. */
function matchOf(chain: ChainPlan): string {
  if (chain.kind === 'http') return chain.sniffed ? 'inspected HTTP' : '';
  const names = chain.serverNames.includes('*') ? [] : [...new Set(chain.serverNames)].sort(compareText);
  const ranges = [...new Set(rangesOf(chain).map(maskedRange))].sort(compareText);
  return names.length === 0 && ranges.length === 0 ? '' : `${names.join(',')}|${ranges.join(',')}`;
}

/** CIDR ranges that narrow the match; a range of all addresses does not. */
export function rangesOf(chain: TcpChainPlan): readonly string[] {
  return chain.cidrs.filter(cidr => !cidr.startsWith('0.0.0.0')).sort(compareText);
}

/** True for a chain that takes every connection; one for the range of all addresses is distinguished, as in Istio. */
export function takesAll(chain: TcpChainPlan): boolean {
  return (chain.serverNames.length === 0 || chain.serverNames.includes('*')) && chain.cidrs.length === 0;
}

/** Two ways to write one range: 10.1.2.3/8 is 10.0.0.0/8. */
function maskedRange(range: string): string {
  if (!isCidr(range)) return range;
  const [base, bits] = ipaddr.parseCIDR(range);
  const network = base.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${network.networkAddressFromCIDR(range).toString()}/${bits}`;
}
