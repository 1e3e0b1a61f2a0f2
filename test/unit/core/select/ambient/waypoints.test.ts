import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { untrackedReader } from '../../../../../src/core/query/untracked.ts';
import {
  type BoundKind,
  ingressUsesWaypoint,
  waypointAccounts,
  waypointNamed,
  waypointOf,
  waypointOfInstance,
  waypoints,
} from '../../../../../src/core/select/ambient/waypoints.ts';
import type { State } from '../../../../../src/core/state.ts';
import { ask, inCluster, put, type WorldPart, world } from '../../../world.ts';
import { pod } from '../../registry/fixtures.ts';
import { ambientWorld, gatewayClass, hbone, namespace, waypoint } from './fixtures.ts';

const USE = 'istio.io/use-waypoint';
const USE_NAMESPACE = 'istio.io/use-waypoint-namespace';
const MANAGED = 'gateway.istio.io/managed';
const binding = 'ambient.istio.io/waypoint-inbound-binding';

/** `namespace/name`, or the reason why there is none; empty: none is asked for. */
function choice(state: State, labels: Readonly<Record<string, string>>, kind: BoundKind = 'service'): string {
  const { waypoint: found, problem } = waypointOf(untrackedReader(state), { namespace: 'default', labels }, kind);
  if (problem !== undefined) return `${problem.reason} ${problem.waypoint}`;
  return found === undefined ? '' : `${found.namespace}/${found.name}`;
}

describe('a Gateway is a waypoint', () => {
  it('if its status has addresses, of whatever class, and ambient mode is on', () => {
    const objects = [
      waypoint('a', { gatewayClass: 'istio' }),
      waypoint('b', { namespace: 'apps' }),
      waypoint('c', { addresses: [] }),
    ];
    const names = ask(ambientWorld(objects), waypoints, '').map(({ name }) => name);
    expect(names).toEqual(['b', 'a']);
    expect(ask(world(objects), waypoints, '')).toEqual([]);
  });
  it.each<[string, readonly JsonObject[], unknown]>([
    [
      'a host name before an address',
      [
        { type: 'IPAddress', value: '10.0.0.1' },
        { type: 'Hostname', value: 'w.example' },
      ],
      { namespace: 'default', hostname: 'w.example' },
    ],
    [
      'the first address that can be read, in the network of the cluster',
      [
        { type: 'IPAddress', value: '10.0.0' },
        { type: 'IPAddress', value: '10.0.0.2' },
      ],
      { network: 'net1', ip: '10.0.0.2' },
    ],
    ['no address without a type', [{ value: '10.0.0.3' }], undefined],
    ['an empty host name if the status has no value', [{ type: 'Hostname' }], { namespace: 'default', hostname: '' }],
    ['no IP address without a value', [{ type: 'IPAddress' }], undefined],
  ])('reached by %s', (_, addresses, expected) => {
    const state = ambientWorld([
      namespace('istio-system', { 'topology.istio.io/network': 'net1' }),
      waypoint('w', { addresses }),
    ]);
    const found = ask(state, waypointNamed, 'default/w');
    expect(found).toBeDefined();
    expect(found?.address).toEqual(expected);
  });
  it('with the traffic type and the binding of its own, else of its class', () => {
    const ofClass = gatewayClass(
      'istio-waypoint',
      { 'istio.io/waypoint-for': 'workload' },
      { [binding]: 'PROXY/15088' },
    );
    const own = { labels: { 'istio.io/waypoint-for': 'all' }, annotations: { [binding]: 'NONE' } };
    const state = ambientWorld([ofClass, waypoint('a'), waypoint('b', own)]);
    expect(ask(state, waypointNamed, 'default/a')).toMatchObject({
      trafficType: 'workload',
      binding: { protocol: 'PROXY', port: 15088 },
    });
    expect(ask(state, waypointNamed, 'default/b')).toMatchObject({
      trafficType: 'all',
      binding: { protocol: 'NONE', port: 0 },
    });
  });
  it.each(['TCP', 'PROXY/1/2', ''])('without a binding if the annotation is %j', text => {
    const state = ambientWorld([waypoint('w', { annotations: { [binding]: text } })]);
    expect(ask(state, waypointNamed, 'default/w')?.binding).toBeUndefined();
  });
  it.each<[string, number]>([
    ['PROXY/15088', 15_088],
    ['PROXY', 0],
    ['PROXY/', 0],
    ['PROXY/a1', 0],
    ['PROXY/1a', 0],
    ['PROXY/-1', 0],
    ['PROXY/4294967295', 4_294_967_295],
    // As Go's strconv.ParseUint, which returns the largest number beside its error.
    ['PROXY/4294967296', 4_294_967_295],
  ])('whose inbound binding %j has port %d', (text, port) => {
    const state = ambientWorld([waypoint('w', { annotations: { [binding]: text } })]);
    expect(ask(state, waypointNamed, 'default/w')?.binding).toEqual({ protocol: 'PROXY', port });
  });
  it('whose accounts are those of its pods in its namespace and cluster that have not failed', () => {
    const labels = { 'gateway.networking.k8s.io/gateway-name': 'w' };
    const failed = pod('p4', '10.0.0.4', { labels, account: 'failed' });
    const state = ambientWorld([
      waypoint('w'),
      pod('p1', '10.0.0.1', { labels, account: 'z' }),
      pod('p2', '10.0.0.2', { labels, account: 'y' }),
      pod('p3', '10.0.0.3', { account: 'x' }),
      { ...failed, status: { ...(failed.status as JsonObject), phase: 'Failed' } },
      pod('p1', '10.0.0.5', { labels, account: 'elsewhere', namespace: 'apps' }),
      inCluster('remote', pod('p1', '10.0.0.6', { labels, account: 'remote' })),
    ]);
    expect(ask(state, waypointAccounts, 'default/w')).toEqual(['y', 'z']);
    const instance = waypointOfInstance(untrackedReader(state), { namespace: 'default', labels });
    expect(instance?.name).toBe('w');
    expect(waypointOfInstance(untrackedReader(state), { namespace: 'apps', labels })).toBeUndefined();
    expect(waypointOfInstance(untrackedReader(state), { namespace: 'default', labels: {} })).toBeUndefined();
  });
});

