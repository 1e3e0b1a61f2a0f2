// The statuses of Gateways and ListenerSets: whether they are accepted and served, where, and what their listeners say.
//
// Addresses that were reported stay when none is known any more.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (reportGatewayStatus, reportListenerSetStatus).

import { isIp } from '../../base/ip.ts';
import type { JsonObject } from '../../base/json.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { type ConfigError, configError } from '../../translate/gateway-api/config-error.ts';
import {
  listenerSetsOf,
  type TranslatedGateway,
  type TranslatedListenerSet,
  translatedGateway,
  translatedListenerSet,
} from '../../translate/gateway-api/gateways.ts';
import type { TranslatedListener } from '../../translate/gateway-api/listener.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import type { StatusRule } from '../status.ts';
import type { Wish } from '../wish.ts';
import { attachedRoutes } from './attachments.ts';
import { condition, conditionsJson } from './conditions.ts';
import { type GatewayInstances, resolveInstances } from './instances.ts';
import { listenerStatus } from './listener-status.ts';
import { statusWish, writesStatuses } from './status-wish.ts';

const ADDRESS_TYPE = 'networking.istio.io/address-type';
const ACCEPTED = 'Resource accepted';

/** Argument ''. */
export const gatewayStatuses: Query<'', readonly Wish[]> = {
  name: 'wishes/gatewayStatuses',
  run: reader => {
    if (!writesStatuses(reader)) return [];
    const key = ({ namespace, name }: Obj): string => configKey(namespace, name);
    return [
      ...reader.objects('KubernetesGateway').flatMap(obj => reader.get(gatewayStatus, key(obj)) ?? []),
      ...allOfRevision(reader, 'ListenerSet').flatMap(obj => reader.get(listenerSetStatus, key(obj)) ?? []),
    ];
  },
};

export const gatewayStatus: Query<string, Wish | undefined> = {
  name: 'wishes/gatewayStatus',
  run: (reader, key) => {
    const obj = reader.object('KubernetesGateway', key);
    const translated = reader.get(translatedGateway, key);
    if (obj === undefined || translated === undefined) return undefined;
    if (translated.info.role === 'remote') return remoteStatus(reader, obj);
    const sets = reader.get(listenerSetsOf, key);
    const ports = [
      ...translated.listeners.map(({ port }) => port),
      ...sets.flatMap(set => (reader.get(translatedListenerSet, set)?.listeners ?? []).map(({ port }) => port)),
    ];
    const instances = resolveInstances(reader, obj.namespace, translated.services, ports);
    const addresses = addressesOf(obj, translated, instances);
    const attached = reader.get(attachedRoutes, key);
    const status: JsonObject = {
      ...(addresses.length === 0 ? {} : { addresses }),
      ...(sets.length === 0 ? {} : { attachedListenerSets: sets.length }),
      conditions: conditionsJson(obj.generation, [
        condition('Accepted', translated.error, 'Accepted', ACCEPTED),
        programmed(translated.services, instances),
      ]),
    };
    return withListeners(reader, obj, status, {
      listeners: translated.listeners,
      attached,
      rule:
        translated.services.length === 0
          ? { of: 'kept', names: obj.spec.listeners.map(({ name }) => name) }
          : { of: 'listeners', prunes: true },
    });
  },
};

const listenerSetStatus: Query<string, Wish | undefined> = {
  name: 'wishes/listenerSetStatus',
  run: (reader, key) => {
    const obj = reader.object('ListenerSet', key);
    const translated = reader.get(translatedListenerSet, key);
    if (obj === undefined || translated === undefined) return undefined;
    const parent = reader.get(translatedGateway, translated.gateway);
    if (parent === undefined) return undefined;
    if (translated.refused !== undefined) return refusedStatus(reader, obj, translated.refused);
    const [namespace = ''] = translated.gateway.split('/');
    const ports = translated.listeners.map(({ port }) => port);
    const instances = resolveInstances(reader, namespace, parent.services, ports);
    const attached = reader.get(attachedRoutes, key);
    const status: JsonObject = {
      conditions: conditionsJson(obj.generation, [
        condition('Accepted', parentError(parent, translated), 'Accepted', ACCEPTED),
        programmed(parent.services, instances),
      ]),
    };
    return withListeners(reader, obj, status, {
      listeners: translated.listeners,
      attached,
      rule:
        translated.parentError === undefined ? { of: 'listeners', prunes: false } : { of: 'kept', names: undefined },
    });
  },
};

