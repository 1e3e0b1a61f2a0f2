// What is deployed for a managed Gateway: ServiceAccount, Deployment, Service, on demand HorizontalPodAutoscaler and
// PodDisruptionBudget, by server-side apply under istiod's names, labels and field manager.
//
// An object that is there without the label of managed ones belongs to a user and is left alone. Nothing is deleted:
// the Gateway owns what is made for it. A Gateway whose rendering fails wishes for nothing at all.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go.

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { objectsOf } from '../../core/base/yaml-objects.ts';
import type { KindName } from '../../core/model/kind.ts';
import type { Obj } from '../../core/model/object.ts';
import type { Query, Reader } from '../../core/query/reader.ts';
import { type ClassInfo, type ClassRole, classNamed } from '../../core/translate/gateway-api/classes.ts';
import { isManaged } from '../../core/translate/gateway-api/services.ts';
import type { WishFeature } from '../../core/wishes/table.ts';
import type { Wish } from '../../core/wishes/wish.ts';
import { injectorSetup } from '../inject/setup.ts';
import { runTemplate } from '../template/template.ts';
import { gatewayInput, namesOfGateway } from './gateway-input.ts';
import { overlaid, overlaysOf } from './gateway-overlays.ts';
import { isMine } from './mine.ts';
import { withCanonicalQuantities } from './quantities.ts';

const MANAGED_LABEL = 'gateway.istio.io/managed';
const VERSION = 'gateway.istio.io/controller-version';
/** The version of this controller's logic; a Gateway of a later one is another's. */
const OUR_VERSION = 5;
const TEMPLATES: Readonly<Record<ClassRole, string>> = {
  gateway: 'kube-gateway',
  remote: '',
  waypoint: 'waypoint',
  eastWest: 'waypoint',
};
const KINDS = ['ServiceAccount', 'Deployment', 'Service', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'] as const;
type OwnedKind = (typeof KINDS)[number];

const CONTAINERS = 'spec.template.spec.containers';
/** Lists of which the API server fills in members of the elements. */
const LIST_KEYS: Readonly<Record<string, string>> = {
  [CONTAINERS]: 'name',
  [`${CONTAINERS}[].env`]: 'name',
  [`${CONTAINERS}[].ports`]: 'containerPort',
  [`${CONTAINERS}[].volumeMounts`]: 'mountPath',
  'spec.template.spec.volumes': 'name',
  'spec.template.spec.volumes[].downwardAPI.items': 'path',
  'spec.ports': 'port',
  'metadata.ownerReferences': 'uid',
};

const all: Query<'', readonly Wish[]> = {
  name: 'wishes-gateway-deployments',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_GATEWAY_API')) return [];
    if (!reader.feature('PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER')) return [];
    return reader
      .objects('KubernetesGateway')
      .flatMap(({ namespace, name }) => reader.get(ofGateway, `${namespace}/${name}`));
  },
};

export const gatewayDeployments: WishFeature = {
  query: all,
  observes: KINDS.map(kind => ({ kind, parts: kind === 'ServiceAccount' ? [] : ['spec'] })),
};

const ofGateway: Query<string, readonly Wish[]> = {
  name: 'wishes-gateway-deployment',
  run: (reader, key) => {
    const objects = reader.get(gatewayObjects, key);
    const gateway = reader.object('KubernetesGateway', key);
    if (gateway === undefined || isLeft(objects)) return [];
    const manager = reader.feature('PILOT_GATEWAY_API_CONTROLLER_NAME');
    return objects.right
      .filter(object => isOurs(reader, gateway, object))
      .map(object => wishFor(reader, object, manager));
  },
};

/** Argument `namespace/name`. The objects to be applied; left: why there are none. */
export const gatewayObjects: Query<string, Either<string, readonly JsonObject[]>> = {
  name: 'gateway-objects',
  run: (reader, key) => {
    const gateway = reader.object('KubernetesGateway', key);
    const info = gateway === undefined ? undefined : classNamed(reader, gateway.spec.gatewayClassName);
    if (gateway === undefined || info === undefined || !isHandled(reader, gateway, info)) return right([]);
    const setup = reader.get(injectorSetup, '');
    if (isLeft(setup)) return left(setup.left);
    const name = TEMPLATES[info.role];
    const template = setup.right.templates[name];
    if (template === undefined) return left(`no template ${name} is defined`);
    const text = runTemplate(template, gatewayInput(reader, gateway, info, setup.right.values));
    if (isLeft(text)) return left(`template ${name}: ${text.left}`);
    const documents = objectsOf(text.right);
    if (isLeft(documents)) return left(`template ${name}: ${documents.left}`);
    const overlays = overlaysOf(reader, gateway);
    return isLeft(overlays) ? overlays : applicable(gateway, info, documents.right, overlays.right);
  },
};

function isHandled(reader: Reader, gateway: Obj<'KubernetesGateway'>, info: ClassInfo): boolean {
  if (TEMPLATES[info.role] === '' || !isManaged(reader, gateway.spec) || !isMine(reader, gateway)) return false;
  const object = reader.object('GatewayClass', `/${gateway.spec.gatewayClassName}`);
  if (object !== undefined && object.spec.controllerName !== info.controller) return false;
  const version = gateway.annotations[VERSION];
  return version === undefined || (/^\d+$/.test(version) && Number(version) <= OUR_VERSION);
}

function applicable(
  gateway: Obj<'KubernetesGateway'>,
  info: ClassInfo,
  documents: readonly JsonObject[],
  overlays: Parameters<typeof overlaid>[1],
): Either<string, readonly JsonObject[]> {
  const names = namesOfGateway(gateway, info);
  const found: JsonObject[] = [];
  for (const document of documents) {
    const object = overlaid(document, overlays);
    if (isLeft(object)) return object;
    if (object.right === undefined) continue;
    const metadata = isObject(object.right.metadata) ? object.right.metadata : {};
    const name = String(metadata.name);
    if (metadata.namespace !== gateway.namespace) return left(`${name} is not of the namespace ${gateway.namespace}`);
    if (name !== names.deployment && name !== names.account && !name.startsWith(gateway.name)) {
      return left(`the name ${name} does not belong to the Gateway`);
    }
    const labels = isObject(metadata.labels) ? metadata.labels : {};
    const managed = { ...labels, [MANAGED_LABEL]: info.controller.replaceAll('/', '-') };
    found.push({ ...object.right, metadata: { ...metadata, labels: managed } });
  }
  return right(found);
}

function isOurs(reader: Reader, { namespace }: Obj<'KubernetesGateway'>, { kind, metadata }: JsonObject): boolean {
  const owned = KINDS.find(one => one === kind);
  const name = isObject(metadata) ? String(metadata.name) : '';
  if (owned === undefined) return false;
  const there = reader.object<KindName>(owned, `${reader.setting('clusterId')}/${namespace}/${name}`);
  return there === undefined || there.labels[MANAGED_LABEL] !== undefined;
}

function wishFor(reader: Reader, object: JsonObject, manager: string): Wish {
  const { apiVersion: _, kind, metadata, ...rest } = object;
  const { name, namespace, ...meta } = isObject(metadata) ? metadata : {};
  const fields = withCanonicalQuantities({ metadata: meta, ...rest } as Json);
  return {
    cluster: reader.setting('clusterId'),
    kind: kind as OwnedKind,
    namespace: String(namespace),
    name: String(name),
    subresource: '',
    manager,
    fields: fields as JsonObject,
    verb: 'apply',
    gate: 'istio-gateway-deployment',
    listKeys: LIST_KEYS,
  };
}
