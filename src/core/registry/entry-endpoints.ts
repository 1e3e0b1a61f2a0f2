// Endpoints of a ServiceEntry: those it lists, or the workloads it selects, or the host itself for a name that the
// proxy resolves. Source: Istio pilot/pkg/serviceregistry/serviceentry/conversion.go.

import { canonicalJson } from '../base/json.ts';
import { type Labels, selects } from '../base/labels.ts';
import { compareText, type Obj } from '../model/object.ts';
import { withoutTopology } from '../model/selection.ts';
import type { Endpoint, EndpointHealth } from '../model/service.ts';
import type { Generator } from '../query/memo.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../query/reader.ts';
import type { ServiceEntry, ServicePort } from '../schema/istio-types.gen.ts';
import { workloadsInForce } from './endpoint-limits.ts';
import { endpointOf } from './endpoint-of.ts';
import { containerPort, isEligible, isReady, podWorkload, type Workload } from './pods.ts';
import { candidateEntries, candidatePods, remoteCandidates } from './selecting.ts';
import {
  type AnyWorkloadEntry,
  type EntryWorkload,
  needsNoName,
  workloadOfAny,
  workloadOfEntry,
} from './workload-entry.ts';

/** A workload that may stand behind a ServiceEntry; `portOf` is its number for a port of the entry. */
interface Instance {
  readonly workload: Workload;
  readonly weight: number;
  /** The health of a WorkloadEntry or of a host is unknown; a selected Pod counts as ready. */
  readonly health: EndpointHealth;
  readonly portOf: (port: ServicePort) => number | undefined;
}

/** One host of a ServiceEntry. */
interface EntryHost {
  /** `namespace/name` of the ServiceEntry. */
  readonly entry: string;
  readonly host: string;
}

const entryHostKey = ({ entry, host }: EntryHost): string => `${entry}${KEY_SEPARATOR}${host}`;

/**
 * The endpoints of one service of a ServiceEntry, by port, for each port by workload. Services with the same ones have
 * the identical list: all hosts of an entry, and all entries of a namespace that select alike and have equal ports.
 */
export const endpointsOfEntry: Query<EntryHost, readonly Endpoint[]> = {
  name: 'registry/endpointsOfEntry',
  key: entryHostKey,
  run: (reader, { entry: name, host }) => {
    const entry = reader.object('ServiceEntry', name);
    if (entry === undefined) return [];
    const { spec, namespace } = entry;
    const ports = spec.ports ?? [];
    if (spec.workloadSelector !== undefined) {
      return reader.get(selectedEndpoints, { ...selectingOf(entry), ports, most: mostOf(reader, entry) });
    }
    if ((spec.endpoints ?? []).length > 0) return reader.get(inlineEndpoints, name);
    if (!isDns(spec)) return [];
    const workload = reader.get(hostWorkload, { namespace, name: entry.name, host });
    return endpointsAt(reader, ports, [{ workload, weight: 1, health: 'Unset', portOf: () => undefined }]);
  },
};

function endpointsAt(
  reader: Reader,
  ports: readonly ServicePort[],
  instances: readonly Instance[],
): readonly Endpoint[] {
  const found: Endpoint[] = [];
  for (const port of ports) {
    for (const { workload, weight, health, portOf } of instances) {
      const address = workload.addresses[0] ?? '';
      const number = address.startsWith('unix://') ? 0 : portOf(port) || port.targetPort || port.number || 0;
      found.push(
        reader.make(endpointOf, {
          addresses: workload.addresses,
          port: number,
          portName: port.name ?? '',
          servicePort: port.number ?? 0,
          workload,
          weight,
          health,
        }),
      );
    }
  }
  return found;
}

/** Argument `namespace/name` of a ServiceEntry that lists its endpoints. */
const inlineEndpoints: Query<string, readonly Endpoint[]> = {
  name: 'registry/inlineEndpoints',
  run: (reader, key) => {
    const entry = reader.object('ServiceEntry', key);
    if (entry === undefined) return [];
    const { namespace, name, spec } = entry;
    const inline = spec.endpoints ?? [];
    const instances = inline.map((_, index) => fromEntry(reader.get(inlineWorkload, { namespace, name, index })));
    return endpointsAt(reader, spec.ports ?? [], instances);
  },
};

/** What decides the endpoints that a ServiceEntry selects. */
interface Selecting {
  readonly namespace: string;
  readonly selector: Labels;
  readonly isDns: boolean;
}

function isDns({ resolution }: ServiceEntry): boolean {
  return resolution === 'DNS' || resolution === 'DNS_ROUND_ROBIN';
}

function selectingOf({ namespace, spec }: Obj<'ServiceEntry'>): Selecting {
  return { namespace, selector: spec.workloadSelector?.labels ?? {}, isDns: isDns(spec) };
}

const selectingKey = ({ namespace, selector, isDns }: Selecting): string =>
  `${namespace}|${isDns}|${canonicalJson(selector)}`;

/** `most`: the first workloads that become endpoints; undefined: all. */
const selectedEndpoints: Query<
  Selecting & { readonly ports: readonly ServicePort[]; readonly most: number | undefined },
  readonly Endpoint[]
