import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { nameTables } from '../../../../../src/xds/assemble/nametable/resources.ts';
import { nameTable } from '../../../../../src/xds/generate/nametable/name-table.ts';
import type { NameTable } from '../../../../../src/xds/proto/types.gen.ts';
import { httpService, istio, routerNode, Scene, service, sidecarNode } from '../route/scene.ts';

const DNS = { DNS_CAPTURE: 'true' };

function table(objects: readonly JsonObject[], node: JsonObject = sidecarNode('prod', DNS)): NameTable['table'] {
  const scene = new Scene(objects);
  scene.connect('client', node);
  return scene.tracker.get(scene.state, scene.state.proxies.get('client')!, nameTables, '')[0]?.message.table;
}

function entry(name: string, spec: JsonObject): JsonObject {
  const ports = [{ number: 80, name: 'http', protocol: 'HTTP' }];
  return istio('ServiceEntry', 'prod', name, { ports, resolution: 'STATIC', ...spec });
}

const pod = (name: string, podIP: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'prod', labels: { app: 'db' } },
  spec: { serviceAccountName: 'db', ...spec },
  status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
});

const slice = (endpoints: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'db-1', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'db' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints,
});

const endpoint = (address: string, name: string, ready = true): JsonObject => ({
  addresses: [address],
  conditions: { ready, terminating: false },
  targetRef: { kind: 'Pod', name, namespace: 'prod' },
});

describe('the name table', () => {
  it('has Kubernetes services with short names, and others without', () => {
    expect(
      table([
        httpService('shop', 'far', 80, '10.96.0.1'),
        entry('ext', { hosts: ['*.example.com'], addresses: ['240.0.0.1', '240.0.1.0/24'] }),
        entry('allocated', { hosts: ['allocated.example.com'] }),
        entry('none', { hosts: ['none.example.com'], resolution: 'NONE' }),
      ]),
    ).toEqual({
      'allocated.example.com': {
        ips: [expect.stringMatching(/^240\.240\.\d+\.\d+$/)],
        registry: 'External',
      },
      'shop.far.svc.cluster.local': { ips: ['10.96.0.1'], registry: 'Kubernetes', shortname: 'shop', namespace: 'far' },
      '*.example.com': { ips: ['240.0.0.1'], registry: 'External' },
    });
  });

  it('has the ready pods of a headless service, and those with a subdomain by name', () => {
    const found = table([
      httpService('db', 'prod', 80, 'None'),
      pod('db-0', '10.1.1.1', { hostname: 'db-0', subdomain: 'db' }),
      pod('db-1', '10.1.1.2'),
      pod('db-2', '10.1.1.3'),
      slice([endpoint('10.1.1.1', 'db-0'), endpoint('10.1.1.2', 'db-1'), endpoint('10.1.1.3', 'db-2', false)]),
    ]);
    expect(found).toEqual({
      'db-0.db.prod.svc.cluster.local': {
        ips: ['10.1.1.1'],
        registry: 'Kubernetes',
        shortname: 'db-0.db',
        namespace: 'prod',
      },
      'db.prod.svc.cluster.local': {
        ips: ['10.1.1.1', '10.1.1.2'],
        registry: 'Kubernetes',
        shortname: 'db',
        namespace: 'prod',
      },
    });
  });

  it('repeats a pod whose service has the number of its first port for UDP and TCP', () => {
    const dns = (protocol: string): JsonObject => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol });
    const ports = [dns('UDP'), dns('TCP')];
    const found = table([
      service('db', 'prod', { clusterIP: 'None', selector: { app: 'db' }, ports }),
      pod('db-1', '10.1.1.2'),
      { ...slice([endpoint('10.1.1.2', 'db-1')]), ports },
    ]);
    expect(found?.['db.prod.svc.cluster.local']?.ips).toEqual(['10.1.1.2', '10.1.1.2']);
  });

  it('merges the addresses of ServiceEntries with one host, and prefers Kubernetes to both', () => {
    const a = entry('a', { hosts: ['api.example.com'], addresses: ['240.0.0.1'] });
    const b = entry('b', { hosts: ['api.example.com'], addresses: ['240.0.0.2'] });
    expect(table([a, b])?.['api.example.com']?.ips).toEqual(['240.0.0.1', '240.0.0.2']);
    const overlap = entry('c', { hosts: ['shop.prod.svc.cluster.local'], addresses: ['240.0.0.3'] });
    const found = table([overlap, httpService('shop', 'prod', 80, '10.96.0.1')]);
    expect(found?.['shop.prod.svc.cluster.local']?.ips).toEqual(['10.96.0.1']);
  });

  it('is empty for a gateway', () => {
    expect(table([httpService('shop', 'prod', 80, '10.96.0.1')], routerNode('edge'))).toBeUndefined();
  });
});

it('a name table has its hosts in order, so that equal tables have equal bytes', () => {
  const entries = ['b', 'a', 'c'].map(host => [host, { ips: ['1.1.1.1'], registry: 'External' }] as const);
  const made = nameTable.run({ entries });
  expect(Object.keys(made.message.table ?? {})).toEqual(['a', 'b', 'c']);
  expect(made).toMatchObject({ name: 'NameTable', problems: [] });
  expect(nameTable.run({ entries: [] })).toEqual({ name: 'NameTable', message: {}, problems: [] });
});
