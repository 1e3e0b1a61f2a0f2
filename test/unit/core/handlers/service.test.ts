// serviceHandler. Source: Istio pilot/pkg/serviceregistry/kube/controller/controller.go (onServiceEvent,
// serviceUpdateNeedsPush).

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { ALIAS_CHAIN_MAX } from '../../../../src/core/handlers/service.ts';
import { inCluster, world } from '../../world.ts';
import { service, serviceEntry, slice, workloadEntry } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey } from './rows.ts';

const web = service('web');
const WEB = `full service ${serviceKey('web')}`;
const changed = (spec: JsonObject, meta: Parameters<typeof service>[2] = {}): JsonObject => service('web', spec, meta);
const port = (rest: JsonObject): JsonObject =>
  changed({ ports: [{ name: 'http', port: 80, targetPort: 8080, ...rest }] });

describe('a change of a Service pushes:', () => {
  const exported = (to: string) => ({ annotations: { 'networking.istio.io/exportTo': to } });
  rows([
    ['an added service', [], says(web), WEB],
    ['a deleted service', [web], deletes(web), WEB],
    ['nothing if it is unchanged', [web], says(web), '-'],
    ['nothing for its status', [web], says({ ...web, status: { conditions: [{ type: 'X', status: 'True' }] } }), '-'],
    ['nothing for an unrelated annotation', [web], says(changed({}, { annotations: { 'example.com/a': 'b' } })), '-'],
    ['its address', [web], says(changed({ clusterIP: '10.96.0.9' })), WEB],
    ['a port', [web], says(port({ port: 81 })), WEB],
    ['the protocol of a port', [web], says(port({ appProtocol: 'grpc' })), WEB],
    ['a target port', [web], says(port({ targetPort: 9090 })), WEB],
    ['its selector', [web], says(changed({ selector: { app: 'x' } })), WEB],
    ['its visibility', [web], says(changed({}, exported('.'))), WEB],
    ['its labels', [web], says(changed({}, { labels: { 'istio.io/persistent-session': 'c' } })), WEB],
    ['its traffic distribution', [web], says(changed({ trafficDistribution: 'PreferClose' })), WEB],
    [
      'nothing for its session affinity, which Istio does not read',
      [web],
      says(changed({ sessionAffinity: 'ClientIP' })),
      '-',
    ],
  ]);
});

describe('a Service that is the gateway of a network pushes:', () => {
  const gateway = (i: number, more: JsonObject = {}): JsonObject =>
    service(
      `gw-${i}`,
      { type: 'LoadBalancer', ports: [{ name: 'tls', port: 15_443 }], externalIPs: [`192.0.2.${i}`], ...more },
      { labels: { 'topology.istio.io/network': 'n2' } },
    );
  const [first] = [gateway(0)];
  const many = Array.from({ length: 101 }, (_, i) => gateway(i));
  const nodePort = (more: JsonObject = {}): JsonObject =>
    service(
      'gw-0',
      { type: 'NodePort', ports: [{ name: 'tls', port: 15_443, nodePort: 30_443 }], ...more },
      { labels: { 'topology.istio.io/network': 'n2' }, annotations: { 'traffic.istio.io/nodeSelector': '{}' } },
    );
  const moved = nodePort({ clusterIP: '10.96.0.9' });
  const nodes = (count: number): readonly JsonObject[] =>
    Array.from({ length: count }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `n${i}` },
      status: { addresses: [{ type: 'ExternalIP', address: `198.51.${Math.floor(i / 250)}.${i % 250}` }] },
    }));
  const KEY = serviceKey('gw-0');
  const NAMED = {
    networks: {
      n: {
        endpoints: [{ fromRegistry: 'Kubernetes' }],
        gateways: [{ registryServiceName: 'web.default.svc.cluster.local', port: 15_443 }],
      },
    },
  };
  rows([
    ['everything, when it comes', [], says(first!), `full forced networks+service ${KEY}`],
    [
      'itself, for what gateways are not made of',
      [first!],
      says(gateway(0, { clusterIP: '10.96.0.9' })),
      `full service ${KEY}`,
    ],
    [
      'everything where there are too many to compare',
      many,
      says(gateway(0, { clusterIP: '10.96.0.9' })),
      `full forced networks+service ${KEY}`,
    ],
    ['itself, where few nodes have it', [nodePort(), ...nodes(3)], says(moved), `full service ${KEY}`],
    [
      'everything where nodes make it too many to compare',
      [nodePort(), ...nodes(1_001)],
      says(moved),
      `full forced networks+service ${KEY}`,
    ],
    ['itself alone, where gateways are others', many, says(web), WEB],
    [
      'itself alone, where MeshNetworks names no gateway',
      world([], { networks: { networks: { n: { endpoints: [{ fromRegistry: 'Kubernetes' }] } } } }),
      says(web),
      WEB,
    ],
    [
      'everything, where MeshNetworks names it',
      world([], { networks: NAMED }),
      says(changed({ type: 'LoadBalancer', externalIPs: ['192.0.2.1'] })),
      `full forced networks+service ${serviceKey('web')}`,
    ],
  ]);
});

