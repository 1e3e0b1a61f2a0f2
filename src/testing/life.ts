// The life of a mesh: what controllers and people do to it, as facts. Rollouts whose pods get the addresses of others,
// pods that flap, labels that flip, services that are deleted and made anew, one host in several namespaces, two
// sources that disagree. Each story is short; a life is several at once, on few names and addresses, so that they get
// in each other's way.

import type { Arbitrary } from 'fast-check';
import type { JsonObject } from '../core/base/json.ts';
import type { Fact, Unrecorded } from '../core/event.ts';
import { fc } from './fast-check.ts';
import { NAMES, NAMESPACES } from './worlds/pools.ts';

const KUBE = 'kube/Kubernetes';
const FILE = 'file/Kubernetes';
const CLUSTERS = [KUBE, KUBE, KUBE, 'kube/remote'] as const;

/** A workload: its name, location and source. */
interface Place {
  readonly name: string;
  readonly namespace: string;
  readonly source: string;
}
const place: Arbitrary<Place> = fc.record({
  name: fc.constantFrom(...NAMES),
  namespace: fc.constantFrom(...NAMESPACES),
  source: fc.constantFrom(...CLUSTERS),
});
/** Last parts of addresses; few, so that they are given again. */
const addresses = fc.uniqueArray(fc.nat({ max: 7 }), { minLength: 2, maxLength: 4 });

export type Story = Arbitrary<readonly Unrecorded[]>;

/** New pods take over from old ones, at addresses that the old ones, or others, had. */
const rollout: Story = fc.tuple(place, addresses).map(([at, ips]) => {
  const facts: Unrecorded[] = [add(at, service(at))];
  for (const [i, ip] of ips.entries()) {
    const version = i % 2 === 0 ? 'v1' : 'v2';
    const address = `10.1.0.${ip + 1}`;
    facts.push(add(at, pod(at, i, address, { version, ready: false })), add(at, pod(at, i, address, { version })));
    facts.push(add(at, slice(at, [[i, address, {}]])));
    if (i === 0) continue;
    const before = `10.1.0.${ips[i - 1]! + 1}`;
    const leaving = { ready: false, serving: true, terminating: true };
    facts.push(
      add(
        at,
        slice(at, [
          [i - 1, before, leaving],
          [i, address, {}],
        ]),
      ),
      remove(at, 'v1', 'Pod', `${at.name}-${i - 1}`),
    );
    facts.push(add(at, slice(at, [[i, address, {}]])));
  }
  return facts;
});

/** A pod that cannot make up its mind. */
const flapping: Story = fc
  .tuple(place, fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }))
  .map(([at, states]) => [
    add(at, service(at)),
    ...states.flatMap(ready => [
      add(at, pod(at, 0, '10.1.0.1', { ready })),
      add(at, slice(at, [[0, '10.1.0.1', { ready, terminating: false }]])),
    ]),
  ]);

/** Labels of a pod and of a machine flip between what one and what another service selects. */
const relabelled: Story = fc
  .tuple(place, fc.array(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 5 }))
  .map(([at, apps]) => [
    add(at, serviceEntry(at, 'vm.example.com', { workloadSelector: { labels: { app: at.name } } })),
    ...apps.flatMap((app, i) => [
      add(at, pod(at, 0, '10.1.0.1', { app })),
      add(
        at,
        istio('WorkloadEntry', `${at.name}-vm`, at.namespace, { address: '192.0.2.9', labels: { app }, weight: i + 1 }),
      ),
    ]),
  ]);

/** A service is deleted and made anew, younger, headless or not; its slices stay. */
const remade: Story = fc
  .tuple(place, fc.array(fc.constantFrom('10.96.0.1', '10.96.0.2', 'None'), { minLength: 1, maxLength: 4 }))
  .map(([at, ips]) => [
    add(at, slice(at, [[9, '10.1.0.8', {}]])),
    ...ips.flatMap((clusterIP, day) => [
      add(at, service(at, { clusterIP }, day + 1)),
      remove(at, 'v1', 'Service', at.name),
    ]),
    add(at, service(at, {}, ips.length + 1)),
  ]);

