import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../../../src/core/model/service.ts';
import type { AssignmentInputs } from '../../../../../src/core/select/endpoint/assignment.ts';
import type { NetworkGateway } from '../../../../../src/core/select/endpoint/network-gateway.ts';
import { loadAssignment } from '../../../../../src/xds/generate/endpoint/assignment.ts';
import { type ClusterLoadAssignment, HealthStatus } from '../../../../../src/xds/proto/types.gen.ts';

function endpoint(address: string, over: Partial<Endpoint> = {}): Endpoint {
  return {
    addresses: [address],
    port: 80,
    portName: 'http',
    servicePort: 0,
    labels: {},
    serviceAccount: '',
    locality: '',
    network: '',
    cluster: 'Kubernetes',
    namespace: 'default',
    workloadName: 'web',
    nodeName: '',
    hostname: '',
    subdomain: '',
    weight: 1,
    tlsMode: 'istio',
    health: 'Healthy',
    ...over,
  };
}

function run(endpoints: readonly Endpoint[], over: Partial<AssignmentInputs> = {}): ClusterLoadAssignment {
  return loadAssignment.run({
    clusterName: 'c',
    describedAs: undefined,
    endpoints,
    mtls: endpoints.map(() => true),
    tunnels: [],
    throughWaypoint: [],
    vip: false,
    drainingLabel: 'istio.io/draining',
    describesWorkloads: true,
    dualStack: false,
    onlyMtls: false,
    gateways: [],
    proxyNetwork: '',
    proxyFamilies: 'ipv4',
    router: false,
    localityMode: 'none',
    distributeTo: undefined,
    failover: undefined,
    priorityKeys: [],
    priorityValues: [],
    region: '',
    zone: '',
    subzone: '',
    ...over,
  }).message;
}

/** `locality priority weight: address(weight), …` of each group. */
function shown(assignment: ClusterLoadAssignment): readonly string[] {
  return (assignment.endpoints ?? []).map(group => {
    const { region = '', zone = '', subZone = '' } = group.locality ?? {};
    const members = (group.lbEndpoints ?? []).map(lb => {
      return `${lb.endpoint?.address?.socketAddress?.address}(${lb.loadBalancingWeight?.value})`;
    });
    const place = [region, zone, subZone].filter(part => part !== '').join('/');
    return `${place} p${group.priority ?? 0} w${group.loadBalancingWeight?.value ?? 0}: ${members.join(' ')}`;
  });
}

describe('the assignment of many endpoints', () => {
  it('is work by their number', () => {
    const workOf = (count: number): number => {
      const endpoints = Array.from({ length: count }, (_, i) => endpoint(`10.0.${i >> 8}.${i & 255}`));
      return loadAssignment.work!({} as never, { endpoints } as unknown as AssignmentInputs);
    };
    expect(workOf(64)).toBe(0);
    expect(workOf(10_000)).toBeGreaterThan(1_000);
  });
});

