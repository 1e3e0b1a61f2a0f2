// Endpoints of unusual objects: without an address, of two families, with empty annotations.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { endpointShards, serviceAccounts } from '../../../../src/core/registry/endpoints.ts';
import { mergedService } from '../../../../src/core/registry/kubernetes-service.ts';
import type { State } from '../../../../src/core/state.ts';
import { ask, world } from '../../world.ts';
import { namespace, pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

const WEB: ServiceRef = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
const EXT: ServiceRef = { hostname: 'ext.example.com', namespace: 'default' };

const endpoints = (state: State, ref: ServiceRef) => ask(state, endpointShards, ref).flatMap(shard => shard.endpoints);

describe('a WorkloadEntry that names a network and no address', () => {
  const labels = { app: 'web' };
  const far = workloadEntry('far', { network: 'n2', labels });
  const named = workloadEntry('named', { address: 'vm.example.com', labels });

  test('is an endpoint of the static ServiceEntry that selects it, for the gateway of the network', () => {
    const entry = serviceEntry('ext', { hosts: ['ext.example.com'], workloadSelector: { labels } });
    const found = endpoints(world([entry, far, named]), EXT);
    expect(found.map(({ addresses, network }) => [addresses, network])).toEqual([[[''], 'n2']]);
  });

  test('is an endpoint of the Kubernetes Service that selects it', () => {
    const found = endpoints(world([service('web'), far, named]), WEB);
    expect(found.map(({ addresses, network }) => [addresses, network])).toEqual([[[''], 'n2']]);
  });
});

test('has the number of a port that it does not name, also if every JavaScript object has a member of the name', () => {
  const ports = [{ number: 80, name: 'constructor', protocol: 'HTTP' }];
  const entry = serviceEntry('ext', { hosts: ['ext.example.com'], ports, endpoints: [{ address: '192.168.0.1' }] });
  expect(endpoints(world([entry]), EXT).map(({ port }) => port)).toEqual([80]);
});

test('of two families stands for both addresses of its pod only if it names the pod', () => {
  const both = [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }];
  const plain = pod('web-1', '10.0.0.1');
  const dual = { ...plain, status: { ...(plain.status as JsonObject), podIPs: both } };
  const web = service('web', { clusterIPs: ['10.96.0.1', '2001:db8::96'] });
  const addresses = (of: JsonObject) => {
    const state = world([web, dual, of], { settings: { env: { ISTIO_DUAL_STACK: 'true' } } });
    return endpoints(state, WEB).map(endpoint => endpoint.addresses);
  };
  expect(addresses(slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]))).toEqual([['10.0.0.1', '2001:db8::1']]);
  expect(addresses(slice('web', [{ ip: '10.0.0.1' }]))).toEqual([['10.0.0.1']]);
});

test('aliases of the trust domain extend the identities of service accounts alone', () => {
  const subjectAltNames = ['spiffe://td/ns/a/sa/b', 'spiffe://td/other', 'ext.example.com', 'spiffe://td/ns/a/sa/b/c'];
  const entry = serviceEntry('ext', { hosts: ['ext.example.com'], subjectAltNames });
  const state = world([entry], { mesh: { trustDomain: 'td', trustDomainAliases: ['old'] } });
  expect(ask(state, serviceAccounts, EXT)).toEqual([
    'ext.example.com',
    'spiffe://old/ns/a/sa/b',
    'spiffe://td/ns/a/sa/b',
    'spiffe://td/ns/a/sa/b/c',
    'spiffe://td/other',
  ]);
});

test('the youngest service of a host in the namespace adds its own identities, sorted among those of endpoints', () => {
  const entry = (name: string, day: number, where = 'default'): JsonObject =>
    serviceEntry(
      name,
      {
        hosts: ['ext.example.com'],
        subjectAltNames: [`${name}.example.com`],
        endpoints: [{ address: '1.1.1.1', serviceAccount: name }],
      },
      { day, namespace: where },
    );
  const state = world([entry('m', 1), entry('b', 2), entry('z', 3, 'shop')]);
  const id = (name: string) => `spiffe://cluster.local/ns/default/sa/${name}`;
  expect(ask(state, serviceAccounts, EXT)).toEqual(['b.example.com', id('b'), id('m')]);
  const plain = serviceEntry('ext', { hosts: ['ext.example.com'], endpoints: [{ address: '1.1.1.1' }] });
  expect(ask(world([plain]), serviceAccounts, EXT)).toEqual([]);
});

test('a pod of one address stands for it in a service of two families', () => {
  const settings = { env: { ISTIO_DUAL_STACK: 'true' } };
  const web = service('web', { clusterIPs: ['10.96.0.1', '2001:db8::96'] });
  const of = (ip: string) => {
    const addressType = ip.includes(':') ? 'IPv6' : 'IPv4';
    return [web, pod('web-1', ip), { ...slice('web', [{ ip, pod: 'web-1' }]), addressType }];
  };
  for (const ip of ['10.0.0.1', '2001:db8::1']) {
    expect(endpoints(world(of(ip), { settings }), WEB).map(({ addresses }) => addresses)).toEqual([[ip]]);
  }
});

test('an empty annotation is the same as none', () => {
  const annotations = {
    'networking.istio.io/traffic-distribution': '',
    'alpha.istio.io/canonical-serviceaccounts': '',
    'alpha.istio.io/kubernetes-serviceaccounts': '',
  };
  const inherited = { annotations: { 'networking.istio.io/traffic-distribution': 'PreferClose' } };
  const found = ask(
    world([namespace('default', inherited), service('web', {}, { annotations })]),
    mergedService,
    'default/web',
  );
  expect(found?.trafficDistribution).toBe('PreferSameZone');
  expect(found?.serviceAccounts).toEqual([]);
});
