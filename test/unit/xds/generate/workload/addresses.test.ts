// Addresses of ztunnel from what was selected for them, and how a client on demand finds them.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/ambientindex.go (Lookup), pilot/pkg/model/service.go.

import { describe, expect, it } from 'vitest';
import type { AmbientService } from '../../../../../src/core/select/ambient/service.ts';
import { type AmbientWorkload, unknownWorkload } from '../../../../../src/core/select/ambient/workload.ts';
import {
  plainWorkload,
  serviceAddress,
  workloadAddress,
  workloadServices,
} from '../../../../../src/xds/generate/workload/address.ts';
import { AddressIndex } from '../../../../../src/xds/generate/workload/address-index.ts';
import {
  AppProtocol,
  LoadBalancing_HealthPolicy,
  LoadBalancing_Mode,
  LoadBalancing_Scope,
} from '../../../../../src/xds/proto/types.gen.ts';

const plain: AmbientWorkload = {
  ...unknownWorkload,
  uid: 'c//Pod/shop/p',
  name: 'p',
  namespace: 'shop',
  creationTime: 0,
  network: 'n1',
  cluster: 'c',
  trustDomain: '',
  healthy: true,
  locality: '',
  hostNetwork: false,
  capacity: 0,
};
const workload = (more: Partial<AmbientWorkload>) => {
  const made = { ...plain, ...more };
  return workloadAddress.run({ workload: made, services: workloadServices.run(made) });
};
const messageOf = (more: Partial<AmbientWorkload>) => workload(more).message.workload;

const bare: AmbientService = {
  name: 'web',
  namespace: 'shop',
  hostname: 'web.shop',
  registry: 'Service',
  network: 'n1',
  addresses: [],
  ports: [],
  subjectAltNames: [],
  waypoint: undefined,
  waypointKey: '',
  ingressUseWaypoint: false,
  loadBalancing: undefined,
  ipFamilies: 'AUTOMATIC',
  canonical: false,
  selector: {},
};
const service = (more: Partial<AmbientService>) => serviceAddress.run({ service: { ...bare, ...more } });
const bytes = (...list: readonly number[]): Uint8Array => Uint8Array.from(list);

describe('the address of a workload', () => {
  it('is also known by its network and each IP address, in the shortest text', () => {
    const { name, aliases, problems } = workload({ addresses: ['10.0.0.1', 'FD00:0:0::1'] });
    expect([name, aliases, problems]).toEqual(['c//Pod/shop/p', ['n1/10.0.0.1', 'n1/fd00::1'], []]);
  });

  it('leads through a gateway of its network, by address or by name', () => {
    const gateway = { network: 'n2', port: 15_008, namespace: 'gw', account: 'sa' };
    expect(messageOf({ networkGateway: { ...gateway, address: '1.2.3.4' } })?.networkGateway).toEqual({
      address: { network: 'n2', address: bytes(1, 2, 3, 4) },
      hboneMtlsPort: 15_008,
    });
    expect(messageOf({ networkGateway: { ...gateway, address: 'gw.example.com' } })?.networkGateway).toEqual({
      hostname: { namespace: 'gw', hostname: 'gw.example.com' },
      hboneMtlsPort: 15_008,
    });
  });

  it('leads through a waypoint, by address or by name', () => {
    expect(messageOf({ waypoint: { network: 'n1', ip: '1.2.3.4' } })?.waypoint).toEqual({
      address: { network: 'n1', address: bytes(1, 2, 3, 4) },
      hboneMtlsPort: 15_008,
    });
    const hostname = { namespace: 'shop', hostname: 'way' };
    expect(messageOf({ waypoint: hostname })?.waypoint).toEqual({ hostname, hboneMtlsPort: 15_008 });
  });

  it.each([
    ['', undefined],
    ['r', { region: 'r', zone: '', subzone: '' }],
    ['r/z', { region: 'r', zone: 'z', subzone: '' }],
    ['r/z/s', { region: 'r', zone: 'z', subzone: 's' }],
  ])('in the locality %j is in %j', (locality, expected) => {
    expect(messageOf({ locality })?.locality).toEqual(expected);
  });

  it('lists services with their ports, policies and capacity only where there are any', () => {
    const { services, authorizationPolicies, capacity, addresses } = messageOf({})!;
    expect([services, authorizationPolicies, capacity, addresses]).toEqual(Array(4).fill(undefined));
    const made = messageOf({
      services: [
        { name: 'shop/a', ports: [[80, 8080]] },
        { name: 'shop/b', ports: [] },
      ],
      authorizationPolicies: ['shop/p'],
      capacity: 2,
    });
    expect(made).toMatchObject({
      services: { 'shop/a': { ports: [{ servicePort: 80, targetPort: 8080 }] }, 'shop/b': {} },
      authorizationPolicies: ['shop/p'],
      capacity: { value: 2 },
    });
  });

  it('is sent without a frame to Envoys', () => {
    const framed = workload({ addresses: ['10.0.0.1'] });
    expect(plainWorkload.run({ address: framed })).toEqual({ ...framed, message: framed.message.workload });
  });
});