describe('an endpoint', () => {
  const only = (e: Endpoint, over: Partial<AssignmentInputs> = {}) => run([e], over).endpoints?.[0]?.lbEndpoints?.[0];

  it('has its workload and its mTLS support in metadata', () => {
    const labels = { 'app.kubernetes.io/name': 'shop', version: 'v1' };
    expect(only(endpoint('10.0.0.1', { labels }))).toEqual({
      endpoint: { address: { socketAddress: { address: '10.0.0.1', portValue: 80 } } },
      healthStatus: HealthStatus.HEALTHY,
      loadBalancingWeight: { value: 1 },
      metadata: {
        filterMetadata: {
          'envoy.transport_socket_match': { tlsMode: 'istio' },
          istio: { workload: 'web;default;shop;v1;Kubernetes' },
        },
      },
    });
  });

  it('omits the revision "latest", and mTLS if it has none', () => {
    const made = only(endpoint('10.0.0.1', { labels: { version: 'latest' } }), { mtls: [false] });
    expect(made?.metadata?.filterMetadata).toEqual({ istio: { workload: 'web;default;web;;Kubernetes' } });
  });

  it('is draining by its label, and of unknown health without a health check', () => {
    expect(only(endpoint('10.0.0.1', { labels: { 'istio.io/draining': '1' } }))?.healthStatus).toBe(
      HealthStatus.DRAINING,
    );
    expect(only(endpoint('10.0.0.1', { health: 'Unset' }))?.healthStatus).toBeUndefined();
  });

  it('with port 0 is a Unix domain socket', () => {
    expect(only(endpoint('unix:///run/a.sock', { port: 0 }))?.endpoint?.address).toEqual({
      pipe: { path: '/run/a.sock' },
    });
  });

  it('has additional addresses with dual stack only', () => {
    const dual = endpoint('10.0.0.1', { addresses: ['10.0.0.1', '2001:db8::1'] });
    expect(only(dual)?.endpoint?.additionalAddresses).toBeUndefined();
    expect(only(dual, { dualStack: true })?.endpoint?.additionalAddresses).toHaveLength(1);
  });

  it('has the state of its health check, and the addresses of every family', () => {
    expect(only(endpoint('10.0.0.1', { health: 'UnHealthy' }))?.healthStatus).toBe(HealthStatus.UNHEALTHY);
    expect(only(endpoint('10.0.0.1', { health: 'Draining' }))?.healthStatus).toBe(HealthStatus.DRAINING);
    expect(Object.keys(only(endpoint('10.0.0.1', { health: 'Unset' })) ?? {})).not.toContain('healthStatus');
    const dual = endpoint('10.0.0.1', { addresses: ['10.0.0.1', '2001:db8::1'] });
    expect(only(dual, { dualStack: true })?.endpoint?.additionalAddresses).toEqual([
      { address: { socketAddress: { address: '2001:db8::1', portValue: 80 } } },
    ]);
    expect(Object.keys(only(endpoint('10.0.0.1'), { dualStack: true })?.endpoint ?? {})).toEqual(['address']);
  });

  it('has empty metadata, if it takes no mTLS and describes no workload', () => {
    const bare = { describesWorkloads: false };
    expect(only(endpoint('10.0.0.1', { tlsMode: 'disabled' }), bare)?.metadata).toStrictEqual({});
    expect(only(endpoint('10.0.0.1', { tlsMode: '' }), bare)?.metadata).toStrictEqual({});
    expect(only(endpoint('10.0.0.1'), bare)?.metadata).toStrictEqual({
      filterMetadata: { 'envoy.transport_socket_match': { tlsMode: 'istio' } },
    });
  });

  it('never has weight 0', () => {
    expect(only(endpoint('10.0.0.1', { weight: 0 }))?.loadBalancingWeight).toEqual({ value: 1 });
  });
});

