import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { State } from '../../../src/core/state.ts';
import {
  destinationRule,
  namespace,
  node,
  pod,
  service,
  serviceEntry,
  slice,
  to,
  virtualService,
  workloadEntry,
} from '../registry/fixtures.ts';
import { nodeOf, put, remove, type Stepped, step, world } from '../world.ts';

const WEB = 'ServiceEntry/default/web.default.svc.cluster.local';
const EXT = 'ServiceEntry/default/ext.example.com';

/** What was asked for, in short: `full reasons keys`, or `-`. */
function asked({ push }: Stepped): string {
  if (push.causes.count === 0) return '-';
  const reasons = Object.keys(push.reasons).join('+');
  return `${push.full ? 'full' : 'incremental'} ${reasons} ${push.configsUpdated.join(' ')}`.trim();
}
const pushOf = (state: State, object: JsonObject): string => asked(put(state, object));

describe('config', () => {
  test('a change is a full push of its key; the same again is none', () => {
    const rule = destinationRule('r', 'web');
    const added = put(world([]), rule);
    expect(asked(added)).toBe('full config DestinationRule/default/r');
    expect(pushOf(added.state, rule)).toBe('-');
    expect(asked(remove(added.state, rule))).toBe('full config DestinationRule/default/r');
  });
  test('a delegate changes its roots', () => {
    const root = virtualService('root', { hosts: ['a.com'], http: [{ delegate: { name: 'leaf' } }] });
    expect(pushOf(world([root]), virtualService('leaf', { http: [to('b')] }))).toBe(
      'full config VirtualService/default/root',
    );
    expect(pushOf(world([]), virtualService('leaf', { http: [to('b')] }))).toBe('-');
  });
});

describe('services', () => {
  test('a new or changed service is a full push', () => {
    expect(pushOf(world([]), service('web'))).toBe(`full service ${WEB}`);
    expect(pushOf(world([service('web')]), service('web', { clusterIP: '10.96.0.9' }))).toBe(`full service ${WEB}`);
  });
  test('a second cluster with the same service adds its address', () => {
    expect(asked(put(world([service('web')]), service('web'), 'remote'))).toBe(`full service ${WEB}`);
  });
  test('what nobody reads is no change', () => {
    const annotated = service('web', {}, { annotations: { 'example.com/x': 'y' } });
    expect(pushOf(world([service('web')]), annotated)).toBe('-');
  });
  test('an alias names its target too', () => {
    const alias = service('alias', {
      type: 'ExternalName',
      externalName: 'web.default.svc.cluster.local',
      clusterIP: '',
      selector: {},
    });
    expect(pushOf(world([service('web')]), alias)).toBe(
      `full service ServiceEntry/default/alias.default.svc.cluster.local ${WEB}`,
    );
  });
});

describe('endpoints', () => {
  const one = slice('web', [{ ip: '10.0.0.1' }]);
  const two = slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]);
  test('the first endpoints are full, more of them incremental, none lost without a push', () => {
    const state = world([service('web')]);
    expect(pushOf(state, one)).toBe(`full endpoint ${WEB}`);
    const has = put(state, one).state;
    expect(pushOf(has, two)).toBe(`incremental endpoint ${WEB}`);
    expect(asked(remove(has, one))).toBe(`incremental endpoint ${WEB}`);
    expect(pushOf(has, one)).toBe('-');
  });
  test('a new service account is full', () => {
    const state = world([service('web'), pod('p', '10.0.0.2', { account: 'new' }), one]);
    expect(pushOf(state, slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2', pod: 'p' }]))).toBe(
      `full endpoint ${WEB}`,
    );
  });
  test('headless: a full push beside it', () => {
    const state = world([service('web', { clusterIP: 'None' }), one]);
    expect(pushOf(state, two)).toBe(`full endpoint+headlessendpoint ${WEB}`);
  });
  test('a slice of a service that is not there is silent', () => {
    expect(pushOf(world([]), one)).toBe('-');
  });
  test('a pod that a slice waits for, and then its labels', () => {
    const state = world([service('web'), slice('web', [{ ip: '10.0.0.1', pod: 'p' }])]);
    const known = put(state, pod('p', '10.0.0.1'));
    expect(asked(known)).toBe(`full endpoint ${WEB}`);
    expect(pushOf(known.state, pod('p', '10.0.0.1', { labels: { version: 'v2' } }))).toBe(
      `incremental endpoint ${WEB}`,
    );
    expect(pushOf(known.state, pod('p', '10.0.0.1', { ready: false }))).toBe('-');
  });
  test('a node that gives its pods another zone', () => {
    const state = world([
      service('web'),
      pod('p', '10.0.0.1', { node: 'n' }),
      slice('web', [{ ip: '10.0.0.1', pod: 'p' }]),
    ]);
    const zoned = put(state, node('n', 'r', 'z'));
    expect(asked(zoned)).toBe(`incremental endpoint ${WEB}`);
    expect(pushOf(zoned.state, node('n', 'r', 'z'))).toBe('-');
  });
});

