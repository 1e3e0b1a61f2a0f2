// The nodes of the mesh's graph: workloads by their proxies, services by their hosts, and destinations that do not
// exist. Each with what its proxies' configuration tells: mTLS, policies, refusals.

import type { Obj } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import { inboundMtlsMode } from '../core/select/policy/peer-authentication.ts';
import type { State } from '../core/state.ts';
import { rulesOf } from '../xds/session/types.ts';
import type { Guards } from './access/guards.ts';
import type { GraphNode, GraphProblem } from './answers.ts';
import { type Workload, workloadsOf } from './graph-workloads.ts';
import { workloadOf } from './proxies.ts';
import { refusalReason } from './refusal-reason.ts';

/** What Envoy refused of what its proxy was sent last. */
export interface Refusal {
  readonly workload: Workload;
  readonly problem: GraphProblem;
}

const MTLS = { STRICT: 'strict', PERMISSIVE: 'permissive', DISABLE: 'plaintext' } as const;

export class GraphNodes {
  readonly workloads: readonly Workload[];
  /** Host → namespace and kind. */
  readonly services: ReadonlyMap<string, { readonly namespace: string; readonly kind: 'service' | 'external' }>;
  readonly namespaces: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly #tracker: Tracker;
  readonly #state: State;
  readonly #byAddress = new Map<string, string>();
  readonly #byId = new Map<string, Workload>();
  readonly #missing = new Map<string, string>();
  /** Service → addresses of its endpoints; and the workloads behind it. */
  readonly #endpoints = new Map<string, Set<string>>();
  readonly #backers = new Map<string, Set<string>>();

  constructor(tracker: Tracker, state: State, proxies: readonly ProxyRecord[]) {
    this.#tracker = tracker;
    this.#state = state;
    this.workloads = workloadsOf(proxies);
    for (const workload of this.workloads) {
      this.#byId.set(workload.id, workload);
      for (const { facets } of workload.proxies) for (const ip of facets.ips) this.#byAddress.set(ip, workload.id);
    }
    this.services = servicesOf(state);
    const all = [...this.workloads, ...this.services.values()].map(({ namespace }) => namespace);
    this.namespaces = [...new Set(all)].filter(namespace => namespace !== '').sort();
    this.refusals = this.workloads.flatMap(refusalsOf);
  }

  /** Undefined: no service has the host. */
  serviceOf(host: string): string | undefined {
    return this.services.has(host) ? `service/${host}` : undefined;
  }

  missing(cluster: string): string {
    this.#missing.set(`cluster/${cluster}`, cluster);
    return `cluster/${cluster}`;
  }

  namespaceOf(id: string): string {
    const workload = this.#byId.get(id);
    if (workload !== undefined) return workload.namespace;
    return id.startsWith('service/') ? (this.services.get(id.slice('service/'.length))?.namespace ?? '') : '';
  }

  workload(id: string): Workload | undefined {
    return this.#byId.get(id);
  }

  /** The workloads with these addresses; remembered for the node of the service. */
  backersOf(service: string, addresses: Iterable<string>): readonly string[] {
    const found = new Set<string>();
    const endpoints = this.#endpoints.get(service) ?? new Set();
    this.#endpoints.set(service, endpoints);
    const backers = this.#backers.get(service) ?? new Set();
    this.#backers.set(service, backers);
    for (const address of addresses) {
      endpoints.add(address);
      const workload = this.#byAddress.get(address);
      if (workload === undefined) continue;
      found.add(workload);
      backers.add(workload);
    }
    return [...found];
  }

