// The first rule of VirtualServices for each port, for the TCP servers of a Gateway: of all that match a server only
// the first counts.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayNetworkFiltersFromTCPRoutes).

import { PARENTS } from '../../model/derived.ts';
import type { L4MatchAttributes, RouteDestination } from '../../schema/istio-types.gen.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';

/** A VirtualService and its position among those of the Gateway. */
export type Placed = readonly [position: number, virtualService: ResolvedVirtualService];

export interface PlacedRule {
  readonly virtualService: ResolvedVirtualService;
  readonly route: readonly RouteDestination[];
  /** Of the VirtualService. */
  readonly position: number;
  /** Among its rules, TCP before TLS. */
  readonly index: number;
}

interface Rule {
  readonly match?: readonly L4MatchAttributes[];
  readonly route?: readonly RouteDestination[];
}

const ANY_PORT = 0;

export class FirstRules {
  readonly #gateway: string;
  readonly #tcp = new Map<number, PlacedRule>();
  /** At a server that ends TLS names of clients no longer choose: a TLS rule of a TLSRoute is one of its port. */
  readonly #ended = new Map<number, PlacedRule>();

  constructor(gateway: string, virtualServices: readonly Placed[]) {
    this.#gateway = gateway;
    for (const [position, virtualService] of virtualServices) {
      const { tcp = [], tls = [] } = virtualService.spec;
      for (const [index, rule] of tcp.entries()) {
        const ports = (rule.match ?? []).length === 0 ? [ANY_PORT] : this.#portsOf(rule);
        addRule(this.#tcp, ports, { virtualService, route: rule.route ?? [], position, index });
      }
      if (virtualService.obj.annotations[PARENTS]?.startsWith('TLSRoute/') !== true) continue;
      for (const [i, rule] of tls.entries()) {
        const placed = { virtualService, route: rule.route ?? [], position, index: tcp.length + i };
        addRule(this.#ended, this.#portsOf(rule), placed);
      }
    }
  }

  at(port: number, endsTls: boolean): PlacedRule | undefined {
    const tcp = earlier(this.#tcp.get(port), this.#tcp.get(ANY_PORT));
    return endsTls ? earlier(tcp, earlier(this.#ended.get(port), this.#ended.get(ANY_PORT))) : tcp;
  }

  #portsOf({ match = [] }: Rule): readonly number[] {
    return match.filter(one => isAtGateway(one, this.#gateway)).map(({ port }) => port || ANY_PORT);
  }
}

function addRule(rules: Map<number, PlacedRule>, ports: readonly number[], rule: PlacedRule): void {
  for (const port of ports) if (!rules.has(port)) rules.set(port, rule);
}

export function isAtGateway({ gateways = [] }: L4MatchAttributes, gateway: string): boolean {
  return gateways.length === 0 || gateways.includes(gateway);
}

export function earlier(a: PlacedRule | undefined, b: PlacedRule | undefined): PlacedRule | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (a.position - b.position || a.index - b.index) <= 0 ? a : b;
}
