import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { type SidecarScope, scopeService, sidecarScope } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { ask, nodeOf, proxyOf, put, type WorldPart, world } from '../../../world.ts';
import { service, serviceEntry, sidecar, to, virtualService } from '../../registry/fixtures.ts';

const near = service('near');
const far = service('far', {}, { namespace: 'other' });
const two = service('two', {
  ports: [
    { name: 'http', port: 80 },
    { name: 'tcp', port: 81 },
  ],
});

function scopeOf(parts: readonly WorldPart[], node = nodeOf()): SidecarScope {
  return ask(world(parts), sidecarScope, '', proxyOf(node));
}
const hosts = (services: SidecarScope['services']) => services.map(({ hostname }) => hostname.split('.')[0]);

describe('the Sidecar of a proxy', () => {
  const only = (host: string, rest = {}) => ({ egress: [{ hosts: [host] }], ...rest });
  const root = sidecar('root', only('*/far.other.svc.cluster.local'), { namespace: 'istio-system' });
  const general = sidecar('general', only('./near.default.svc.cluster.local'));
  const chosen = sidecar(
    'chosen',
    only('./two.default.svc.cluster.local', { workloadSelector: { labels: { app: 'a' } } }),
  );
  const name = (parts: readonly WorldPart[], labels = {}) => scopeOf(parts, nodeOf({ labels })).sidecar?.name;
  test('is one that selects it, else one without selector, else the root default, else none', () => {
    expect(name([root, general, chosen], { app: 'a' })).toBe('chosen');
    expect(name([root, general, chosen], { app: 'b' })).toBe('general');
    expect(name([root, chosen], { app: 'b' })).toBe('root');
    expect(name([chosen], { app: 'b' })).toBeUndefined();
  });
  test('is the oldest of several that apply, and in the root namespace the default is one without selector', () => {
    const made = (name: string, day: number, app?: string, namespace = 'default') =>
      sidecar(name, only('./*', app === undefined ? {} : { workloadSelector: { labels: { app } } }), {
        day,
        namespace,
      });
    expect(name([made('a', 2), made('b', 1)])).toBe('b');
    expect(name([made('a', 3, 'x'), made('b', 2, 'x'), made('c', 1)], { app: 'x' })).toBe('b');
    expect(name([made('a', 3, 'x'), made('b', 2, 'x'), made('c', 1)], { app: 'y' })).toBe('c');
    expect(name([made('a', 1, 'x', 'istio-system'), made('b', 2, undefined, 'istio-system')], { app: 'x' })).toBe('b');
    expect(name([made('a', 1, 'x', 'istio-system')], { app: 'x' })).toBeUndefined();
  });
  test('resolves namespaces of the root default in the namespace of the proxy', () => {
    const here = sidecar('root', only('./*'), { namespace: 'istio-system' });
    expect(hosts(scopeOf([here, near, far]).services)).toEqual(['near']);
  });
});

describe('the services of an egress listener', () => {
  const egress = (...listeners: object[]) => sidecar('s', { egress: listeners } as never);
  test('match namespace and host patterns; `~` excludes nothing', () => {
    const scope = scopeOf([near, far, two, egress({ hosts: ['./near.default.svc.cluster.local', 'other/*', '~/*'] })]);
    expect(hosts(scope.services)).toEqual(['far', 'near']);
  });
  test('have only the port of the listener, if it has one', () => {
    const port = { number: 81, protocol: 'TCP', name: 'tcp' };
    const scope = scopeOf([near, two, egress({ port, hosts: ['*/*'] })]);
    expect(scope.services.map(s => [s.name, s.ports.map(p => p.port)])).toEqual([['two', [81]]]);
  });
  test('are merged again if two listeners have ports of one service', () => {
    const listener = (number: number) => ({ port: { number, protocol: 'TCP', name: `p${number}` }, hosts: ['*/*'] });
    const scope = scopeOf([two, egress(listener(80), listener(81))]);
    expect(scope.services.map(s => s.ports.map(p => p.port))).toEqual([[80, 81]]);
  });
  test('prefer for one hostname the own namespace, then Kubernetes', () => {
    const host = 'near.default.svc.cluster.local';
    const entry = serviceEntry('ext', { hosts: [host] }, { namespace: 'other' });
    expect(scopeOf([near, entry]).services.map(s => s.namespace)).toEqual(['default']);
    const there = scopeOf([near, entry], nodeOf({ namespace: 'other' }));
    expect(there.egressListeners[0]?.services.map(s => s.namespace)).toEqual(['other']);
    const third = scopeOf([near, entry], nodeOf({ namespace: 'third' }));
    expect(third.services.map(s => s.registry)).toEqual(['Kubernetes']);
  });
});

