// GatewayClasses: the built-in ones are created where they are missing and never changed; every one of ours is
// accepted.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/gatewayclass.go, gatewayclass_collection.go.

import { configKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { oneOf } from '../../translate/derived.ts';
import { builtInClasses, type ClassInfo } from '../../translate/gateway-api/classes.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { MANAGER, type Wish } from '../wish.ts';
import { condition, conditionsJson } from './conditions.ts';
import { statusWish, writesStatuses } from './status-wish.ts';

/** Argument ''. */
export const classWishes: Query<'', readonly Wish[]> = {
  name: 'wishes/gatewayClasses',
  run: reader => [...createdClasses(reader), ...classStatuses(reader)],
};

function createdClasses(reader: Reader): readonly Wish[] {
  if (!reader.feature('PILOT_ENABLE_GATEWAY_API')) return [];
  if (!reader.feature('PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER')) return [];
  return reader.get(builtInClasses, '').map(info => creationOf(reader, info));
}

function creationOf(reader: Reader, { name, controller, description }: ClassInfo): Wish {
  return oneOf<Wish>(reader, {
    cluster: reader.setting('clusterId'),
    kind: 'GatewayClass',
    namespace: '',
    name,
    subresource: '',
    manager: MANAGER,
    fields: {},
    atCreation: { spec: { controllerName: controller, description } },
    verb: 'merge',
    gate: undefined,
  });
}

function classStatuses(reader: Reader): readonly Wish[] {
  if (!writesStatuses(reader)) return [];
  return allOfRevision(reader, 'GatewayClass').flatMap(({ name }) => reader.get(classStatus, name) ?? []);
}

const classStatus: Query<string, Wish | undefined> = {
  name: 'wishes/classStatus',
  run: (reader, name) => {
    const obj = reader.object('GatewayClass', configKey('', name));
    const known = reader.get(builtInClasses, '').some(({ controller }) => controller === obj?.spec.controllerName);
    if (obj === undefined || !known) return undefined;
    const accepted = condition('Accepted', undefined, 'Accepted', 'Handled by Istio controller');
    return statusWish(reader, obj, { conditions: conditionsJson(obj.generation, [accepted]) }, { of: 'conditions' });
  },
};