describe('localities of an assignment', () => {
  const a = endpoint('1', { locality: 'r1/z1/s1' });
  const b = endpoint('2', { locality: 'r1/z2/' });
  const c = endpoint('3', { locality: 'r2/z1/', weight: 3 });
  const d = endpoint('4', { locality: 'r3/z1/' });

  it('are absent without endpoints', () => {
    expect(run([])).toEqual({ clusterName: 'c' });
  });

  it('are ordered by their text, with the sum of their weights', () => {
    expect(shown(run([c, b, a, c]))).toEqual(['r1/z1/s1 p0 w1: 1(1)', 'r1/z2 p0 w1: 2(1)', 'r2/z1 p0 w6: 3(3) 3(3)']);
  });

  it('fail over by distance, without gaps', () => {
    const near = { localityMode: 'failover', region: 'r1', zone: 'z1', subzone: 's1' } as const;
    expect(shown(run([a, b, c], near))).toEqual(['r1/z1/s1 p0 w1: 1(1)', 'r1/z2 p1 w1: 2(1)', 'r2/z1 p2 w3: 3(3)']);
    expect(shown(run([b, c], near))).toEqual(['r1/z2 p0 w1: 2(1)', 'r2/z1 p1 w3: 3(3)']);
  });

  it('fail over to the region that is named first', () => {
    const failover = [{ from: 'r1', to: 'r3' }];
    const inputs = { localityMode: 'failover', failover, region: 'r1', zone: 'z1', subzone: 's1' } as const;
    expect(shown(run([a, c, d], inputs))).toEqual(['r1/z1/s1 p0 w1: 1(1)', 'r2/z1 p2 w3: 3(3)', 'r3/z1 p1 w1: 4(1)']);
  });

  it('share by weights; a locality without pattern stays empty', () => {
    const inputs = { localityMode: 'distribute', distributeTo: { 'r1/*': 80, 'r2/*': 20 } } as const;
    expect(shown(run([a, b, c, d], inputs))).toEqual([
      'r1/z1/s1 p0 w40: 1(1)',
      'r1/z2 p0 w40: 2(1)',
      'r2/z1 p0 w20: 3(3)',
      'r3/z1 p0 w1: ',
    ]);
  });

  it('round shares up, so that no group with a share gets none', () => {
    const zones = ['z1', 'z2', 'z3'].map(zone => endpoint(zone, { locality: `r1/${zone}/`, weight: 2 }));
    const inputs = { localityMode: 'distribute', distributeTo: { 'r1/*': 1 } } as const;
    expect(shown(run(zones, inputs))).toEqual(['r1/z1 p0 w1: z1(2)', 'r1/z2 p0 w1: z2(2)', 'r1/z3 p0 w1: z3(2)']);
  });

  it('are split by labels: the more keys match, the higher the priority', () => {
    const labelled = (address: string, labels: Endpoint['labels']) =>
      endpoint(address, { labels, locality: 'r1/z1/s1' });
    const all = [
      labelled('far', { net: 'n2', ver: 'v1' }),
      labelled('same', { net: 'n1', ver: 'v1' }),
      labelled('close', { net: 'n1', ver: 'v2' }),
    ];
    const inputs = { localityMode: 'priority', priorityKeys: ['net', 'ver'], priorityValues: ['n1', 'v1'] } as const;
    expect(shown(run(all, inputs))).toEqual([
      'r1/z1/s1 p0 w1: same(1)',
      'r1/z1/s1 p1 w1: close(1)',
      'r1/z1/s1 p2 w1: far(1)',
    ]);
  });
});

describe('a locality', () => {
  it('has only the fields that say something', () => {
    const [group] = run([endpoint('1')]).endpoints ?? [];
    expect(group?.locality).toStrictEqual({});
    expect(Object.keys(group ?? {})).toEqual(['locality', 'lbEndpoints', 'loadBalancingWeight']);
    const [empty] = run([endpoint('1', { locality: 'r/z/s' })], { mtls: [false], onlyMtls: true }).endpoints ?? [];
    expect(empty).toStrictEqual({ locality: { region: 'r', zone: 'z', subZone: 's' } });
  });

  it('takes the share of the first pattern in order of their texts, and keeps its weight for a share of 0', () => {
    const zones = ['z1', 'z2'].map(zone => endpoint(zone, { locality: `r1/${zone}/`, weight: 3 }));
    const to = { 'r1/z2': 0, 'r1/*': 70 };
    expect(shown(run(zones, { localityMode: 'distribute', distributeTo: to }))).toEqual([
      'r1/z1 p0 w35: z1(3)',
      'r1/z2 p0 w35: z2(3)',
    ]);
    expect(shown(run(zones, { localityMode: 'distribute', distributeTo: { 'r1/z2': 0, 'r1/z1': 9 } }))).toEqual([
      'r1/z1 p0 w9: z1(3)',
      'r1/z2 p0 w3: z2(3)',
    ]);
  });

  it('is as far as its first part that differs; a region that no rule names is nearer than one it does not lead to', () => {
    const far = ['r1/z1/s1', 'r1/z1/s2', 'r1/z2/s1', 'r2/z1/s1', 'r3/z1/s1'].map(locality =>
      endpoint(locality, { locality }),
    );
    const place = { localityMode: 'failover', region: 'r1', zone: 'z1', subzone: 's1' } as const;
    const priorities = (failover: AssignmentInputs['failover']): readonly (number | undefined)[] =>
      (run(far, { ...place, failover }).endpoints ?? []).map(({ priority }) => priority ?? 0);
    expect(priorities([{ from: 'r1', to: 'r2' }])).toEqual([0, 1, 2, 3, 4]);
    expect(priorities([{ from: 'r2', to: 'r3' }])).toEqual([0, 1, 2, 3, 3]);
    expect(priorities([{ from: 'r1' }])).toEqual([0, 1, 2, 3, 3]);
    expect(priorities(undefined)).toEqual([0, 1, 2, 3, 3]);
  });

  it('fails over by labels first, then by distance, and members of equal labels stay together', () => {
    const at = (address: string, tier: string, region: string): Endpoint =>
      endpoint(address, { labels: tier === '' ? {} : { tier }, locality: `${region}/z/` });
    const all = [at('a', 'x', 'r1'), at('b', '', 'r1'), at('c', 'x', 'r1'), at('d', 'x', 'r2'), at('e', '', 'r2')];
    const inputs = {
      localityMode: 'priority',
      priorityKeys: ['tier'],
      priorityValues: [undefined],
      region: 'r1',
      zone: 'z',
    } as const;
    expect(shown(run(all, inputs))).toEqual([
      'r1/z p0 w1: b(1)',
      'r1/z p1 w2: a(1) c(1)',
      'r2/z p0 w1: e(1)',
      'r2/z p1 w1: d(1)',
    ]);
    expect(shown(run(all, { ...inputs, failover: [] }))).toEqual([
      'r1/z p0 w1: b(1)',
      'r1/z p2 w2: a(1) c(1)',
      'r2/z p1 w1: e(1)',
      'r2/z p3 w1: d(1)',
    ]);
  });
});