  /** `problems`: those of each node as it is shown. `missingMax`: of destinations that do not exist. */
  shown(
    folded: ReadonlySet<string>,
    problems: ReadonlyMap<string, Pick<GraphNode, 'problems' | 'problemsLeftOut'>>,
    guards: Guards,
    missingMax: number,
  ): readonly GraphNode[] {
    const isShown = ({ namespace }: { readonly namespace: string }): boolean => !folded.has(namespace);
    const workloads = this.workloads.filter(isShown).map(one => this.#workloadNode(one, guards));
    const services = [...this.services]
      .filter(([, service]) => isShown(service))
      .map(([host, { namespace, kind }]) => this.#serviceNode(host, namespace, kind));
    const missing = [...this.#missing]
      .slice(0, missingMax)
      .map(([id, title]): GraphNode => ({ ...NOTHING, id, kind: 'missing', title, namespace: '' }));
    const namespaces = [...folded].sort().map((namespace): GraphNode => {
      const of = [...this.workloads, ...this.services.values()].filter(one => one.namespace === namespace);
      const id = `namespace/${namespace}`;
      return { ...NOTHING, id, kind: 'namespace', title: namespace, namespace, count: of.length };
    });
    return [...namespaces, ...workloads, ...services, ...missing].map(node => ({ ...node, ...problems.get(node.id) }));
  }

  #workloadNode(workload: Workload, guards: Guards): GraphNode {
    const { id, namespace, proxies } = workload;
    const [proxy] = proxies as readonly [ProxyRecord];
    const isRouter = proxy.facets.type === 'router';
    const { gate, policies: listed } = guards.of(workload);
    const policies = new Set(listed.map(({ action, policy }) => `${action} ${policy}`));
    return {
      id,
      kind: isRouter ? 'gateway' : 'workload',
      title: workloadOf(proxy),
      namespace,
      proxies: proxies.map(({ facets }) => facets.id),
      count: proxies.length,
      mtls: isRouter ? 'unknown' : this.#mtlsOf(proxy, gate.ports),
      policies: [...policies].sort(),
      problems: [],
      problemsLeftOut: 0,
    };
  }

  #mtlsOf(proxy: ProxyRecord, ports: readonly number[]): GraphNode['mtls'] {
    const asked = ports.length === 0 ? [0] : ports;
    const modes = new Set(
      asked.map(port => MTLS[this.#tracker.get(this.#state, proxy, inboundMtlsMode, String(port))]),
    );
    return modes.size === 1 ? [...modes][0]! : 'mixed';
  }

  #serviceNode(host: string, namespace: string, kind: 'service' | 'external'): GraphNode {
    const id = `service/${host}`;
    const behind = [...(this.#backers.get(id) ?? [])].map(one => this.#byId.get(one)!);
    const modes = new Set(behind.map(({ proxies: [proxy] }) => this.#mtlsOf(proxy!, [])));
    const proxies = behind.flatMap(one => one.proxies.map(({ facets }) => facets.id)).sort();
    const mtls = modes.size === 0 ? 'unknown' : modes.size === 1 ? [...modes][0]! : 'mixed';
    const suffix = `.svc.${this.#state.settings.domainSuffix}`;
    const title = host.endsWith(suffix) ? host.slice(0, host.indexOf('.')) : host;
    return { ...NOTHING, id, kind, title, namespace, proxies, count: this.#endpoints.get(id)?.size ?? 0, mtls };
  }
}

const NOTHING = { proxies: [], count: 0, mtls: 'unknown', policies: [], problems: [], problemsLeftOut: 0 } as const;

export function graphNodes(tracker: Tracker, state: State, proxies: readonly ProxyRecord[]): GraphNodes {
  return new GraphNodes(tracker, state, proxies);
}

function servicesOf({ objects, settings }: State): GraphNodes['services'] {
  const found = new Map<string, { readonly namespace: string; readonly kind: 'service' | 'external' }>();
  for (const { name, namespace } of objects.Service.values())
    found.set(`${name}.${namespace}.svc.${settings.domainSuffix}`, { namespace, kind: 'service' });
  for (const { namespace, spec } of objects.ServiceEntry.values() as Iterable<Obj<'ServiceEntry'>>) {
    for (const host of spec.hosts ?? []) if (!found.has(host)) found.set(host, { namespace, kind: 'external' });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function refusalsOf(workload: Workload): readonly Refusal[] {
  return workload.proxies.flatMap(({ nacks }) =>
    Object.entries(nacks).map(([url, { message }]) => ({
      workload,
      problem: { kind: 'nack' as const, message: `${rulesOf(url).short} refused: ${refusalReason(message)}` },
    })),
  );
}
