// Changes that users ask for in what is deployed for a Gateway: ConfigMaps with one strategic merge patch a kind. First
// the defaults of the class, then those that the Gateway names.
//
// One mistake refuses everything: half of a deployment would be worse. Identity and ownership cannot be changed.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go (render, applyOverlay, fetchParameters).

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type JsonObject, jsonEqual } from '../../core/base/json.ts';
import { objectsOf } from '../../core/base/yaml-objects.ts';
import { byAge, type Obj } from '../../core/model/object.ts';
import type { Reader } from '../../core/query/reader.ts';
import { strategicMerge } from '../template/strategic-merge.ts';

const CLASS_DEFAULTS = 'gateway.istio.io/defaults-for-class';
const KEYS: ReadonlyMap<string, string> = new Map([
  ['Deployment', 'deployment'],
  ['HorizontalPodAutoscaler', 'horizontalPodAutoscaler'],
  ['PodDisruptionBudget', 'podDisruptionBudget'],
  ['Service', 'service'],
  ['ServiceAccount', 'serviceAccount'],
]);
/** Applied only if an overlay has something to say of them. */
const ON_DEMAND: readonly string[] = ['HorizontalPodAutoscaler', 'PodDisruptionBudget'];
const FIXED: readonly string[] = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
];

export type Overlay = Readonly<Record<string, string>>;

/** In the order in which they are laid on. */
export function overlaysOf(reader: Reader, gateway: Obj<'KubernetesGateway'>): Either<string, readonly Overlay[]> {
  const cluster = reader.setting('clusterId');
  const ofClass = [...reader.objects('ConfigMap', `${cluster}/${reader.setting('systemNamespace')}/`)]
    .filter(({ labels }) => labels[CLASS_DEFAULTS] === gateway.spec.gatewayClassName)
    .sort(byAge)
    .slice(0, 1)
    .map(({ spec }) => spec.data);
  const parameters = gateway.spec.infrastructure?.parametersRef;
  if (parameters === undefined) return right(ofClass);
  const { group, kind, name } = parameters;
  if (kind !== 'ConfigMap' || group !== '') return left(`unknown infrastructure parameters type ${group}/${kind}`);
  const own = reader.object('ConfigMap', `${cluster}/${gateway.namespace}/${name}`);
  if (own === undefined) return left(`ConfigMap ${gateway.namespace}/${name} of parametersRef does not exist`);
  return right([...ofClass, own.spec.data]);
}

/** Undefined: the object is not to be applied. */
export function overlaid(object: JsonObject, overlays: readonly Overlay[]): Either<string, JsonObject | undefined> {
  const kind = String(object.kind);
  const key = KEYS.get(kind);
  if (key === undefined) return left(`unknown overlay kind ${kind}`);
  let result = object;
  let isAsked = false;
  for (const overlay of overlays) {
    const unknown = Object.keys(overlay).find(name => ![...KEYS.values()].includes(name));
    if (unknown !== undefined)
      return left(`unsupported overlay ${unknown}; expected one of ${[...KEYS.values()].join(', ')}`);
    const text = overlay[key];
    if (text === undefined) continue;
    const patch = objectsOf(text);
    if (isLeft(patch)) return left(`overlay ${key}: ${patch.left}`);
    result = strategicMerge(result, patch.right[0] ?? {}, kind);
    isAsked = true;
  }
  if (!isAsked && ON_DEMAND.includes(kind)) return right(undefined);
  const [before, after] = [object.metadata, result.metadata].map(metadata => (isObject(metadata) ? metadata : {}));
  const isChanged = FIXED.some(member => !jsonEqual(before![member] ?? null, after![member] ?? null));
  return isChanged || after!.managedFields !== undefined ? left('illegal metadata change') : right(result);
}