describe('ServiceEntries and WorkloadEntries', () => {
  const entry = (address: string, resolution = 'STATIC') =>
    serviceEntry('ext', { hosts: ['ext.example.com'], resolution, endpoints: [{ address }] });
  test('a service that differs is full, endpoints that differ are not, unless proxies resolve them', () => {
    const added = put(world([]), entry('1.1.1.1'));
    expect(asked(added)).toBe(`full endpoint+service ${EXT}`);
    expect(pushOf(added.state, entry('2.2.2.2'))).toBe(`incremental endpoint ${EXT}`);
    const dns = put(world([]), entry('a.example.com', 'DNS')).state;
    expect(pushOf(dns, entry('b.example.com', 'DNS'))).toBe(`full endpoint ${EXT}`);
  });
  test('a host that goes is looked at as well', () => {
    const both = serviceEntry('ext', { hosts: ['ext.example.com', 'two.example.com'] });
    expect(pushOf(world([both]), serviceEntry('ext', { hosts: ['ext.example.com'] }))).toBe(
      'full service ServiceEntry/default/two.example.com',
    );
  });
  test('a WorkloadEntry concerns the services that select it', () => {
    const labels = { app: 'web' };
    const selecting = serviceEntry('ext', { hosts: ['ext.example.com'], workloadSelector: { labels } });
    const state = world([service('web'), selecting, workloadEntry('old', { address: '9.9.9.9', labels })]);
    expect(pushOf(state, workloadEntry('vm', { address: '1.1.1.1', labels }))).toBe(
      `incremental endpoint ${EXT} ${WEB}`,
    );
    expect(pushOf(state, workloadEntry('vm', { address: '1.1.1.1', labels: { app: 'x' } }))).toBe('-');
  });
});

describe('gateways of networks', () => {
  const labels = { 'topology.istio.io/network': 'n2' };
  const gateway = service(
    'eastwest',
    { type: 'LoadBalancer', ports: [{ name: 'tls', port: 15443 }], externalIPs: ['9.9.9.9'] },
    { labels },
  );
  test('a labelled service with an address is everybody’s business, also one of another cluster', () => {
    const { push } = put(world([]), gateway, 'remote');
    expect(push).toMatchObject({ full: true, forced: true, reasons: { networks: 1, service: 1 } });
  });
  test('a node in front of one', () => {
    const annotations = { 'traffic.istio.io/nodeSelector': '{"topology.kubernetes.io/region":"r"}' };
    const nodePort = service(
      'eastwest',
      { type: 'NodePort', ports: [{ name: 'tls', port: 15443, nodePort: 30443 }] },
      { labels, annotations },
    );
    const external = { ...node('n', 'r', 'z'), status: { addresses: [{ type: 'ExternalIP', address: '8.8.8.8' }] } };
    expect(pushOf(world([nodePort]), external)).toBe('full networks');
    expect(pushOf(world([nodePort]), node('n', 'r', 'z'))).toBe('-');
  });
});

test('the target port of another cluster matters to the proxies there', () => {
  const state = put(world([service('web')]), service('web'), 'remote').state;
  const moved = service('web', { ports: [{ name: 'http', port: 80, targetPort: 9999 }] });
  expect(asked(put(state, moved, 'remote'))).toBe(`full service ${WEB}`);
});

describe('the rest', () => {
  test('the network of a cluster is everybody’s business', () => {
    const labels = { 'topology.istio.io/network': 'n' };
    expect(pushOf(world([]), namespace('istio-system', { labels }))).toBe('full networks');
    expect(pushOf(world([]), namespace('default', { labels }))).toBe('-');
  });
  test('the traffic distribution of a namespace changes its services', () => {
    const annotations = { 'networking.istio.io/traffic-distribution': 'PreferClose' };
    expect(pushOf(world([service('web')]), namespace('default', { annotations }))).toBe(`full service ${WEB}`);
  });
  test('secrets are incremental; tokens and ConfigMaps without a CA are nobody’s', () => {
    const of = (kind: string, rest: JsonObject): JsonObject => ({
      apiVersion: 'v1',
      kind,
      metadata: { name: 's', namespace: 'default' },
      ...rest,
    });
    expect(pushOf(world([]), of('Secret', { type: 'Opaque', data: {} }))).toBe('incremental secret Secret/default/s');
    expect(pushOf(world([]), of('Secret', { type: 'kubernetes.io/service-account-token', data: {} }))).toBe('-');
    expect(pushOf(world([]), of('ConfigMap', { data: { x: 'y' } }))).toBe('-');
    expect(pushOf(world([]), of('ConfigMap', { data: { 'ca.crt': 'y' } }))).toBe(
      'incremental secret ConfigMap/default/s',
    );
  });
  test('a connected proxy is looked at when its pod changes', () => {
    const connected = step(world([]), {
      kind: 'ProxyConnected',
      source: 'xds',
      connection: 'c',
      node: nodeOf({ name: 'web-1', ip: '10.0.0.1' }),
      protocol: 'sotw',
    }).state;
    expect(pushOf(connected, pod('web-1', '10.0.0.1'))).toBe('full proxy Pod/default/web-1');
    expect(pushOf(connected, pod('web-2', '10.0.0.2'))).toBe('-');
  });
});