/** One host, claimed in several namespaces, at the same time or not, with rules and routes for it here and there. */
const claimed: Story = fc
  .array(fc.tuple(place, fc.integer({ min: 1, max: 2 }), fc.boolean(), fc.constantFrom('10.1.0.1', '10.1.0.2')), {
    minLength: 2,
    maxLength: 5,
  })
  .map(claims =>
    claims.flatMap(([at, day, stays, address]) => {
      const host = 'api.example.com';
      const rule = { host, subsets: [{ name: 'v1', labels: { version: 'v1' } }] };
      const route = { hosts: [host], http: [{ route: [{ destination: { host, subset: 'v1' } }] }] };
      const facts = [
        add(at, serviceEntry(at, host, { endpoints: [{ address, labels: { version: 'v1' } }] }, day)),
        add(at, istio('DestinationRule', at.name, at.namespace, rule, day)),
        add(at, istio('VirtualService', at.name, at.namespace, route, day)),
      ];
      return stays ? facts : [...facts, remove(at, 'networking.istio.io/v1', 'ServiceEntry', at.name)];
    }),
  );

/** Two sources say something of the same objects; one of them takes it back. */
const disputed: Story = fc.tuple(place, fc.boolean(), fc.boolean()).map(([{ name, namespace }, first, back]) => {
  const [one, two] = first ? [FILE, KUBE] : [KUBE, FILE];
  const at = (source: string): Place => ({ name, namespace, source });
  const gone = remove(at(one), 'networking.istio.io/v1', 'ServiceEntry', name);
  return [
    add(at(one), serviceEntry(at(one), 'api.example.com', { endpoints: [{ address: '10.1.0.1' }] })),
    add(at(two), serviceEntry(at(two), 'other.example.com', { resolution: 'NONE' })),
    ...(back ? [gone] : []),
  ];
});

/** Nodes and networks come after what runs on them. */
const late: Story = fc.tuple(place, fc.constantFrom('r1', 'r2'), fc.boolean()).map(([at, region, network]) => [
  add(at, slice(at, [[0, '10.1.0.3', {}]])),
  add(at, pod(at, 0, '10.1.0.3', {})),
  add(at, service(at)),
  add(at, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/region': region } },
  }),
  ...(network
    ? [
        add(at, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'istio-system', labels: { 'topology.istio.io/network': `n-${region}` } },
        }),
      ]
    : []),
]);

/** Up to `stories` stories, one after the other: `reordered` (perturbations.ts) lets them happen at the same time. */
export function meshLife(stories: number): Story {
  const story = fc.oneof(rollout, flapping, relabelled, remade, claimed, disputed, late);
  return fc.array(story, { minLength: 1, maxLength: stories, size: 'max' }).map(all => all.flat());
}

// --- facts ---------------------------------------------------------------------------------------------------------

function add({ source }: Place, object: JsonObject): Unrecorded {
  return { source, kind: 'Add', object };
}

function remove({ source, namespace }: Place, apiVersion: string, kind: string, name: string): Unrecorded {
  const fact: Fact = { kind: 'Delete', ref: { apiVersion, kind, namespace, name } };
  return { source, ...fact };
}

function aged(name: string, namespace: string, day: number, labels: JsonObject = {}): JsonObject {
  return { name, namespace, labels, creationTimestamp: `2026-01-0${day}T00:00:00Z` };
}

function service({ name, namespace }: Place, spec: JsonObject = {}, day = 1): JsonObject {
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: aged(name, namespace, day),
    spec: { clusterIP: '10.96.0.1', selector: { app: name }, ports, ...spec },
  };
}

interface PodState {
  readonly app?: string;
  readonly version?: string;
  readonly ready?: boolean;
}

function pod({ name, namespace }: Place, index: number, podIP: string, state: PodState): JsonObject {
  const { app = name, version = 'v1', ready = true } = state;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: aged(`${name}-${index}`, namespace, 1, { app, version }),
    spec: { nodeName: 'node-a', serviceAccountName: version === 'v1' ? 'default' : 'robot', containers: [] },
    status: {
      phase: 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

type Endpoint = readonly [pod: number, address: string, conditions: JsonObject];

function slice({ name, namespace }: Place, endpoints: readonly Endpoint[]): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: aged(`${name}-slice`, namespace, 1, { 'kubernetes.io/service-name': name }),
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: endpoints.map(([index, address, conditions]) => ({
      addresses: [address],
      conditions,
      targetRef: { kind: 'Pod', name: `${name}-${index}`, namespace },
    })),
  };
}

function istio(kind: string, name: string, namespace: string, spec: JsonObject, day = 1): JsonObject {
  return { apiVersion: 'networking.istio.io/v1', kind, metadata: aged(name, namespace, day), spec };
}

function serviceEntry({ name, namespace }: Place, host: string, spec: JsonObject, day = 1): JsonObject {
  const ports = [{ number: 80, name: 'http', protocol: 'HTTP' }];
  return istio('ServiceEntry', name, namespace, { hosts: [host], ports, resolution: 'STATIC', ...spec }, day);
}
