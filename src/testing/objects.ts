// Arbitrary objects of every kind, usually valid: the parts are in worlds/.

import type { Json, JsonObject } from '../core/base/json.ts';
import { definitionOf } from '../core/kinds/registry.ts';
import { fc } from './fast-check.ts';
import { edgeObject } from './worlds/edges.ts';
import { gatewayApiObject } from './worlds/gateway-api.ts';
import { kubernetesObject } from './worlds/kubernetes.ts';
import { platformObject } from './worlds/platform.ts';
import { destinationRule, policyObject } from './worlds/policies.ts';
import { name, namespace, type Shape } from './worlds/pools.ts';
import { virtualService } from './worlds/routes.ts';

/** What no validator lets pass. */
const invalid: Shape = fc
  .tuple(
    fc.constantFrom('VirtualService', 'DestinationRule', 'ServiceEntry', 'Gateway'),
    namespace,
    name,
    fc.jsonValue(),
  )
  .map(
    ([kind, ns, n, junk]): JsonObject => ({
      apiVersion: 'networking.istio.io/v1',
      kind,
      metadata: { name: n, namespace: ns },
      spec: { hosts: [], junk: junk as Json },
    }),
  );

const VERSION_CHOICE_MAX = 5;

const inStorageVersion: Shape = fc
  .oneof(
    { weight: 16, arbitrary: kubernetesObject },
    { weight: 6, arbitrary: virtualService },
    { weight: 6, arbitrary: destinationRule },
    { weight: 8, arbitrary: edgeObject },
    { weight: 4, arbitrary: policyObject },
    { weight: 2, arbitrary: gatewayApiObject },
    { weight: 2, arbitrary: platformObject },
  )
  .map(withoutUndefined);

/** Valid, as far as this file can tell; at times in another of the versions that are served. */
export const soundObject: Shape = fc
  .tuple(inStorageVersion, fc.nat(VERSION_CHOICE_MAX))
  .map(([object, choice]) => inVersion(object, choice));

/** An object of any kind, usually valid. */
export const anyObject: Shape = fc.oneof({ weight: 40, arbitrary: soundObject }, { weight: 1, arbitrary: invalid });

/** The served versions of these kinds have equal fields. A choice beyond them leaves the object as it is. */
function inVersion(object: JsonObject, choice: number): JsonObject {
  const { group = '', versions = [] } = definitionOf(object.apiVersion, object.kind) ?? {};
  const version = versions[choice];
  return version === undefined ? object : { ...object, apiVersion: group === '' ? version : `${group}/${version}` };
}

function withoutUndefined(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