describe('the backends of a Service push:', () => {
  const one = slice('web', [{ ip: '10.0.0.1' }]);
  const unready = slice('web', [{ ip: '10.0.0.1', ready: false }]);
  const vm = workloadEntry('vm', { address: '1.1.1.1', labels: { app: 'web' } });
  rows([
    ['a service added after its slice', [one], says(web), `full endpoint+service ${serviceKey('web')}`],
    ['a service deleted with its endpoints', [web, one], deletes(web), `full endpoint+service ${serviceKey('web')}`],
    [
      'WorkloadEntries that a new selector selects',
      [changed({ selector: { app: 'x' } }), vm],
      says(web),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'endpoints whose health depends on a label',
      [web, unready],
      says(changed({}, { labels: { 'istio.io/persistent-session': 'c' } })),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'the endpoints of a headless service',
      [changed({ clusterIP: 'None' }), one],
      deletes(web),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'the endpoints of a ServiceEntry with its host',
      [serviceEntry('e', { hosts: ['web.default.svc.cluster.local'], endpoints: [{ address: '2.2.2.2' }] })],
      says(web),
      WEB,
    ],
  ]);
});

describe('a Service in several clusters pushes:', () => {
  rows([
    ['its address in another cluster', [web], says(web, 'remote'), WEB],
    [
      'the proxies of another cluster for a target port there',
      [web, inCluster('remote', web)],
      says(port({ targetPort: 1 }), 'remote'),
      WEB,
    ],
    ['a service deleted in another cluster', [web, inCluster('remote', web)], deletes(web, 'remote'), WEB],
  ]);
});

describe('an alias of a Service pushes:', () => {
  const alias = (name: string, externalName: string): JsonObject =>
    service(name, { type: 'ExternalName', externalName, clusterIP: '', selector: {} });
  const host = (name: string): string => `${name}.default.svc.cluster.local`;
  rows([
    [
      'itself and its target',
      [web],
      says(alias('a', host('web'))),
      `full service ${serviceKey('a')} ${serviceKey('web')}`,
    ],
    [
      'itself and every target of a chain',
      [web, alias('b', host('web'))],
      says(alias('a', host('b'))),
      `full service ${serviceKey('a')} ${serviceKey('b')} ${serviceKey('web')}`,
    ],
    ['only itself if it refers to itself', [], says(alias('a', host('a'))), `full service ${serviceKey('a')}`],
    ['only itself for an unknown target', [], says(alias('a', 'example.com')), `full service ${serviceKey('a')}`],
    [
      'everything, where a chain is too long to follow',
      Array.from({ length: ALIAS_CHAIN_MAX + 1 }, (_, i) => alias(`c${i}`, host(`c${i + 1}`))),
      says(alias('a', host('c0'))),
      `full forced service ${serviceKey('a')}`,
    ],
    [
      'the old and the new target when it changes',
      [web, serviceEntry('e', { hosts: ['e.com'] }), alias('a', host('web'))],
      says(alias('a', 'e.com')),
      `full service ${serviceKey('a')} ${entryKey('e.com')} ${serviceKey('web')}`,
    ],
  ]);
});

describe('gateways of networks push:', () => {
  const labels = { 'topology.istio.io/network': 'n2' };
  const gateway = (spec: JsonObject): JsonObject =>
    service('gw', { type: 'LoadBalancer', ports: [{ name: 'tls', port: 15_443 }], ...spec }, { labels });
  const there = gateway({ externalIPs: ['9.9.9.9'] });
  rows([
    ['everything for a new gateway', [], says(there), `full forced networks+service ${serviceKey('gw')}`],
    [
      'everything for a changed address',
      [there],
      says(gateway({ externalIPs: ['9.9.9.8'] })),
      `full forced networks+service ${serviceKey('gw')}`,
    ],
    ['everything for a deleted gateway', [there], deletes(there), `full forced networks+service ${serviceKey('gw')}`],
    [
      'everything for a removed last address',
      [there],
      says(gateway({})),
      `full forced networks+service ${serviceKey('gw')}`,
    ],
    ['only its service for a gateway without an address', [], says(gateway({})), `full service ${serviceKey('gw')}`],
    [
      'everything for a gateway in another cluster',
      [],
      says(there, 'remote'),
      `full forced networks+service ${serviceKey('gw')}`,
    ],
  ]);
});
