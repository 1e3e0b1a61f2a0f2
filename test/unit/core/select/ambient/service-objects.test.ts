// Services as ztunnel knows them, each before those of other objects with its host are considered.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/services.go (constructService, constructServiceEntries).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { entryHosts } from '../../../../../src/core/select/ambient/entry-services.ts';
import { kubernetesAmbientService } from '../../../../../src/core/select/ambient/kubernetes-services.ts';
import type { AmbientService } from '../../../../../src/core/select/ambient/service.ts';
import { ask, type WorldPart, world } from '../../../world.ts';
import { type Meta, service, serviceEntry } from '../../registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from './fixtures.ts';

const local = namespace('istio-system', { 'topology.istio.io/network': 'n1' });
const byWaypoint = { 'istio.io/use-waypoint': 'w' };
const nodeFirst = {
  preference: ['NETWORK', 'REGION', 'ZONE', 'SUBZONE', 'NODE'],
  mode: 'FAILOVER',
  allEndpoints: false,
};

describe('a Service', () => {
  const web = (spec: JsonObject = {}, labels = {}, ...more: readonly WorldPart[]): AmbientService | undefined =>
    ask(ambientWorld([local, ...more, service('web', spec, { labels })]), kubernetesAmbientService, 'default/web');

  it('without a waypoint is canonical, and open to any endpoint', () => {
    expect(web()).toEqual({
      name: 'web',
      namespace: 'default',
      hostname: 'web.default.svc.cluster.local',
      registry: 'Service',
      network: 'n1',
      addresses: [{ ip: '10.96.0.1', bits: undefined }],
      ports: [{ port: 80, targetPort: 8080, name: 'http', targetName: '', protocol: 'HTTP' }],
      subjectAltNames: [],
      waypoint: undefined,
      waypointKey: '',
      ingressUseWaypoint: false,
      loadBalancing: undefined,
      ipFamilies: 'AUTOMATIC',
      canonical: true,
      selector: { app: 'web' },
    });
  });

  it('is none of an object that is not there, or where ambient mode is off', () => {
    expect(ask(ambientWorld([]), kubernetesAmbientService, 'default/web')).toBeUndefined();
    expect(ask(world([service('web')]), kubernetesAmbientService, 'default/web')).toBeUndefined();
  });

  it.each<[string, JsonObject, readonly string[]]>([
    [
      'an address of each family',
      { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'] },
      ['10.96.0.1', 'fd00::1'],
    ],
    ['the first address, if that alone is written', { clusterIP: '10.96.0.9' }, ['10.96.0.9']],
    ['no address, if it is headless', { clusterIP: 'None', clusterIPs: ['None'] }, []],
    ['no address before it is given one', { clusterIP: '' }, []],
  ])('has %s', (_, spec, expected) => {
    expect(web(spec)?.addresses.map(({ ip }) => ip)).toEqual(expected);
  });

  it('lets ingress gateways pass its waypoint by, unless a label says otherwise', () => {
    const asking = { ...byWaypoint, 'istio.io/ingress-use-waypoint': 'true' };
    expect([web({}, byWaypoint, waypoint('w')), web({}, asking, waypoint('w')), web({}, asking)]).toMatchObject([
      { waypointKey: 'default/w', ingressUseWaypoint: false },
      { waypointKey: 'default/w', ingressUseWaypoint: true },
      { waypointKey: '', ingressUseWaypoint: false },
    ]);
  });

  it.each([
    [{ trafficDistribution: 'PreferSameNode' }, nodeFirst],
    [
      { trafficDistribution: 'PreferSameNode', publishNotReadyAddresses: true },
      { ...nodeFirst, allEndpoints: true },
    ],
    [{ trafficDistribution: 'Any' }, undefined],
    [{ publishNotReadyAddresses: true }, { preference: [], mode: undefined, allEndpoints: true }],
  ])('with %j chooses endpoints by %j', (spec, expected) => {
    expect(web(spec)?.loadBalancing).toEqual(expected);
  });

  it.each([
    [['IPv4'], 'IPV4_ONLY'],
    [['IPv6'], 'IPV6_ONLY'],
    [['IPv6', 'IPv4'], 'DUAL'],
    [[], 'AUTOMATIC'],
  ])('of the address families %j is %s', (ipFamilies, expected) => {
    expect(web({ ipFamilies })?.ipFamilies).toBe(expected);
  });
});

describe('a host of a ServiceEntry', () => {
  const hosts = ['a.com', 'b.com'];
  const inWorld = (entry: JsonObject, env = {}): readonly AmbientService[] =>
    ask(ambientWorld([local, entry], env), entryHosts, 'default/ext');
  const of = (spec: JsonObject, meta: Meta = {}, env = {}): readonly AmbientService[] =>
    inWorld(serviceEntry('ext', { hosts, ...spec }, meta), env);

  it('is a service with the ports, names and selector of the entry', () => {
    const ports = [
      { number: 80, name: 'http', protocol: 'HTTP' },
      { number: 443, name: 'tls', protocol: 'TLS', targetPort: 8443 },
      { number: 90, name: 'plain' },
    ];
    const entry = { ports, hosts: ['a.com'], subjectAltNames: ['san'], workloadSelector: { labels: { app: 'a' } } };
    expect(of({ ...entry, addresses: ['10.9.0.1'] })).toEqual([
      {
        name: 'ext',
        namespace: 'default',
        hostname: 'a.com',
        registry: 'ServiceEntry',
        network: 'n1',
        addresses: [{ ip: '10.9.0.1', bits: undefined }],
        ports: [
          { port: 80, targetPort: 80, name: 'http', targetName: '', protocol: 'HTTP' },
          { port: 443, targetPort: 8443, name: 'tls', targetName: '', protocol: 'TLS' },
          { port: 90, targetPort: 90, name: 'plain', targetName: '', protocol: 'Unsupported' },
        ],
        subjectAltNames: ['san'],
        waypoint: undefined,
        waypointKey: '',
        ingressUseWaypoint: false,
        loadBalancing: undefined,
        ipFamilies: 'AUTOMATIC',
        canonical: false,
        selector: { app: 'a' },
      },
    ]);
  });

  it('of an entry with hosts alone has no ports, and traffic goes on to where it was sent', () => {
    const { spec: _, ...entry } = serviceEntry('ext', {});
    const found = inWorld({ ...entry, spec: { hosts: ['a.com'] } });
    const passed = { preference: [], mode: 'PASSTHROUGH', allEndpoints: true };
    expect(found).toMatchObject([{ ports: [], loadBalancing: passed, addresses: [], selector: {} }]);
  });

  it('is none of an entry that is not there, or where ambient mode is off', () => {
    expect(ask(ambientWorld([]), entryHosts, 'default/ext')).toEqual([]);
    expect(ask(world([serviceEntry('ext', { hosts })]), entryHosts, 'default/ext')).toEqual([]);
  });

  it.each([
    ['10.1.2.3', { ip: '10.1.2.3', bits: undefined }],
    ['10.1.2.3/8', { ip: '10.0.0.0', bits: 8 }],
    ['10.1.2.3/32', { ip: '10.1.2.3', bits: undefined }],
    ['fd00::1:2/112', { ip: 'fd00::1:0', bits: 112 }],
    ['fd00::1:2/32', { ip: 'fd00::', bits: 32 }],
    ['fd00::1:2/128', { ip: 'fd00::1:2', bits: undefined }],
    ['::1.2.3.4/96', { ip: '::', bits: 96 }],
    ['::ffff:1.2.3.4/120', { ip: '::ffff:102:300', bits: 120 }],
  ])('has the address %s as %j', (address, expected) => {
    expect(of({ addresses: [address] }).map(({ addresses }) => addresses)).toEqual([[expected], [expected]]);
  });

  it('prefers the node of the client if an annotation says so', () => {
    const annotations = { 'networking.istio.io/traffic-distribution': 'PreferSameNode' };
    expect(of({}, { annotations })[0]?.loadBalancing).toEqual(nodeFirst);
  });

  describe('with addresses that were allocated', () => {
    const allocated = [
      { value: '240.240.0.1', host: 'a.com' },
      { value: '2001:2::1', host: 'a.com' },
      { value: '240.240.0.2', host: 'b.com' },
      { value: '240.240.0.3', host: '*.c.com' },
    ];
    const addressesOf = (spec: JsonObject, env = {}): readonly (readonly string[])[] => {
      const entry = serviceEntry('ext', { hosts, ...spec });
      const metadata = { ...(entry.metadata as JsonObject), uid: 'u' };
      const found = inWorld({ ...entry, metadata, status: { addresses: allocated } }, env);
      return found.map(({ addresses }) => addresses.map(({ ip }) => ip));
    };

    it('has its own, unless the entry has some or allocation is off', () => {
      expect(addressesOf({})).toEqual([['240.240.0.1', '2001:2::1'], ['240.240.0.2']]);
      expect(addressesOf({ addresses: ['10.9.0.1'] })).toEqual([['10.9.0.1'], ['10.9.0.1']]);
      expect(addressesOf({ resolution: 'NONE' })).toEqual([[], []]);
      expect(addressesOf({}, { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' })).toEqual([[], []]);
    });

    it('has none as a wildcard, unless the names below it are resolved', () => {
      const ports = [{ number: 443, name: 'tls', protocol: 'TLS' }];
      const wildcard = { hosts: ['*.c.com'], ports };
      expect(addressesOf(wildcard)).toEqual([[]]);
      expect(addressesOf({ ...wildcard, resolution: 'DYNAMIC_DNS' })).toEqual([['240.240.0.3']]);
    });
  });
});
