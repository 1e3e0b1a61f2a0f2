// Everything a proxy would hold: it watches clusters, listeners and name tables as a whole, the endpoints, routes and
// extension configurations that those name, and some without references.

import type { ProxyRecord, Subscription } from '../../src/core/model/proxy.ts';
import type { State } from '../../src/core/state.ts';
import { resourceSource, resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import type { ResourceSet } from '../../src/xds/engine/resource-set.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS } from '../../src/xds/session/types.ts';

/** Type URL → what is held of it. */
export type Holdings = ReadonlyMap<string, ResourceSet>;

export interface Message {
  readonly typeUrl: string;
  readonly name: string;
  readonly message: object;
}

const STRANGE_NAMES = ['80', '9000', '5432', 'nowhere', 'outbound|80||nowhere.example.org', 'http.80'];

export function holdingsOf(engine: Engine, state: State, proxy: ProxyRecord): Holdings {
  const held = new Map<string, ResourceSet>();
  const hold = (typeUrl: string, subscription: Subscription): void => {
    const set = engine.resourcesFor(state, proxy, typeUrl, subscription);
    if (set === undefined) throw new Error(`${typeUrl} cannot be served`);
    held.set(typeUrl, set);
  };
  for (const typeUrl of [CDS, LDS, NDS]) hold(typeUrl, { wildcard: true, names: [] });
  hold(EDS, { wildcard: false, names: namesIn(engine, state, proxy, CDS, 'edsClusterConfig', 'serviceName') });
  hold(RDS, { wildcard: false, names: namesIn(engine, state, proxy, LDS, 'rds', 'routeConfigName') });
  hold(ECDS, { wildcard: false, names: extensionNames(engine, state, proxy) });
  return held;
}

/** The same as messages, not encoded. */
export function messagesOf(engine: Engine, state: State, proxy: ProxyRecord): readonly Message[] {
  const messages: Message[] = [];
  for (const typeUrl of [CDS, LDS, NDS]) {
    for (const made of engine.tracker.get(state, proxy, resourceSource(typeUrl)!.all!, ''))
      messages.push({ typeUrl, ...made });
  }
  for (const [typeUrl, names] of [
    [EDS, namesIn(engine, state, proxy, CDS, 'edsClusterConfig', 'serviceName')],
    [RDS, namesIn(engine, state, proxy, LDS, 'rds', 'routeConfigName')],
    [ECDS, extensionNames(engine, state, proxy)],
  ] as const) {
    for (const name of names) {
      const made = engine.tracker.get(state, proxy, resourceSource(typeUrl)!.named!, name);
      if (made !== undefined) messages.push({ typeUrl, ...made });
    }
  }
  return messages;
}

export function freshEngine(): Engine {
  return new Engine(resourceSources);
}

/** What every connected proxy holds, by connection, made from scratch. */
export function allHoldings(state: State, engine = freshEngine()): ReadonlyMap<string, Holdings> {
  return new Map(
    [...state.proxies.values()].map(proxy => [proxy.connection, holdingsOf(engine, state, proxy)] as const),
  );
}

/** Connection, type, name, version and bytes of everything: two texts are equal exactly when the holdings are. */
export function showHoldings(all: ReadonlyMap<string, Holdings>): readonly string[] {
  const lines: string[] = [];
  for (const [connection, holdings] of all) {
    for (const [typeUrl, set] of holdings) {
      for (const { name, version, body } of set.resources.values()) {
        lines.push(`${connection} ${typeUrl} ${name} ${version} ${body.toString('base64')}`);
      }
    }
  }
  return lines;
}

/** Filters whose configuration is a resource of its own, and a module that no listener has. */
function extensionNames(engine: Engine, state: State, proxy: ProxyRecord): readonly string[] {
  const names = new Set([`extensions.istio.io/trafficextension/${proxy.facets.namespace}.nowhere`]);
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const { name, configDiscovery } = value as { readonly name?: unknown; readonly configDiscovery?: unknown };
    if (typeof name === 'string' && configDiscovery !== undefined) names.add(name);
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const { message } of engine.tracker.get(state, proxy, resourceSource(LDS)!.all!, '')) visit(message);
  return [...names].sort();
}

function namesIn(
  engine: Engine,
  state: State,
  proxy: ProxyRecord,
  typeUrl: string,
  member: string,
  field: string,
): readonly string[] {
  const names = new Set(STRANGE_NAMES);
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    for (const [key, inner] of Object.entries(value)) {
      const name: unknown =
        key === member ? (inner as Readonly<Record<string, unknown>> | undefined)?.[field] : undefined;
      if (typeof name === 'string') names.add(name);
      visit(inner);
    }
  };
  for (const { message } of engine.tracker.get(state, proxy, resourceSource(typeUrl)!.all!, '')) visit(message);
  return [...names].sort();
}