describe('a service uses', () => {
  const objects: readonly WorldPart[] = [
    namespace('default', { [USE]: 'of-namespace', team: 'a' }),
    waypoint('of-namespace'),
    waypoint('own'),
    waypoint('pending', { addresses: [] }),
    waypoint('workloads', { labels: { 'istio.io/waypoint-for': 'workload' } }),
    waypoint('open', { namespace: 'apps', listeners: [hbone({ from: 'All' })] }),
    waypoint('closed', { namespace: 'apps' }),
    waypoint('teams', {
      namespace: 'apps',
      listeners: [hbone({ from: 'Selector', selector: { matchLabels: { team: 'a' } } })],
    }),
    waypoint('others', {
      namespace: 'apps',
      listeners: [hbone({ from: 'Selector', selector: { matchLabels: { team: 'b' } } })],
    }),
    waypoint('unselective', { namespace: 'apps', listeners: [hbone({ from: 'Selector' })] }),
    waypoint('unreadable', {
      namespace: 'apps',
      listeners: [hbone({ from: 'Selector', selector: { matchExpressions: [{ key: 'team', operator: 'Exist' }] } })],
    }),
  ];
  const apps = { [USE_NAMESPACE]: 'apps' };
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['that of its namespace', {}, 'default/of-namespace'],
    ['its own before that of its namespace', { [USE]: 'own' }, 'default/own'],
    ['none if it says so', { [USE]: 'none' }, ''],
    ['none while its own is not ready', { [USE]: 'pending' }, 'notReady default/pending'],
    ['none if its own does not exist', { [USE]: '' }, 'notReady default/'],
    ['none that is for workloads', { [USE]: 'workloads' }, 'unsupportedTraffic default/workloads'],
    ['one of another namespace that admits all', { [USE]: 'open', ...apps }, 'apps/open'],
    ['none of another namespace that admits its own', { [USE]: 'closed', ...apps }, 'denied apps/closed'],
    ['one that selects its namespace', { [USE]: 'teams', ...apps }, 'apps/teams'],
    ['none that selects others', { [USE]: 'others', ...apps }, 'denied apps/others'],
    ['none that admits by a selector and has none', { [USE]: 'unselective', ...apps }, 'denied apps/unselective'],
    ['none whose selector cannot be read', { [USE]: 'unreadable', ...apps }, 'denied apps/unreadable'],
    ['none of a namespace with an empty name', { [USE]: 'own', [USE_NAMESPACE]: '' }, 'notReady /own'],
    ['none if it is the service of a waypoint', { [MANAGED]: 'istio.io-mesh-controller' }, ''],
    ['none if it is the service of an east-west gateway', { [MANAGED]: 'istio.io-eastwest-controller' }, ''],
    ['that of its namespace if another controller made it', { [MANAGED]: 'other' }, 'default/of-namespace'],
  ])('%s', (_, labels, expected) => {
    expect(choice(ambientWorld(objects), labels)).toBe(expected);
  });
  it('none, and lacks none, if neither it nor its namespace names one', () => {
    expect(choice(ambientWorld([namespace('default'), waypoint('own')]), {})).toBe('');
    expect(choice(ambientWorld([waypoint('own')]), {})).toBe('');
  });
  it('none of its namespace that is for workloads, which is a mistake', () => {
    const state = ambientWorld([
      namespace('default', { [USE]: 'workloads' }),
      waypoint('workloads', { labels: { 'istio.io/waypoint-for': 'workload' } }),
    ]);
    expect(choice(state, {})).toBe('unsupportedTraffic default/workloads');
  });
  it('no waypoint where ambient mode is off', () => {
    expect(choice(world(objects), { [USE]: 'own' })).toBe('notReady default/own');
  });
});

