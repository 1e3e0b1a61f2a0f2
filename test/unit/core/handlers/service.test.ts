// serviceHandler. Source: Istio pilot/pkg/serviceregistry/kube/controller/controller.go (onServiceEvent,
// serviceUpdateNeedsPush).

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { inCluster } from '../../world.ts';
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
    ['it comes', [], says(web), WEB],
    ['it goes', [web], deletes(web), WEB],
    ['nothing', [web], says(web), '-'],
    ['its status', [web], says({ ...web, status: { conditions: [{ type: 'X', status: 'True' }] } }), '-'],
    ['an annotation of somebody else', [web], says(changed({}, { annotations: { 'example.com/a': 'b' } })), '-'],
    ['its address', [web], says(changed({ clusterIP: '10.96.0.9' })), WEB],
    ['a port', [web], says(port({ port: 81 })), WEB],
    ['the protocol of a port', [web], says(port({ appProtocol: 'grpc' })), WEB],
    ['a target port', [web], says(port({ targetPort: 9090 })), WEB],
    ['its selector', [web], says(changed({ selector: { app: 'x' } })), WEB],
    ['who may see it', [web], says(changed({}, exported('.'))), WEB],
    ['its labels', [web], says(changed({}, { labels: { 'istio.io/persistent-session': 'c' } })), WEB],
    ['its traffic distribution', [web], says(changed({ trafficDistribution: 'PreferClose' })), WEB],
    ['its session affinity, which Istio does not read', [web], says(changed({ sessionAffinity: 'ClientIP' })), '-'],
  ]);
});

describe('the backends of a Service push:', () => {
  const one = slice('web', [{ ip: '10.0.0.1' }]);
  const unready = slice('web', [{ ip: '10.0.0.1', ready: false }]);
  const vm = workloadEntry('vm', { address: '1.1.1.1', labels: { app: 'web' } });
  rows([
    ['a service that comes after its slice', [one], says(web), `full endpoint+service ${serviceKey('web')}`],
    ['a service that goes with its endpoints', [web, one], deletes(web), `full endpoint+service ${serviceKey('web')}`],
    [
      'WorkloadEntries that a new selector selects',
      [changed({ selector: { app: 'x' } }), vm],
      says(web),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'the health of endpoints hangs on a label',
      [web, unready],
      says(changed({}, { labels: { 'istio.io/persistent-session': 'c' } })),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'a headless service is made of its endpoints',
      [changed({ clusterIP: 'None' }), one],
      deletes(web),
      `full endpoint+service ${serviceKey('web')}`,
    ],
    [
      'a ServiceEntry of the same host gives it endpoints',
      [serviceEntry('e', { hosts: ['web.default.svc.cluster.local'], endpoints: [{ address: '2.2.2.2' }] })],
      says(web),
      WEB,
    ],
  ]);
});

describe('a Service in several clusters pushes:', () => {
  rows([
    ['the same service of another one: its address', [web], says(web, 'remote'), WEB],
    [
      'a target port of another one: the proxies there',
      [web, inCluster('remote', web)],
      says(port({ targetPort: 1 }), 'remote'),
      WEB,
    ],
    ['a service of another one that goes', [web, inCluster('remote', web)], deletes(web, 'remote'), WEB],
  ]);
});

describe('an alias of a Service pushes:', () => {
  const alias = (name: string, externalName: string): JsonObject =>
    service(name, { type: 'ExternalName', externalName, clusterIP: '', selector: {} });
  const host = (name: string): string => `${name}.default.svc.cluster.local`;
  rows([
    ['name their target', [web], says(alias('a', host('web'))), `full service ${serviceKey('a')} ${serviceKey('web')}`],
    [
      'name every target of a chain',
      [web, alias('b', host('web'))],
      says(alias('a', host('b'))),
      `full service ${serviceKey('a')} ${serviceKey('b')} ${serviceKey('web')}`,
    ],
    ['of themselves end', [], says(alias('a', host('a'))), `full service ${serviceKey('a')}`],
    ['of nothing we know name themselves', [], says(alias('a', 'example.com')), `full service ${serviceKey('a')}`],
    [
      'that move name the old and the new target',
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
    ['one comes: everything', [], says(there), `full forced networks+service ${serviceKey('gw')}`],
    [
      'another address: everything',
      [there],
      says(gateway({ externalIPs: ['9.9.9.8'] })),
      `full forced networks+service ${serviceKey('gw')}`,
    ],
    ['it goes: everything', [there], deletes(there), `full forced networks+service ${serviceKey('gw')}`],
    [
      'its last address goes: everything',
      [there],
      says(gateway({})),
      `full forced networks+service ${serviceKey('gw')}`,
    ],
    ['one without an address leads nowhere', [], says(gateway({})), `full service ${serviceKey('gw')}`],
    ['of another cluster: everything', [], says(there, 'remote'), `full forced networks+service ${serviceKey('gw')}`],
  ]);
});
