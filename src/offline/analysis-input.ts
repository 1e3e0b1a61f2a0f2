// What analysis looks at, from texts of YAML or from a state: every object as received, of kinds that Periplus never
// decodes too, beside what istioctl supposes of an installation of which only files are seen.
//
// Where files hold workloads and no pod, each template stands for the pods that it will become, so that `helm template`
// can be analysed; messages about pods themselves are not made of those.
// Source: Istio pkg/config/analysis/local/istiod_analyze.go (AddDefaultResources), defaults.go.

import { X509Certificate } from 'node:crypto';
import { parseDocuments } from '../adapters/file/parse.ts';
import { type AnalysisContext, memberOf, type Received } from '../analysis/objects.ts';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { State } from '../core/state.ts';

/** Kinds whose template becomes pods, and where the template stands. */
const templates: Readonly<Record<string, readonly string[]>> = {
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
  DaemonSet: ['spec', 'template'],
  Deployment: ['spec', 'template'],
  Job: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
};

/** The objects of a text; documents that are none are reported by the state that was made of the same text. */
export function objectsOfText(cluster: string, file: string, text: string): readonly Received[] {
  const parsed = parseDocuments(file, text);
  if ('reason' in parsed) return [];
  const source = `file/${cluster}`;
  return parsed.documents
    .filter(({ errors }) => errors.length === 0)
    .flatMap(({ value, origin }) => flattened(value).map(object => ({ object, source, cluster, origin })));
}

/** Lists taken apart, those of one kind too. */
function flattened(value: Json): readonly JsonObject[] {
  if (!isObject(value)) return [];
  const { apiVersion, kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [value];
  const said = kind === 'List' ? {} : { apiVersion, kind: kind.slice(0, -'List'.length) };
  return (items as readonly Json[]).filter(isObject).flatMap(item => flattened({ ...said, ...item }));
}

/** The objects of a state: of each source the accepted version, or the refused one that nothing came before. */
export function objectsOfState(state: State): readonly Received[] {
  const found: Received[] = [];
  for (const { kind, key, source, accepted, raw, refused, origin } of state.records.values()) {
    if (accepted !== undefined && state.objects[kind].get(key) !== accepted) continue;
    const object = raw ?? refused?.raw;
    if (object === undefined) continue;
    const cluster = source.slice(source.indexOf('/') + 1);
    const from = origin ?? refused?.origin;
    found.push({ object, source, cluster, ...(from === undefined ? {} : { origin: from }) });
  }
  return found;
}

/** `objects` and a pod for each workload, unless there are pods. */
export function withPodsOfTemplates(objects: readonly Received[]): readonly Received[] {
  if (objects.some(({ object }) => object.kind === 'Pod')) return objects;
  return [...objects, ...objects.flatMap(podOfTemplate)];
}

function podOfTemplate({ object, ...from }: Received): readonly Received[] {
  const path = templates[String(object.kind)];
  const template = path === undefined ? undefined : memberOf(object, ...path);
  if (!isObject(template) || !isObject(object.metadata)) return [];
  const { name, namespace } = object.metadata;
  const metadata = isObject(template.metadata) ? template.metadata : {};
  const pod: JsonObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name, ...(namespace === undefined ? {} : { namespace }) },
    spec: template.spec ?? {},
  };
  return [{ object: pod, ...from, made: 'of-template' }];
}

const INGRESS_LABELS = { istio: 'ingressgateway' };
const INGRESS_PORTS = [
  { name: 'http2', port: 80, protocol: 'TCP', targetPort: 80 },
  { name: 'https', port: 443, protocol: 'TCP', targetPort: 443 },
  { name: 'tcp', port: 31_400, protocol: 'TCP', targetPort: 31_400 },
  { name: 'tls', port: 15_443, protocol: 'TCP', targetPort: 15_443 },
];

/** The ingress gateway that an installation has, for files that do not hold one: a pod and its Service. */
export function installedGateway({ mesh, settings }: State): readonly Received[] {
  const { ingressControllerMode, ingressService } = mesh.effective;
  if (ingressControllerMode === 'OFF') return [];
  const namespace = settings.systemNamespace;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${ingressService}-dummypod`, namespace, labels: INGRESS_LABELS },
    spec: { containers: [{ name: 'istio-proxy' }] },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: ingressService, namespace },
    spec: { ports: INGRESS_PORTS, selector: INGRESS_LABELS },
  };
  const from = { source: '', cluster: settings.clusterId, made: 'of-installation' } as const;
  return [
    { object: pod, ...from },
    { object: service, ...from },
  ];
}

/** `now`: ms since the epoch. */
export function analysisContext({ mesh, networks, settings }: State, now: number): AnalysisContext {
  return {
    mesh: mesh.effective,
    networks: networks.effective,
    domain: settings.domainSuffix,
    systemNamespace: settings.systemNamespace,
    now,
    certificateIsValid,
  };
}

/** The first certificate of a PEM text can be read and is valid at `now`. */
function certificateIsValid(pem: string, now: number): boolean {
  try {
    const { validFrom, validTo } = new X509Certificate(pem);
    return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
  } catch {
    return false;
  }
}
