// A service of another registry and its instances, and the facts they become: one ServiceEntry that selects workloads,
// and one WorkloadEntry an instance, so that a flapping instance costs one small fact. All of Istio's configuration
// applies to its host.
//
// Names follow from the registry's own keys, with a hash because two keys can be written as one name. Two sources that
// know one service (a Consul of two datacenters) give one ServiceEntry, and its instances add up.

import { createHash } from 'node:crypto';
import { isIp } from '../../core/base/ip.ts';
import { WORKLOAD_NAME_LABEL } from '../../core/base/labels.ts';
import { trimmed } from '../../core/base/trim.ts';
import type { RawObject } from '../../core/event.ts';
import { fqdnProblem, isLabel } from '../../core/kinds/istio/validate/hosts.ts';

export interface RegistryPort {
  readonly name: string;
  readonly number: number;
  /** A protocol of Istio, e.g. HTTP, GRPC, TCP. */
  readonly protocol: string;
}

export interface RegistryInstance {
  /** Unique among the instances of the service. */
  readonly id: string;
  /** An IP address or a host name. */
  readonly address: string;
  /** By port name; absent: the number of the service's port. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Those that Kubernetes would not take are left out. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `region/zone/subzone` */
  readonly locality?: string;
  readonly network?: string;
  readonly weight?: number;
  /** The account of a sidecar beside it; absent: there is no sidecar, and traffic to it is plain text. */
  readonly serviceAccount?: string;
}

export interface RegistryService {
  /** Its key in the registry. */
  readonly name: string;
  /** The host that VirtualServices and DestinationRules name, e.g. `reviews.service.consul`. */
  readonly host: string;
  readonly ports: readonly RegistryPort[];
  readonly isExternal?: boolean;
  /** When it was created by the clock of the registry, RFC 3339; absent: unknown. */
  readonly createdAt?: string;
  readonly instances: readonly RegistryInstance[];
}

const API = 'networking.istio.io/v1';
/** Selects the WorkloadEntries of a ServiceEntry. */
export const SERVICE_LABEL = 'periplus.io/registry-service';
const CANONICAL_NAME = 'service.istio.io/canonical-name';
const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const LABEL_LENGTH_MAX = 63;
const NAME_LENGTH_MAX = 54;

/** What has to hold before a service can become objects; empty: it can. */
export function problemsOf({ host, ports }: RegistryService): readonly string[] {
  const problem = fqdnProblem(host);
  const found = problem === undefined ? [] : [`the host ${problem}`];
  if (ports.length === 0) found.push('no instance has a port');
  for (const { name, number } of ports) {
    if (!isLabel(name)) found.push(`the port name "${name}" is not a DNS label`);
    if (!isPort(number)) found.push(`the port ${number} is not a number from 1 to 65535`);
  }
  return found;
}

/** The ServiceEntry first, then the WorkloadEntries by instance. `registry`: the kind of registry, e.g. `consul`. */
export function objectsOf(
  service: RegistryService,
  { registry, source, namespace }: { readonly registry: string; readonly source: string; readonly namespace: string },
): readonly RawObject[] {
  const name = mangled(service.name, `${registry}/${service.name}`);
  const entry: RawObject = {
    apiVersion: API,
    kind: 'ServiceEntry',
    metadata: { name, namespace, ...createdOf(service) },
    spec: {
      hosts: [service.host],
      ports: service.ports.map(({ name: port, number, protocol }) => ({ name: port, number, protocol })),
      location: service.isExternal === true ? 'MESH_EXTERNAL' : 'MESH_INTERNAL',
      resolution: service.instances.every(({ address }) => isIp(address)) ? 'STATIC' : 'DNS',
      workloadSelector: { labels: { [SERVICE_LABEL]: name } },
    },
  };
  const workloads = service.instances
    .filter(({ weight }) => weight !== 0)
    .map(instance => workloadOf(instance, service, { entry: name, source, namespace }));
  return [entry, ...workloads];
}

function workloadOf(
  { id, address, ports, labels = {}, locality, network, weight, serviceAccount }: RegistryInstance,
  service: RegistryService,
  { entry, source, namespace }: { readonly entry: string; readonly source: string; readonly namespace: string },
): RawObject {
  const workload = labels.app ?? service.name;
  const named = isLegalLabel(WORKLOAD_NAME_LABEL, workload)
    ? { [WORKLOAD_NAME_LABEL]: workload, [CANONICAL_NAME]: workload }
    : {};
  const legal = Object.entries(labels).filter(([key, value]) => isLegalLabel(key, value));
  return {
    apiVersion: API,
    kind: 'WorkloadEntry',
    metadata: {
      name: mangled(service.name, [source, service.name, id].join('\n')),
      namespace,
      labels: { ...named, ...Object.fromEntries(legal), [SERVICE_LABEL]: entry },
      ...createdOf(service),
    },
    spec: {
      address,
      ...(ports === undefined ? {} : { ports }),
      ...(locality === undefined ? {} : { locality }),
      ...(network === undefined ? {} : { network }),
      ...(weight === undefined ? {} : { weight }),
      ...(serviceAccount === undefined ? {} : { serviceAccount }),
    },
  };
}

/** An absent time counts as zero; the time of arrival would make the order of equal rules depend on restarts. */
function createdOf({ createdAt }: RegistryService): { readonly creationTimestamp?: string } {
  return createdAt === undefined ? {} : { creationTimestamp: createdAt };
}

function isPort(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number <= 65_535;
}

function isLegalLabel(key: string, value: string): boolean {
  const [prefix, name] = key.includes('/')
    ? [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)]
    : ['', key];
  const fits = prefix.length <= 253 && name.length <= LABEL_LENGTH_MAX && value.length <= LABEL_LENGTH_MAX;
  return fits && LABEL_KEY.test(key) && LABEL_VALUE.test(value);
}

/** A DNS label that tells a reader which service it is, made unique by the hash of the exact key. */
function mangled(text: string, key: string): string {
  const label = text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const readable = trimmed(label.slice(0, NAME_LENGTH_MAX), '-');
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return readable === '' ? `s-${digest}` : `${readable}-${digest}`;
}
