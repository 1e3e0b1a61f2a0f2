// The Gateways that listeners become: one for each, with one server, so that each is refused, merged and routed alone.
//
// Source: Istio pilot/pkg/config/kube/gateway/gateway_collection.go (GatewayCollection, ListenerSetCollection).

import {
  GATEWAY_SEMANTICS,
  GATEWAY_SERVICE,
  OF_GATEWAY_API,
  PARENT_NAMESPACE,
  PARENTS,
  SERVICE_ACCOUNT,
} from '../../model/derived.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { derivedObject } from '../derived.ts';
import type { ClassRole } from './classes.ts';
import { type TranslatedGateway, translatedGateway, translatedListenerSet } from './gateways.ts';
import type { TranslatedListener } from './listener.ts';
import { allOfRevision } from './revision.ts';

/** Argument ''. Of all Gateways and ListenerSets. */
export const derivedGateways: Query<'', readonly Obj<'Gateway'>[]> = {
  name: 'translate/derivedGateways',
  run: reader => [
    ...reader
      .objects('KubernetesGateway')
      .flatMap(({ namespace, name }) => reader.get(gatewaysOfGateway, configKey(namespace, name))),
    ...allOfRevision(reader, 'ListenerSet').flatMap(({ namespace, name }) =>
      reader.get(gatewaysOfListenerSet, configKey(namespace, name)),
    ),
  ],
};

/** The name under which a listener is known to the generators. */
export function derivedName(parent: string, listener: string): string {
  return `${parent}~${OF_GATEWAY_API}~${listener}`;
}

/** The waypoint has no listeners of its own, and an east-west gateway none for the tunnel. */
export function isDerived(role: ClassRole, { port }: TranslatedListener): boolean {
  return role === 'gateway' || (role === 'eastWest' && port !== TUNNEL_PORT);
}

const TUNNEL_PORT = 15_008;

const gatewaysOfGateway: Query<string, readonly Obj<'Gateway'>[]> = {
  name: 'translate/gatewaysOfGateway',
  run: (reader, key) => {
    const object = reader.object('KubernetesGateway', key);
    const translated = reader.get(translatedGateway, key);
    if (object === undefined || translated === undefined) return [];
    return gatewaysOf(reader, { kind: 'Gateway', object, parent: translated, more: {} }, translated.listeners);
  },
};

const gatewaysOfListenerSet: Query<string, readonly Obj<'Gateway'>[]> = {
  name: 'translate/gatewaysOfListenerSet',
  run: (reader, key) => {
    const object = reader.object('ListenerSet', key);
    const translated = reader.get(translatedListenerSet, key);
    if (object === undefined || translated === undefined) return [];
    const parent = reader.get(translatedGateway, translated.gateway);
    if (parent === undefined) return [];
    const [namespace = ''] = translated.gateway.split('/');
    const source = { kind: 'ListenerSet', object, parent, more: { [PARENT_NAMESPACE]: namespace } } as const;
    return gatewaysOf(reader, source, translated.listeners);
  },
};

interface Source {
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly object: Obj;
  readonly parent: TranslatedGateway;
  readonly more: Readonly<Record<string, string>>;
}

function gatewaysOf(
  reader: Reader,
  { kind, object, parent, more }: Source,
  listeners: readonly TranslatedListener[],
): readonly Obj<'Gateway'>[] {
  const { namespace, name, creationTime } = object;
  const derived: Obj<'Gateway'>[] = [];
  for (const listener of listeners) {
    if (listener.server === undefined || !isDerived(parent.info.role, listener)) continue;
    const annotations = {
      [PARENTS]: `${kind}/${name}/${listener.name}.${namespace}`,
      [GATEWAY_SEMANTICS]: 'gateway',
      [GATEWAY_SERVICE]: parent.services.join(','),
      [SERVICE_ACCOUNT]: parent.serviceAccount,
      ...more,
    };
    const meta = { namespace, name: derivedName(name, listener.name), creationTime, annotations };
    derived.push(derivedObject(reader, 'Gateway', meta, { servers: [listener.server] }));
  }
  return derived;
}