describe('the address of a service', () => {
  it('is also known by its network and each address, a range with and without its length', () => {
    const addresses = [
      { ip: '10.96.0.1', bits: undefined },
      { ip: '10.97.0.0', bits: 16 },
    ];
    const { name, aliases, message, problems } = service({ addresses });
    expect([name, problems]).toEqual(['shop/web.shop', []]);
    expect(aliases).toEqual(['n1/10.96.0.1', 'n1/10.97.0.0', 'n1/10.97.0.0/16']);
    expect(message.service?.addresses).toEqual([
      { network: 'n1', address: bytes(10, 96, 0, 1) },
      { network: 'n1', address: bytes(10, 97, 0, 0), length: 16 },
    ]);
  });

  it('says the protocol of a port, if ztunnel knows it', () => {
    const protocols = ['HTTP', 'HTTP2', 'GRPC', 'TCP', 'TLS', 'HTTPS', 'MySQL'] as const;
    const ports = protocols.map(protocol => ({ port: 1, targetPort: 2, name: 'p', targetName: '', protocol }));
    const { HTTP11, HTTP2, GRPC, TCP, TLS, UNKNOWN } = AppProtocol;
    expect(service({ ports }).message.service?.ports).toEqual(
      [HTTP11, HTTP2, GRPC, TCP, TLS, TLS, UNKNOWN].map(appProtocol => ({
        servicePort: 1,
        targetPort: 2,
        appProtocol,
      })),
    );
  });

  it('says how endpoints are chosen', () => {
    const made = (loadBalancing: AmbientService['loadBalancing']) =>
      service({ loadBalancing }).message.service?.loadBalancing;
    expect(made(undefined)).toBeUndefined();
    expect(made({ preference: [], mode: undefined, allEndpoints: true })).toEqual({
      mode: LoadBalancing_Mode.UNSPECIFIED_MODE,
      healthPolicy: LoadBalancing_HealthPolicy.ALLOW_ALL,
    });
    expect(made({ preference: ['NODE', 'ZONE'], mode: 'FAILOVER', allEndpoints: false })).toEqual({
      routingPreference: [LoadBalancing_Scope.NODE, LoadBalancing_Scope.ZONE],
      mode: LoadBalancing_Mode.FAILOVER,
      healthPolicy: LoadBalancing_HealthPolicy.ONLY_HEALTHY,
    });
  });
});

describe('addresses on demand', () => {
  const web = service({ addresses: [{ ip: '10.96.0.1', bits: undefined }] });
  const one = workload({
    uid: 'b',
    addresses: ['10.0.0.1'],
    node: 'near',
    services: [{ name: 'shop/web.shop', ports: [] }],
  });
  const two = workload({ uid: 'a', addresses: ['10.0.0.2'], services: [{ name: 'shop/web.shop', ports: [] }] });
  const index = () => new AddressIndex([web, one, two]);
  const found = (of: AddressIndex, names: readonly string[], node = ''): readonly string[] =>
    of.chosen(names, node).map(({ name }) => name);

  it.each<[string, readonly string[]]>([
    ['a', ['a']],
    ['n1/10.0.0.1', ['b']],
    ['shop/web.shop', ['a', 'b', 'shop/web.shop']],
    ['n1/10.96.0.1', ['a', 'b', 'shop/web.shop']],
    ['nothing', []],
  ])('named %s are %j, by name', (name, expected) => {
    expect(found(index(), [name])).toEqual(expected);
  });

  it('come once, with those of the client’s node', () => {
    expect(found(index(), ['a', 'n1/10.0.0.2'], 'near')).toEqual(['a', 'b']);
    expect(found(index(), [], 'near')).toEqual(['b']);
    expect(found(index(), [], 'far')).toEqual([]);
  });

  it('of one IP address are all its workloads, and not the service of the same address', () => {
    const twin = workload({ uid: 'c', addresses: ['10.0.0.1'] });
    const virtual = service({ hostname: 'same', addresses: [{ ip: '10.0.0.1', bits: undefined }] });
    expect(found(new AddressIndex([virtual, one, twin]), ['n1/10.0.0.1'])).toEqual(['b', 'c']);
  });

  it('of an IP address are its workloads, also where a service has the network and the address for its name', () => {
    const odd = service({ namespace: 'n1', hostname: '10.0.0.1' });
    expect(found(new AddressIndex([odd, one]), ['n1/10.0.0.1'])).toEqual(['b']);
    expect(found(new AddressIndex([odd]), ['n1/10.0.0.1'])).toEqual(['n1/10.0.0.1']);
  });

  it('of an address that two services have are the first one’s', () => {
    const other = service({ hostname: 'other', addresses: [{ ip: '10.96.0.1', bits: undefined }] });
    expect(found(new AddressIndex([web, other]), ['n1/10.96.0.1'])).toEqual(['shop/web.shop']);
  });

  it('of a name that two resources have are the first one', () => {
    const first = workload({ uid: 'a', name: 'first' });
    const second = workload({ uid: 'a', name: 'second' });
    const [only, ...rest] = new AddressIndex([first, second]).chosen(['a'], '');
    expect([only?.message.workload?.name, rest]).toEqual(['first', []]);
  });

  it('of a service without workloads are the service', () => {
    expect(found(new AddressIndex([web]), ['shop/web.shop'])).toEqual(['shop/web.shop']);
  });
});
