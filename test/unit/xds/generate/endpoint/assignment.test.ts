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
