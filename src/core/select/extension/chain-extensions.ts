// The extensions of a chain: those of the proxy whose `match` fits its class of traffic and its port.
// Source: Istio pilot/pkg/model/extensions.go (TrafficExtensionWrapper.MatchType, MatchListener).
//
// Only ports that an extension names distinguish chains; every other port counts as 0, so chains share their filters.

import type { Query } from '../../query/reader.ts';
import type { TrafficSelector } from '../../schema/istio-types.gen.ts';
import { subjectsOf } from '../ambient/subjects.ts';
import { reportsAs, subjectOf, type TrafficClass } from '../telemetry/traffic-class.ts';
import { type Extension, type ExtensionPhase, extensionsOfProxy } from './extensions.ts';

export interface ExtensionChain {
  readonly kind: 'http' | 'network';
  readonly traffic: TrafficClass;
  /** As `extensionPort` gives it. */
  readonly port: number;
}

export type ByPhase<T> = Readonly<Record<ExtensionPhase, readonly T[]>>;

const NONE: ByPhase<Extension> = { AUTHN: [], AUTHZ: [], STATS: [], UNSPECIFIED: [] };

/** The extensions of a chain, each phase in order. */
export const chainExtensions: Query<ExtensionChain, ByPhase<Extension>> = {
  name: 'select/chainExtensions',
  key: ({ kind, traffic, port }) => `${kind}|${traffic}|${port}`,
  run: (reader, chain) => {
    const fitting = reader.get(extensionsOfProxy, subjectOf(chain.traffic)).filter(extension => fits(extension, chain));
    if (fitting.length === 0) return NONE;
    const of = (phase: ExtensionPhase): readonly Extension[] => fitting.filter(one => one.phase === phase);
    return { AUTHN: of('AUTHN'), AUTHZ: of('AUTHZ'), STATS: of('STATS'), UNSPECIFIED: of('UNSPECIFIED') };
  },
};

export type NamedPorts = Readonly<Record<number, true>>;

/** The port if it is one of `named`, else 0. */
export function extensionPort(named: NamedPorts, port: number): number {
  return port !== 0 && named[port] === true ? port : 0;
}

/** The ports that extensions of the proxy name. */
export const extensionPorts: Query<'', NamedPorts> = {
  name: 'select/extensionPorts',
  run: reader => {
    const named: Record<number, true> = {};
    for (const subject of subjectsOf(reader)) {
      for (const { match } of reader.get(extensionsOfProxy, subject)) {
        for (const { ports } of Object.values(matchedBy(match))) for (const port of ports) named[port] = true;
      }
    }
    return named;
  },
};

function fits({ code, match }: Extension, { kind, traffic, port }: ExtensionChain): boolean {
  const network = code.kind === 'wasm' && code.network;
  if (network !== (kind === 'network')) return false;
  if (match.length === 0) return true;
  const { all, ports } = matchedBy(match)[reportsAs(traffic)];
  return all || (port !== 0 && ports.has(port));
}

interface Matched {
  all: boolean;
  readonly ports: Set<number>;
}

type MatchedBySide = Readonly<Record<ReturnType<typeof reportsAs>, Matched>>;

const matched = new WeakMap<readonly TrafficSelector[], MatchedBySide>();

/** What the selectors, of which there may be tens of thousands, let through on either side. */
function matchedBy(match: readonly TrafficSelector[]): MatchedBySide {
  const known = matched.get(match);
  if (known !== undefined) return known;
  const made: MatchedBySide = {
    CLIENT: { all: false, ports: new Set() },
    SERVER: { all: false, ports: new Set() },
  };
  for (const { mode = 'UNDEFINED', ports = [] } of match) {
    for (const side of ['CLIENT', 'SERVER'] as const) {
      if (mode !== 'UNDEFINED' && mode !== 'CLIENT_AND_SERVER' && mode !== side) continue;
      if (ports.length === 0) made[side].all = true;
      for (const { number = 0 } of ports) made[side].ports.add(number);
    }
  }
  matched.set(match, made);
  return made;
}