> = {
  name: 'registry/selectedEndpoints',
  key: of => [selectingKey(of), of.most ?? '', ...of.ports.map(portKey)].join(KEY_SEPARATOR),
  run: (reader, { namespace, selector, isDns, ports, most }) =>
    endpointsAt(reader, ports, reader.get(selectedInstances, { namespace, selector, isDns }).slice(0, most)),
};

/** How many of the workloads that the entry selects become endpoints, each for every host, address and port. */
function mostOf(reader: Reader, entry: Obj<'ServiceEntry'>): number | undefined {
  const { hosts = [], addresses = [], ports = [] } = entry.spec;
  const selected = reader.get(selectedInstances, selectingOf(entry)).length;
  return workloadsInForce(selected, hosts.length * Math.max(1, addresses.length) * ports.length);
}

/** Argument ''. ServiceEntries that select more workloads than may become endpoints, and how many may. */
export const entriesPastLimit: Query<'', ReadonlyMap<string, number>> = {
  name: 'registry/entriesPastLimit',
  run: reader => {
    const found = new Map<string, number>();
    for (const entry of reader.objects('ServiceEntry')) {
      const most = entry.spec.workloadSelector === undefined ? undefined : mostOf(reader, entry);
      if (most !== undefined) found.set(`${entry.namespace}/${entry.name}`, most);
    }
    return found;
  },
};

/** What `endpointsAt` reads of a port. */
const portKey = ({ name, number, targetPort }: ServicePort): string =>
  `${name ?? ''}${KEY_SEPARATOR}${number ?? 0}|${targetPort ?? 0}`;

/** The endpoint at an index of `spec.endpoints` of a ServiceEntry. */
const inlineWorkload: Query<
  { readonly namespace: string; readonly name: string; readonly index: number },
  EntryWorkload
> = {
  name: 'registry/inlineWorkload',
  key: ({ namespace, name, index }) => `${namespace}/${name}/${index}`,
  run: (reader, { namespace, name, index }) => {
    const spec = reader.object('ServiceEntry', `${namespace}/${name}`)?.spec.endpoints?.[index] ?? {};
    return workloadOfEntry(reader, spec, spec.labels ?? {}, namespace, `${name}-${index}`);
  },
};

/** The host itself as a workload, for names that the proxy resolves. */
const hostWorkload: Query<{ readonly namespace: string; readonly name: string; readonly host: string }, Workload> = {
  name: 'registry/hostWorkload',
  key: ({ namespace, name, host }) => `${namespace}/${name}/${host}`,
  run: (reader, { namespace, name, host }) => {
    return {
      namespace,
      labels: {},
      serviceAccount: '',
      locality: '',
      network: '',
      cluster: reader.setting('clusterId'),
      workloadName: name,
      nodeName: '',
      hostname: '',
      subdomain: '',
      tlsMode: 'disabled',
      addresses: [host],
    };
  },
};

/**
 * Pods, then WorkloadEntries of the namespace, both of all clusters and by name. Addresses that are no IPs only where
 * names are resolved.
 */
const selectedInstances: Query<Selecting, readonly Instance[]> = {
  name: 'registry/selectedInstances',
  key: selectingKey,
  run: (reader, { namespace, selector, isDns }) => {
    const pods: Instance[] = [];
    const selectsPods = reader.feature('PILOT_ENABLE_SERVICEENTRY_SELECT_PODS');
    const candidates = selectsPods ? candidatePods(reader, namespace, selector) : [];
    const ofPods = withoutTopology(selector);
    for (const pod of candidates) {
      if (!selects(ofPods, pod.labels) || !isEligible(pod) || !isReady(pod)) continue;
      const workload = reader.get(podWorkload, `${pod.cluster}/${pod.namespace}/${pod.name}`);
      if (workload === undefined || !selects(selector, workload.labels)) continue;
      const isWhole = workload.addresses.length <= 1 || reader.feature('ISTIO_DUAL_STACK');
      const chosen = isWhole ? workload : reader.make(atFirstAddress, { workload });
      pods.push({ workload: chosen, weight: 1, health: 'Healthy', portOf: podPort(pod) });
    }
    const entries: Instance[] = [];
    for (const obj of machinesNamed(reader, namespace, selector)) {
      const workload = workloadOfAny(reader, obj);
      if (workload === undefined || !selects(selector, workload.labels)) continue;
      if (isDns || needsNoName(workload)) entries.push(fromEntry(workload));
    }
    return [...pods, ...entries];
  },
};

const atFirstAddress: Generator<{ readonly workload: Workload }, Workload> = {
  name: 'registry/atFirstAddress',
  run: ({ workload }) => ({ ...workload, addresses: workload.addresses.slice(0, 1) }),
};

/** WorkloadEntries of the config cluster and of remote ones by name; of one name, that of the config cluster first. */
function machinesNamed(reader: Reader, namespace: string, selector: Labels): readonly AnyWorkloadEntry[] {
  const own = candidateEntries(reader, namespace, selector);
  const remote = remoteCandidates(reader, namespace, selector);
  return remote.length === 0 ? own : [...own, ...remote].sort((a, b) => compareText(a.name, b.name));
}

function podPort(pod: Obj<'Pod'>): Instance['portOf'] {
  return port => containerPort(pod, port.name ?? '', 'TCP');
}

function fromEntry(workload: EntryWorkload): Instance {
  const ports = new Map(Object.entries(workload.ports));
  return { workload, weight: workload.weight, health: 'Unset', portOf: port => ports.get(port.name ?? '') };
}
