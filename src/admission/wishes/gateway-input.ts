// What the template of a managed Gateway is given: the Gateway itself, names, ports, and what decides its proxies.
// Members carry the names of Istio's TemplateInput, because the templates of an installation are written for it.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/deploymentcontroller.go (configureIstioGateway, render).

import type { JsonObject } from '../../core/base/json.ts';
import type { Obj } from '../../core/model/object.ts';
import type { Reader } from '../../core/query/reader.ts';
import { effectiveProxyConfig, proxyConfigLevels } from '../../core/select/proxy/effective-proxy-config.ts';
import type { ClassInfo } from '../../core/translate/gateway-api/classes.ts';
import { listenerSetsOf, translatedListenerSet } from '../../core/translate/gateway-api/gateways.ts';
import { defaultName, NAME_OVERRIDE, SERVICE_ACCOUNT_OVERRIDE } from '../../core/translate/gateway-api/services.ts';
import { proxyImage } from '../inject/images.ts';
import { nativeSidecarMode } from '../inject/native.ts';
import { proxyIdsOf } from '../inject/openshift.ts';
import { textAt } from '../inject/pod.ts';
import { meshJson, proxyConfigJson } from '../inject/template-data.ts';
import type { Value } from '../template/value.ts';
import { StructView, TextMapView } from '../template/views.ts';

const NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';
const OWN_PREFIX = 'gateway.networking.k8s.io/';
const SERVICE_TYPE = 'networking.istio.io/service-type';
const NETWORK_LABEL = 'topology.istio.io/network';
const DATAPLANE_MODE = 'istio.io/dataplane-mode';
const PORT_NAME_CHARS_MAX = 63;
/** Kubernetes 1.28, from which on a ServiceAccount with an owner is safe; no supported server is older. */
const KUBE_VERSION = 128n;

type Gateway = Obj<'KubernetesGateway'>;
type Texts = Readonly<Record<string, string>>;

export function namesOfGateway(
  gateway: Gateway,
  info: ClassInfo,
): { readonly deployment: string; readonly account: string } {
  const usual = defaultName(gateway, info);
  const { annotations } = gateway;
  return { deployment: annotations[NAME_OVERRIDE] || usual, account: annotations[SERVICE_ACCOUNT_OVERRIDE] || usual };
}

export function gatewayInput(reader: Reader, gateway: Gateway, info: ClassInfo, values: JsonObject): Value {
  const { name, namespace, uid, labels, annotations, spec } = gateway;
  const names = namesOfGateway(gateway, info);
  const target = { namespace, labels: { [NAME_LABEL]: name } };
  const proxyConfig = effectiveProxyConfig(proxyConfigLevels(reader, namespace), target);
  const ids = proxyIdsOf(reader, { metadata: { namespace } });
  return new StructView(
    {},
    {
      Name: name,
      Namespace: namespace,
      UID: uid,
      Labels: new TextMapView(labels),
      Annotations: new TextMapView(annotations),
      ObjectMeta: new StructView({ name, namespace, uid, labels, annotations }),
      Spec: new StructView(spec as unknown as JsonObject),
      GatewayClass: spec.gatewayClassName,
      DeploymentName: names.deployment,
      ServiceAccount: names.account,
      Ports: portsOf(reader, gateway, info).map(port => new StructView(port)),
      ClusterID: reader.setting('clusterId'),
      KubeVersion: KUBE_VERSION,
      Revision: reader.setting('revision'),
      NativeSidecars: nativeSidecarMode(reader) !== 'disabled',
      ServiceType: annotations[SERVICE_TYPE] ?? info.serviceType,
      ProxyUID: ids.uid,
      ProxyGID: ids.gid,
      CompliancePolicy: reader.feature('COMPLIANCE_POLICY'),
      InfrastructureLabels: new TextMapView(infrastructureLabels(reader, gateway, values)),
      InfrastructureAnnotations: new TextMapView(infrastructure(reader, annotations, spec.infrastructure?.annotations)),
      GatewayNameLabel: NAME_LABEL,
      IsEastWestGateway: info.role === 'eastWest',
      ControllerLabel: info.controller.replaceAll('/', '-'),
      ProxyImage: proxyImage(values, proxyConfig.image, annotations),
      ProxyConfig: new StructView(proxyConfigJson(proxyConfig)),
      MeshConfig: new StructView(meshJson(reader)),
      Values: values as { readonly [member: string]: Value },
    },
    'Gateway',
  );
}

/** The status port, then each port of a listener once; the first name counts. */
function portsOf(reader: Reader, gateway: Gateway, info: ClassInfo): readonly JsonObject[] {
  const sets = info.takesListenerSets ? reader.get(listenerSetsOf, `${gateway.namespace}/${gateway.name}`) : [];
  const ofSets = sets.flatMap(key => {
    const set = reader.object('ListenerSet', key);
    return reader.get(translatedListenerSet, key)?.refused === undefined ? (set?.spec.listeners ?? []) : [];
  });
  const ports = new Map<number, JsonObject>();
  for (const { name, port = 0, protocol } of [...gateway.spec.listeners, ...ofSets]) {
    const portName = name.replaceAll('.', '-').slice(0, PORT_NAME_CHARS_MAX);
    if (!ports.has(port)) ports.set(port, { name: portName, port, appProtocol: protocol.toLowerCase() });
  }
  return [{ name: 'status-port', port: 15_021, appProtocol: 'tcp' }, ...ports.values()];
}

/** What the Gateway says of its infrastructure, else its own labels or annotations. */
function infrastructure(reader: Reader, own: Texts, asked: Texts | undefined): Texts {
  if (asked !== undefined) {
    return Object.fromEntries(Object.entries(asked).filter(([key]) => !key.startsWith(OWN_PREFIX)));
  }
  return reader.feature('PILOT_ENABLE_GATEWAY_API_COPY_LABELS_ANNOTATIONS') ? own : {};
}

function infrastructureLabels(reader: Reader, { labels, spec }: Gateway, values: JsonObject): Texts {
  const asked = infrastructure(reader, labels, spec.infrastructure?.labels);
  // By the name of the class, whatever its controller, as in istiod.
  const isOfWaypoint = /waypoint|east-west/.test(spec.gatewayClassName);
  const waypoints = reader.feature('PILOT_ENABLE_AMBIENT') && reader.feature('PILOT_ENABLE_AMBIENT_WAYPOINTS');
  const isPlain = !isOfWaypoint && labels[DATAPLANE_MODE] === undefined && asked[DATAPLANE_MODE] === undefined;
  const network = textAt(values, 'global', 'network');
  const needsNetwork = isOfWaypoint && labels[NETWORK_LABEL] === undefined && network !== '';
  return {
    ...asked,
    ...(waypoints && isPlain ? { [DATAPLANE_MODE]: 'none' } : {}),
    ...(needsNetwork ? { [NETWORK_LABEL]: network } : {}),
  };
}