describe('a workload uses', () => {
  const state = ambientWorld([
    namespace('default', { [USE]: 'services' }),
    waypoint('services'),
    waypoint('all', { labels: { 'istio.io/waypoint-for': 'all' } }),
  ]);
  it('a waypoint for all or for workloads', () => {
    expect(choice(state, { [USE]: 'all' }, 'workload')).toBe('default/all');
  });
  it('none of its namespace that is for services, which is no mistake', () => {
    expect(choice(state, {}, 'workload')).toBe('');
  });
  it('none of its own that is for services, which is a mistake', () => {
    expect(choice(state, { [USE]: 'services' }, 'workload')).toBe('unsupportedTraffic default/services');
  });
  it('one even if it belongs to a gateway, as a service does not', () => {
    const labels = { [USE]: 'all', [MANAGED]: 'istio.io-mesh-controller' };
    expect(choice(state, labels, 'workload')).toBe('default/all');
    expect(choice(state, labels)).toBe('');
  });
});

describe('a waypoint admits', () => {
  const listener = (port: number, protocol: string, from: string): JsonObject => ({
    ...hbone({ from }),
    name: `at-${port}`,
    port,
    protocol,
  });
  const bound = listener(15_088, 'TCP', 'All');
  const sandwich = listener(15_089, 'istio.io/PROXY', 'All');
  const admits = (listeners: readonly JsonObject[], text?: string): string | undefined => {
    const annotations: Readonly<Record<string, string>> = text === undefined ? {} : { [binding]: text };
    return ask(ambientWorld([waypoint('w', { listeners, annotations })]), waypointNamed, 'default/w')?.allowed.from;
  };

  it.each<[string, readonly JsonObject[], string | undefined, string]>([
    ['what the HBONE listener at port 15008 allows', [hbone({ from: 'All' })], undefined, 'All'],
    ['what no other listener allows without a binding', [bound, sandwich, hbone()], undefined, 'Same'],
    ['its own namespace if HBONE has another port', [listener(15_009, 'HBONE', 'All')], undefined, 'Same'],
    ['its own namespace if port 15008 is not for HBONE', [listener(15_008, 'TCP', 'All')], undefined, 'Same'],
    [
      'its own namespace if the listener has no allowed routes',
      [{ name: 'm', port: 15_008, protocol: 'HBONE' }],
      undefined,
      'Same',
    ],
    ['what the listener at the port of the binding allows', [hbone(), bound], 'PROXY/15088', 'All'],
    ['what the HBONE listener allows if the bound port has no listener', [hbone(), sandwich], 'PROXY/15088', 'Same'],
    ['what the listener for PROXY allows if the binding has no port', [hbone(), bound, sandwich], 'PROXY', 'All'],
    ['what the HBONE listener allows if there is none for PROXY', [hbone(), bound], 'PROXY', 'Same'],
    ['what the HBONE listener allows if the binding is NONE', [hbone(), sandwich], 'NONE', 'Same'],
    ['what the listener at the port of a NONE binding allows', [hbone(), bound], 'NONE/15088', 'All'],
  ])('%s', (_, listeners, text, expected) => {
    expect(admits(listeners, text)).toBe(expected);
  });
});

it.each<[Readonly<Record<string, string>>, JsonObject, boolean | undefined]>([
  [{ 'istio.io/ingress-use-waypoint': 't' }, {}, true],
  [{ 'istio.io/ingress-use-waypoint': 'yes' }, { 'istio.io/ingress-use-waypoint': 'true' }, false],
  [{}, { 'istio.io/ingress-use-waypoint': 'true' }, true],
  [{}, {}, undefined],
])('an ingress gateway uses the waypoint of labels %j in a namespace with %j: %s', (labels, ofNamespace, expected) => {
  const reader = untrackedReader(ambientWorld([namespace('default', ofNamespace)]));
  expect(ingressUsesWaypoint(reader, { namespace: 'default', labels })).toBe(expected);
});

describe('a change of the addresses in a Gateway’s status', () => {
  const before = waypoint('w', { addresses: [] });
  it('pushes in ambient mode', () => {
    expect(put(ambientWorld([before]), waypoint('w')).push.configsUpdated).toEqual(['KubernetesGateway/default/w']);
  });
  it('pushes nothing without it', () => {
    expect(put(world([before]), waypoint('w')).push.causes.count).toBe(0);
  });
});
