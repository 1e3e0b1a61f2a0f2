// Gateways and ListenerSets: whom they belong to, which services serve them, and their listeners.
//
// A Gateway that cannot be served at all (no address that is understood) has no listeners: routes find no parent there.
// Source: Istio pilot/pkg/config/kube/gateway/gateway_collection.go.

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { type ClassInfo, classNamed } from './classes.ts';
import { type ConfigError, configError } from './config-error.ts';
import { isNamespaceSelected } from './label-selector.ts';
import { type TranslatedListener, translateListener } from './listener.ts';
import { allOfRevision, ofRevision } from './revision.ts';
import { defaultName, isManaged, SERVICE_ACCOUNT_OVERRIDE, servicesOf } from './services.ts';

export interface TranslatedGateway {
  readonly info: ClassInfo;
  /** Hosts of the services that serve it. */
  readonly services: readonly string[];
  /** The account that may read its secrets; '' for any of the namespace. */
  readonly serviceAccount: string;
  readonly error: ConfigError | undefined;
  /** None for a Gateway that is served elsewhere, or by nothing. */
  readonly listeners: readonly TranslatedListener[];
}

export interface TranslatedListenerSet {
  /** `namespace/name` of its Gateway. */
  readonly gateway: string;
  /** Why its Gateway does not take it. */
  readonly refused: ConfigError | undefined;
  /** Refused for its parent's own fault; the set as such would be allowed. */
  readonly parentError: ConfigError | undefined;
  readonly listeners: readonly TranslatedListener[];
}

/** Argument `namespace/name`. Undefined: absent, or another controller's. */
export const translatedGateway: Query<string, TranslatedGateway | undefined> = {
  name: 'translate/gateway',
  run: (reader, key) => {
    if (!reader.feature('PILOT_ENABLE_GATEWAY_API')) return undefined;
    const gateway = reader.object('KubernetesGateway', key);
    const info = gateway === undefined ? undefined : classNamed(reader, gateway.spec.gatewayClassName);
    if (gateway === undefined || info === undefined) return undefined;
    const { hosts: services, error } = servicesOf(reader, gateway, info);
    const serviceAccount = accountOf(reader, gateway, info);
    const served = info.role !== 'remote' && services.length > 0;
    const { namespace, labels, spec } = gateway;
    const place = {
      owner: { kind: 'Gateway' as const, namespace, labels },
      role: info.role,
      gatewayTls: spec.tls,
    };
    const listeners = served ? spec.listeners.map(listener => translateListener(reader, place, listener)) : [];
    return { info, services, serviceAccount, error, listeners };
  },
};

/** Argument `namespace/name`. Undefined: absent, or for a Gateway that is not ours. */
export const translatedListenerSet: Query<string, TranslatedListenerSet | undefined> = {
  name: 'translate/listenerSet',
  run: (reader, key) => {
    const set = ofRevision(reader, reader.object('ListenerSet', key));
    if (set === undefined || !isGateway(set.spec.parentRef)) return undefined;
    const parentNamespace = set.spec.parentRef.namespace || set.namespace;
    const gateway = configKey(parentNamespace, set.spec.parentRef.name);
    const parent = reader.get(translatedGateway, gateway);
    const object = reader.object('KubernetesGateway', gateway);
    if (parent === undefined || object === undefined) return undefined;
    const refused = refusalOf(reader, set, object, parent.info);
    const parentError = parent.services.length === 0 ? parent.error : undefined;
    const { namespace, labels, spec } = set;
    const place = {
      owner: { kind: 'ListenerSet' as const, namespace, labels },
      role: parent.info.role,
      gatewayTls: object.spec.tls,
    };
    const taken = refused === undefined && parentError === undefined;
    const listeners = taken ? spec.listeners.map(listener => translateListener(reader, place, listener)) : [];
    return { gateway, refused, parentError, listeners };
  },
};

/** Argument `namespace/name` of a Gateway: the keys of the ListenerSets that it takes, oldest first. */
export const listenerSetsOf: Query<string, readonly string[]> = {
  name: 'translate/listenerSetsOf',
  run: (reader, gateway) =>
    allOfRevision(reader, 'ListenerSet')
      .filter(set => {
        const { namespace = set.namespace, name } = set.spec.parentRef;
        return configKey(namespace, name) === gateway;
      })
      .sort((a, b) => a.creationTime - b.creationTime)
      .map(({ namespace, name }) => configKey(namespace, name))
      .filter(key => {
        const found = reader.get(translatedListenerSet, key);
        return found !== undefined && found.refused === undefined && found.parentError === undefined;
      }),
};

function isGateway({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return group === GATEWAY_API && kind === 'Gateway';
}

function refusalOf(
  reader: Reader,
  set: Obj<'ListenerSet'>,
  gateway: Obj<'KubernetesGateway'>,
  info: ClassInfo,
): ConfigError | undefined {
  if (!info.takesListenerSets) {
    const { gatewayClassName } = gateway.spec;
    return configError('NotAllowed', `The "${gatewayClassName}" GatewayClass does not support ListenerSet`);
  }
  if (allows(reader, gateway, set.namespace)) return undefined;
  const why = "The parent Gateway does not allow this reference; check the 'spec.allowedRoutes'";
  return configError('NotAllowed', why);
}

function allows(reader: Reader, { namespace: own, spec }: Obj<'KubernetesGateway'>, namespace: string): boolean {
  const { from = 'None', selector } = spec.allowedListeners?.namespaces ?? {};
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return own === namespace;
    case 'Selector':
      return selector !== undefined && isNamespaceSelected(reader, selector, namespace);
    default:
      return false;
  }
}

function accountOf(reader: Reader, gateway: Obj<'KubernetesGateway'>, info: ClassInfo): string {
  if (!isManaged(reader, gateway.spec)) return '';
  return gateway.annotations[SERVICE_ACCOUNT_OVERRIDE] || defaultName(gateway, info);
}