interface ListenerPart {
  readonly listeners: readonly TranslatedListener[];
  readonly attached: Readonly<Record<string, number>>;
  /** `kept`: listeners were not looked at, and their old statuses stay. */
  readonly rule: StatusRule;
}

function withListeners(
  reader: Reader,
  obj: Obj,
  status: JsonObject,
  { listeners, attached, rule }: ListenerPart,
): Wish | undefined {
  if (rule.of === 'kept') return statusWish(reader, obj, status, rule);
  const parts = listeners.map(one => listenerStatus(one, attached[one.name] ?? 0, obj.generation));
  return statusWish(reader, obj, { ...status, listeners: parts }, rule);
}

function parentError(parent: TranslatedGateway, { parentError: own }: TranslatedListenerSet): ConfigError | undefined {
  const error = own ?? parent.error;
  return error === undefined ? undefined : configError(error.reason, `Parent not accepted: ${error.message}`);
}

function refusedStatus(reader: Reader, obj: Obj, refused: ConfigError): Wish | undefined {
  const conditions = conditionsJson(obj.generation, [
    condition('Accepted', refused, '', ''),
    condition('Programmed', refused, '', ''),
  ]);
  return statusWish(reader, obj, { conditions, listeners: null }, { of: 'conditions' });
}

function remoteStatus(reader: Reader, obj: Obj<'KubernetesGateway'>): Wish | undefined {
  const addresses = (obj.spec.addresses ?? []).map(({ type, value = '' }) => ({ type, value }));
  const conditions = conditionsJson(obj.generation, [
    condition('Accepted', undefined, 'Accepted', ACCEPTED),
    condition('Programmed', undefined, 'Programmed', 'This Gateway is remote; Istio will not program it'),
  ]);
  return statusWish(reader, obj, { addresses, conditions, listeners: null }, { of: 'conditions' });
}

function programmed(services: readonly string[], instances: GatewayInstances) {
  const { internal, warnings, allUsable } = instances;
  const assigned = internal.length === 0 ? '' : ` service(s) ${joined(internal)}`;
  const message = assigned === '' ? 'Resource programmed' : `Resource programmed, assigned to${assigned}`;
  return condition('Programmed', programmedError(), 'Programmed', message);

  function programmedError(): ConfigError | undefined {
    if (services.length === 0) return configError('UnsupportedAddress', 'Failed to assign to any requested addresses');
    if (warnings.length === 0) return undefined;
    const start =
      assigned === ''
        ? 'Failed to assign to any requested addresses'
        : `Assigned to${assigned}, but failed to assign to all requested addresses`;
    return configError(allUsable ? 'AddressNotAssigned' : 'AddressNotUsable', `${start}: ${warnings.join('; ')}`);
  }
}

function joined(list: readonly string[]): string {
  if (list.length < 3) return list.join(' and ');
  return `${list.slice(0, -1).join(', ')}, and ${list.at(-1)}`;
}

function addressesOf(
  obj: Obj<'KubernetesGateway'>,
  { info }: TranslatedGateway,
  { external, addresses, internal, pending }: GatewayInstances,
): readonly JsonObject[] {
  return (external.length > 0 ? external : ownAddresses()).map(value => ({
    type: isIp(value) ? 'IPAddress' : 'Hostname',
    value,
  }));

  function ownAddresses(): readonly string[] {
    const wanted = obj.annotations[ADDRESS_TYPE] ?? info.addressType;
    const hosts = internal.map(one => one.slice(0, one.lastIndexOf(':'))).filter(host => !pending.includes(host));
    return [...(wanted === 'Hostname' ? [] : addresses), ...(wanted === 'IPAddress' ? [] : new Set(hosts))];
  }
}