describe('endpoints of other networks', () => {
  const gateway = (network: string, address: string, cluster = ''): NetworkGateway => ({
    network,
    cluster,
    address,
    port: 15443,
    hbonePort: 0,
    serviceAccount: '',
  });
  const here = endpoint('10.0.0.1', { network: 'n1' });
  const there = endpoint('10.1.0.1', { network: 'n2' });
  const gateways = [gateway('n2', '203.0.113.1'), gateway('n2', '203.0.113.2')];

  it('are reached through their gateways, which share the weight', () => {
    const made = run([here, there, there], { gateways, proxyNetwork: 'n1' });
    expect(shown(made)).toEqual([' p0 w6: 10.0.0.1(2) 203.0.113.1(2) 203.0.113.2(2)']);
    expect(made.endpoints?.[0]?.lbEndpoints?.[1]?.metadata?.filterMetadata).toEqual({
      'envoy.transport_socket_match': { tlsMode: 'istio' },
      istio: { workload: ';;;;' },
    });
  });

  it('cannot be reached without mTLS, or in another address family', () => {
    expect(shown(run([there], { gateways, proxyNetwork: 'n1', mtls: [false] }))).toEqual([' p0 w0: ']);
    expect(shown(run([there], { gateways, proxyNetwork: 'n1', proxyFamilies: 'ipv6' }))).toEqual([' p0 w0: ']);
  });

  it('are reached directly without a gateway', () => {
    const other = [gateway('n3', '203.0.113.9')];
    expect(shown(run([there], { gateways: other, proxyNetwork: 'n1' }))).toEqual([' p0 w1: 10.1.0.1(1)']);
  });

  it('are reached through gateways by a proxy without a network', () => {
    expect(shown(run([there], { gateways, proxyNetwork: '' }))).toEqual([' p0 w2: 203.0.113.1(1) 203.0.113.2(1)']);
  });

  it('are reached directly, if they or the proxy are in no other network', () => {
    const near = endpoint('10.2.0.1', { network: '' });
    expect(shown(run([near], { gateways, proxyNetwork: 'n1' }))).toEqual([' p0 w2: 10.2.0.1(2)']);
    expect(shown(run([near], { gateways, proxyNetwork: '' }))).toEqual([' p0 w2: 10.2.0.1(2)']);
    const other = [gateway('n3', '203.0.113.9')];
    expect(shown(run([there], { gateways: other, proxyNetwork: '' }))).toEqual([' p0 w1: 10.1.0.1(1)']);
  });

  it('are sorted by address, then by port, of their gateways', () => {
    const at = (address: string, port: number): NetworkGateway => ({ ...gateway('n2', address), port });
    const three = [at('203.0.113.9', 2), at('203.0.113.1', 9), at('203.0.113.1', 3)];
    const made = run([there], { gateways: three, proxyNetwork: 'n1' });
    const addresses = made.endpoints?.[0]?.lbEndpoints?.map(lb => lb.endpoint?.address?.socketAddress);
    expect(addresses?.map(one => `${one?.address}:${one?.portValue}`)).toEqual([
      '203.0.113.1:3',
      '203.0.113.1:9',
      '203.0.113.9:2',
    ]);
  });

  it('cannot be reached through a gateway without a port, which a router knows of', () => {
    const hbone = [{ ...gateway('n2', '203.0.113.1'), port: 0, hbonePort: 15_008 }];
    expect(shown(run([there], { gateways: hbone, proxyNetwork: 'n1', router: true }))).toEqual([' p0 w0: ']);
    expect(shown(run([there], { gateways: hbone, proxyNetwork: 'n1' }))).toEqual([' p0 w1: 10.1.0.1(1)']);
  });

  it('are reached by a name of any family only from a proxy of both', () => {
    const named = [gateway('n2', 'gate.example.com')];
    const from = (proxyFamilies: 'ipv4' | 'ipv6' | 'dual') =>
      shown(run([there], { gateways: named, proxyNetwork: 'n1', proxyFamilies }));
    expect([from('dual'), from('ipv4'), from('ipv6')]).toEqual([
      [' p0 w1: gate.example.com(1)'],
      [' p0 w0: '],
      [' p0 w0: '],
    ]);
    const six = [gateway('n2', '2001:db8::9')];
    expect(shown(run([there], { gateways: six, proxyNetwork: 'n1', proxyFamilies: 'ipv6' }))).toEqual([
      ' p0 w1: 2001:db8::9(1)',
    ]);
  });

  it('leave out a socket, which no other host reaches, where networks have gateways', () => {
    const socket = endpoint('unix:///run/a.sock', { port: 0, network: 'n1' });
    expect(shown(run([socket, here], { gateways, proxyNetwork: 'n1' }))).toEqual([' p0 w2: 10.0.0.1(2)']);
    const unknown = endpoint('', { network: 'n1' });
    expect(shown(run([unknown, here], { gateways, proxyNetwork: 'n1' }))).toEqual([' p0 w2: 10.0.0.1(2)']);
    expect(shown(run([endpoint('', { network: 'n2' })], { gateways, proxyNetwork: 'n1' }))).toEqual([
      ' p0 w2: 203.0.113.1(1) 203.0.113.2(1)',
    ]);
  });

  it('fail over by the network and the cluster of their gateways', () => {
    const inputs = {
      gateways: [gateway('n2', '203.0.113.1', 'east')],
      proxyNetwork: 'n1',
      localityMode: 'priority',
      priorityKeys: ['topology.istio.io/network', 'topology.istio.io/cluster'],
      priorityValues: ['n2', 'east'],
    } as const;
    expect(shown(run([here, there], inputs))).toEqual([' p0 w1: 203.0.113.1(1)', ' p1 w1: 10.0.0.1(1)']);
  });

  it('use the gateway of their own cluster first', () => {
    const own = [gateway('n2', '203.0.113.1', 'east'), gateway('n2', '203.0.113.2', 'west')];
    const east = endpoint('10.1.0.1', { network: 'n2', cluster: 'east' });
    expect(shown(run([east], { gateways: own, proxyNetwork: 'n1' }))).toEqual([' p0 w2: 203.0.113.1(2)']);
  });
});

it('the assignment of an SNI-DNAT cluster keeps only endpoints with mTLS, and an empty locality', () => {
  const made = run([endpoint('1', { locality: 'a/b' }), endpoint('2', { locality: 'c/d' })], {
    mtls: [true, false],
    onlyMtls: true,
  });
  expect(shown(made)).toEqual(['a/b p0 w1: 1(1)', 'c/d p0 w0: ']);
});
