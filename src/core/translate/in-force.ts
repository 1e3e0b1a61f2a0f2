// The Gateways, VirtualServices and DestinationRules that proxies are configured by: the user's own, and those that
// other APIs are translated into. Selectors read these kinds here and nowhere else.
//
// Of two objects with one key the user's own counts, as in istiod's aggregated store. Names that are derived from the
// Gateway API contain `~`, so only those of Ingresses can meet a user's.
// Source: Istio pilot/pkg/config/aggregate/config.go.

import { configKey, type Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import { derivedDestinationRules } from './gateway-api/derived-destination-rules.ts';
import { derivedGateways } from './gateway-api/derived-gateways.ts';
import { derivedVirtualServices } from './gateway-api/merged-routes.ts';
import { ingressGateways } from './ingress/ingress-gateways.ts';
import { ingressVirtualServices } from './ingress/ingress-routes.ts';

/** Argument: `namespace/`, or '' for all. */
export function gatewaysInForce(reader: Reader, prefix: string): readonly Obj<'Gateway'>[] {
  const own = reader.objects('Gateway', prefix);
  const derived = reader.get(allDerivedGateways, '');
  if (derived.size === 0) return own;
  return [...own, ...missingFrom(reader, 'Gateway', [...derived.values()], prefix)];
}

export function gatewayInForce(reader: Reader, key: string): Obj<'Gateway'> | undefined {
  return reader.object('Gateway', key) ?? reader.get(derivedGateway, key);
}

/** Those that are translated; the user's own are objects of the state. */
export const translatedVirtualServices: Query<'', readonly Obj<'VirtualService'>[]> = {
  name: 'translate/virtualServicesInForce',
  run: reader => {
    const derived = [...reader.get(derivedVirtualServices, ''), ...reader.get(ingressVirtualServices, '')];
    return missingFrom(reader, 'VirtualService', derived, '');
  },
};

export function destinationRulesInForce(reader: Reader, namespace: string): readonly Obj<'DestinationRule'>[] {
  const own = reader.objects('DestinationRule', `${namespace}/`);
  const derived = reader.get(derivedDestinationRules, namespace);
  return derived.length === 0 ? own : [...own, ...derived];
}

const allDerivedGateways: Query<'', ReadonlyMap<string, Obj<'Gateway'>>> = {
  name: 'translate/allDerivedGateways',
  run: reader => {
    const all = [...reader.get(derivedGateways, ''), ...reader.get(ingressGateways, '')];
    return new Map(all.map(gateway => [keyOf(gateway), gateway]));
  },
};

/** Argument `namespace/name`. */
const derivedGateway: Query<string, Obj<'Gateway'> | undefined> = {
  name: 'translate/derivedGateway',
  run: (reader, key) => reader.get(allDerivedGateways, '').get(key),
};

function missingFrom<K extends 'Gateway' | 'VirtualService'>(
  reader: Reader,
  kind: K,
  derived: readonly Obj<K>[],
  prefix: string,
): readonly Obj<K>[] {
  return derived.filter(obj => {
    if (prefix !== '' && !keyOf(obj).startsWith(prefix)) return false;
    return obj.name.includes('~') || reader.object(kind, keyOf(obj)) === undefined;
  });
}

function keyOf({ namespace, name }: Obj): string {
  return configKey(namespace, name);
}
