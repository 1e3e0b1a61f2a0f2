// The services of a pod, with the ports at which it serves them. Pods of one namespace with equal labels and equal
// named ports share one list: 3,000 pods of one template that 3,000 Services select cost 3,000 entries, not 9,000,000.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (matchingServicesWithoutSelectors, constructServices).

import type { Labels } from '../../base/labels.ts';
import { kubernetesHost } from '../../model/hosts.ts';
import { configKey, type Obj } from '../../model/object.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../../query/reader.ts';
import { containerPorts } from '../../registry/pods.ts';
import { SERVICE_NAME_LABEL } from '../../registry/slice-endpoints.ts';
import { labelledKey } from './peer-authentications.ts';
import type { AmbientPort, AmbientService } from './service.ts';
import { ambientServiceNamed } from './services.ts';
import { portsAt, servicesSelecting, type WorkloadService, waypointKeysOf, workloadService } from './workload.ts';

export interface PodServices {
  readonly services: readonly WorkloadService[];
  /** Of the waypoints of the services, each once. */
  readonly waypointKeys: readonly string[];
}

/** What decides which services select a pod and at which ports it serves them. */
interface PodTemplate {
  readonly namespace: string;
  readonly labels: Labels;
  /** The TCP ports that have a name, in order. */
  readonly ports: readonly (readonly [name: string, port: number])[];
}

/** Services that select the pod, then Services without a selector whose slices name it. */
export function podServicesOf(reader: Reader, pod: Obj<'Pod'>): PodServices {
  const { namespace, labels } = pod;
  const template = { namespace, labels, ports: namedPorts(pod) };
  const shared = reader.get(servicesOfTemplate, template);
  const more = servicesBySlices(reader, pod);
  if (more.length === 0) return shared;
  const own = boundTo(reader, more, template);
  return {
    services: [...shared.services, ...own.services],
    waypointKeys: [...new Set([...shared.waypointKeys, ...own.waypointKeys])],
  };
}

const servicesOfTemplate: Query<PodTemplate, PodServices> = {
  name: 'select/ambient/servicesOfTemplate',
  key: template => [labelledKey(template), ...template.ports.map(port => port.join('|'))].join(KEY_SEPARATOR),
  run: (reader, template) => boundTo(reader, [...reader.get(servicesByHost, template).values()], template),
};

function boundTo(reader: Reader, services: readonly AmbientService[], { ports }: PodTemplate): PodServices {
  // Of ports with one name the first counts.
  const numbers = new Map([...ports].reverse());
  return {
    services: services.map(service =>
      reader.make(
        workloadService,
        portsAt(service, port => targetIn(numbers, service, port)),
      ),
    ),
    waypointKeys: waypointKeysOf(services),
  };
}

/** Those that select the labels, by hostname. */
const servicesByHost: Query<Omit<PodTemplate, 'ports'>, ReadonlyMap<string, AmbientService>> = {
  name: 'select/ambient/servicesByHost',
  key: labelledKey,
  run: (reader, { namespace, labels }) => {
    const all = reader.get(servicesSelecting, { namespace, labels });
    const selecting = reader.feature('PILOT_ENABLE_SERVICEENTRY_SELECT_PODS')
      ? all
      : all.filter(({ registry }) => registry === 'Service');
    return new Map(selecting.map(service => [service.hostname, service] as const));
  },
};

function servicesBySlices(reader: Reader, pod: Obj<'Pod'>): readonly AmbientService[] {
  const { cluster, namespace, name, labels } = pod;
  const slices = reader.indexed('slicesByPod', `${cluster}/${namespace}/${name}`);
  if (slices.length === 0) return [];
  const selecting = reader.get(servicesByHost, { namespace, labels });
  const found = new Map<string, AmbientService>();
  for (const slice of slices) {
    const of = slice.labels[SERVICE_NAME_LABEL];
    if (of === undefined || slice.spec.addressType === 'FQDN') continue;
    const host = kubernetesHost(of, slice.namespace, reader.setting('domainSuffix'));
    if (selecting.has(host)) continue;
    const service = reader.get(ambientServiceNamed, configKey(slice.namespace, host));
    if (service?.registry === 'Service') found.set(host, service);
  }
  return [...found.values()];
}

function namedPorts(pod: Obj<'Pod'>): PodTemplate['ports'] {
  return containerPorts(pod).flatMap(({ name, protocol, containerPort }) =>
    protocol === 'TCP' && name !== '' ? [[name, containerPort] as const] : [],
  );
}

/** Undefined: the pod has no port of that name. */
function targetIn(
  numbers: ReadonlyMap<string, number>,
  { registry }: AmbientService,
  { name, targetName, targetPort }: AmbientPort,
): number | undefined {
  if (targetName !== '') return numbers.get(targetName);
  if (registry === 'Service') return targetPort;
  return numbers.get(name) ?? targetPort;
}