describe('destinations of VirtualServices in a scope', () => {
  const egress = sidecar('s', { egress: [{ hosts: ['./*'] }] });
  const vs = (rest = {}) => virtualService('vs', { hosts: ['near'], http: [to('far.other.svc.cluster.local', rest)] });
  test('get clusters, but are no services of the listener', () => {
    const scope = scopeOf([near, far, egress, vs()]);
    expect(hosts(scope.services)).toEqual(['near', 'far']);
    expect(hosts(scope.egressListeners[0]!.services)).toEqual(['near']);
  });
  test('ignore rules for other source namespaces', () => {
    expect(hosts(scopeOf([near, far, egress, vs({ match: [{ sourceNamespace: 'x' }] })]).services)).toEqual(['near']);
  });
  test('are limited to the named ports', () => {
    const wide = service(
      'far',
      {
        ports: [
          { name: 'http', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
      { namespace: 'other' },
    );
    const destination = { host: 'far.other.svc.cluster.local', port: { number: 81 } };
    const named = virtualService('vs', { hosts: ['near'], http: [{ route: [{ destination }] }] });
    const found = scopeOf([near, wide, egress, named]).services.find(s => s.name === 'far');
    expect(found?.ports.map(port => port.port)).toEqual([81]);
  });
});

test('the scope of a router has all services, and its listener none', () => {
  const scope = scopeOf([near, far], nodeOf({ type: 'router' }));
  expect(hosts(scope.services)).toEqual(['far', 'near']);
  expect(scope.egressListeners[0]?.services).toEqual([]);
});

test('the outbound policy comes from the Sidecar, else from the mesh', () => {
  const mesh = { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } };
  const policy = (parts: readonly WorldPart[]) =>
    ask(world(parts, { mesh }), sidecarScope, '').outboundTrafficPolicy.mode;
  expect(policy([])).toBe('REGISTRY_ONLY');
  expect(policy([sidecar('s', { outboundTrafficPolicy: { mode: 'ALLOW_ANY' } })])).toBe('ALLOW_ANY');
  expect(policy([sidecar('s', { outboundTrafficPolicy: {} })])).toBe('REGISTRY_ONLY');
  expect(scopeOf([sidecar('s', { outboundTrafficPolicy: {} })]).outboundTrafficPolicy.mode).toBe('REGISTRY_ONLY');
  expect(scopeOf([]).outboundTrafficPolicy.mode).toBe('ALLOW_ANY');
  for (const outboundTrafficPolicy of [{}, { mode: 'ALLOW_ANY_DYNAMIC_DNS' }]) {
    const state = world([], { mesh: { outboundTrafficPolicy } });
    expect(ask(state, sidecarScope, '').outboundTrafficPolicy.mode).toBe('REGISTRY_ONLY');
  }
});

describe('a Sidecar scope', () => {
  test('is shared by proxies of a namespace with any labels, while no selector asks for them', () => {
    const state = world([near, far]);
    const tracker = new Tracker();
    const [a, b] = ['a', 'b'].map(app => proxyOf(nodeOf({ labels: { app }, name: app, ip: '10.0.0.5' }), app));
    expect(tracker.get(state, a, sidecarScope, '')).toBe(tracker.get(state, b, sidecarScope, ''));
  });
  test('keeps its identity over changes outside of it', () => {
    const before = world([near, far, sidecar('s', { egress: [{ hosts: ['./*'] }] })]);
    const tracker = new Tracker();
    const proxy = proxyOf(nodeOf());
    const old = tracker.get(before, proxy, sidecarScope, '');
    const after = put(before, service('far', { clusterIP: '10.96.9.9' }, { namespace: 'other' })).state;
    expect(tracker.get(after, proxy, sidecarScope, '')).toBe(old);
    expect(tracker.get(after, proxy, scopeService, 'near.default.svc.cluster.local')?.name).toBe('near');
  });

  describe('after a change of a VirtualService', () => {
    const far2 = service('far2', {}, { namespace: 'other' });
    const egress = sidecar('s', { egress: [{ hosts: ['./*'] }] });
    const destination = { host: 'two', port: { number: 80 } };
    const rule = { route: [{ destination }], headers: { request: { set: { round: '1' } } } };
    const vs = (...http: Json[]) => virtualService('vs', { hosts: ['near'], http });
    function servicesAfter(changed: JsonObject, type: 'sidecar' | 'router' = 'sidecar') {
      const before = world([near, two, far, far2, egress, vs(rule)]);
      const tracker = new Tracker();
      const proxy = proxyOf(nodeOf({ type }));
      const old = tracker.get(before, proxy, sidecarScope, '');
      const now = tracker.get(put(before, changed).state, proxy, sidecarScope, '');
      expect(now.egressListeners).not.toBe(old.egressListeners);
      return { old: old.services, now: now.services };
    }
    const shown = (services: SidecarScope['services']) =>
      services.map(s => [s.name, s.ports.map(port => port.port).join()]);

    test.each(['sidecar', 'router'] as const)('of headers or matches keeps its services, those of a %s', type => {
      const header = vs({ ...rule, headers: { request: { set: { round: '2' } } } });
      const match = vs({ ...rule, match: [{ sourceLabels: { app: 'x' }, headers: { round: { exact: '2' } } }] });
      for (const changed of [header, match]) {
        const { old, now } = servicesAfter(changed, type);
        expect(now).toBe(old);
      }
    });
    test('has the services of destinations that were added', () => {
      const { old, now } = servicesAfter(vs(rule, to('far.other.svc.cluster.local')));
      expect(hosts(old)).toEqual(['near', 'two']);
      expect(hosts(now)).toEqual(['near', 'two', 'far']);
    });
    test('has others for another destination', () => {
      const { now } = servicesAfter(vs(to('far2.other.svc.cluster.local')));
      expect(hosts(now)).toEqual(['near', 'two', 'far2']);
    });
    test('lacks those of a rule that applies to clients of other namespaces only', () => {
      const external = to('far.other.svc.cluster.local') as JsonObject;
      const general = world([near, far, egress, vs(external)]);
      const tracker = new Tracker();
      const ask = (state: typeof general) => hosts(tracker.get(state, proxyOf(nodeOf()), sidecarScope, '').services);
      expect(ask(general)).toEqual(['near', 'far']);
      const restricted = put(general, vs({ ...external, match: [{ sourceNamespace: 'x' }] })).state;
      expect(ask(restricted)).toEqual(['near']);
      const own = put(restricted, vs({ ...external, match: [{ sourceNamespace: 'default' }] })).state;
      expect(ask(own)).toEqual(['near', 'far']);
    });
    test('has the port that a destination names now', () => {
      const narrow = sidecar('s', { egress: [{ hosts: ['./near.default.svc.cluster.local'] }] });
      const before = world([near, two, narrow, vs(rule)]);
      const tracker = new Tracker();
      const ask = (state: typeof before) => shown(tracker.get(state, proxyOf(nodeOf()), sidecarScope, '').services);
      expect(ask(before)).toEqual([
        ['near', '80'],
        ['two', '80'],
      ]);
      const moved = vs({ ...rule, route: [{ destination: { ...destination, port: { number: 81 } } }] });
      expect(ask(put(before, moved).state)).toEqual([
        ['near', '80'],
        ['two', '81'],
      ]);
    });
  });
});
