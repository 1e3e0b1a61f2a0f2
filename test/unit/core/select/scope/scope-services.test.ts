// Which service of a hostname a proxy gets, with which ports, when several namespaces, sources or listeners have it.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { listenerServices, sidecarScope } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { visibleServices } from '../../../../../src/core/select/scope/visibility.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { type Meta, service, serviceEntry, sidecar, to, virtualService } from '../../registry/fixtures.ts';

type Env = Readonly<Record<string, string>>;
const port = (number: number, protocol = 'TCP'): JsonObject => ({ number, protocol, name: `p${number}` });
const scopeOf = (parts: readonly JsonObject[], env: Env = {}, node = nodeOf()) =>
  ask(world(parts, { settings: { ...defaultSettings, env } }), sidecarScope, '', proxyOf(node));
const egress = (...listeners: readonly JsonObject[]) => sidecar('s', { egress: [...listeners] });

const HOST = 'a.com';
const entry = (namespace: string, day: number, spec: JsonObject = {}, meta: Meta = {}) =>
  serviceEntry(`e${day}`, { hosts: [HOST], resolution: 'DNS', ...spec }, { namespace, day, ...meta });
/** A Kubernetes Service and ServiceEntries with its hostname. */
const KUBE = 'web.kube.svc.cluster.local';
const kube = (spec: JsonObject = {}) => service('web', spec, { namespace: 'kube', day: 9 });

describe('the services that a namespace sees', () => {
  const exported = (name: string, exportTo: string, day: number) =>
    service(name, {}, { namespace: 'far', day, annotations: { 'networking.istio.io/exportTo': exportTo } });
  const parts = [
    exported('open-old', '*', 1),
    exported('named', 'near', 2),
    exported('own', '.', 3),
    exported('none', '~', 4),
    exported('none-but', '~,near', 5),
    exported('all-but', '*,near', 6),
    exported('open-new', '*', 7),
  ];
  const seen = (namespace: string) => ask(world(parts), visibleServices, namespace).map(({ name }) => name);
  test('are those exported to it by name, then the public ones, each by age', () => {
    expect(seen('near')).toEqual(['named', 'open-old', 'all-but', 'open-new']);
    expect(seen('far')).toEqual(['own', 'open-old', 'all-but', 'open-new']);
    expect(seen('third')).toEqual(['open-old', 'all-but', 'open-new']);
  });
  test('and that its rules may name as destinations are those of any named namespace', () => {
    const state = (host: string) => {
      const rules = virtualService(
        'vs',
        { hosts: ['x.com'], http: [to(`${host}.far.svc.cluster.local`)] },
        { namespace: 'near' },
      );
      const only = sidecar('s', { egress: [{ hosts: ['./x.com'] }] }, { namespace: 'near' });
      return scopeOf([...parts, rules, only], {}, nodeOf({ namespace: 'near' })).services.map(({ name }) => name);
    };
    expect(state('named')).toEqual(['named']);
    expect(state('open-old')).toEqual(['open-old']);
    expect(state('none-but')).toEqual(['none-but']);
    expect(state('own')).toEqual([]);
    expect(state('none')).toEqual([]);
  });
});

describe('of the namespaces with an imported hostname', () => {
  const chosen = (parts: readonly JsonObject[], env: Env = {}, namespace = 'default') =>
    scopeOf(parts, env, nodeOf({ namespace })).egressListeners[0]?.services.map(
      one => `${one.namespace} ${one.registry}`,
    );
  const LEGACY = { PILOT_UNIFIED_SIDECAR_SCOPE: 'false' };
  const squatters = [
    serviceEntry('x', { hosts: [KUBE], resolution: 'DNS' }, { namespace: 'far', day: 1 }),
    serviceEntry('y', { hosts: [KUBE], resolution: 'DNS' }, { namespace: 'third', day: 2 }),
  ];
  test('the own one counts, then that of Kubernetes, then the oldest', () => {
    expect(chosen([...squatters, kube()])).toEqual(['kube Kubernetes']);
    expect(chosen([...squatters, kube()], {}, 'third')).toEqual(['third External']);
    expect(chosen([...squatters, kube()], {}, 'far')).toEqual(['far External']);
    expect(chosen(squatters)).toEqual(['far External']);
  });
  test('Kubernetes has no precedence without the unified scope', () => {
    expect(chosen([...squatters, kube()], LEGACY)).toEqual(['far External']);
    expect(chosen([...squatters, kube()], LEGACY, 'third')).toEqual(['third External']);
  });
  test('all services of the chosen one stay', () => {
    const two = [entry('far', 1, { ports: [port(80)] }), entry('far', 2, { ports: [port(81)] }), entry('third', 3)];
    expect(chosen(two)).toEqual(['far External', 'far External']);
  });
});

describe('a destination that no listener imports', () => {
  const only = egress({ hosts: ['./x.com'] });
  const rules = (host: string, rest: JsonObject = {}) =>
    virtualService('vs', { hosts: ['x.com'], http: [{ route: [{ destination: { host, ...rest } }] }] });
  const chosen = (parts: readonly JsonObject[], host: string, env: Env = {}) =>
    scopeOf([only, rules(host), ...parts], env).services.map(one => `${one.namespace} ${one.registry}`);
  const BEST_OFF = { PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE: 'false' };

  test('is the service of the own namespace, even if a Kubernetes one is older', () => {
    expect(chosen([entry('far', 1), entry('default', 2)], HOST)).toEqual(['default External']);
    const squatter = serviceEntry('x', { hosts: [KUBE], resolution: 'DNS' }, { day: 10 });
    expect(chosen([squatter, kube()], KUBE)).toEqual(['default External']);
  });
  test('is else that of Kubernetes, else the oldest', () => {
    const squatter = serviceEntry('x', { hosts: [KUBE], resolution: 'DNS' }, { namespace: 'far', day: 1 });
    expect(chosen([squatter, kube()], KUBE)).toEqual(['kube Kubernetes']);
    expect(chosen([entry('b', 2), entry('c', 1), entry('a', 3)], HOST)).toEqual(['c External']);
    expect(chosen([entry('b', 1), entry('a', 1)], HOST)).toEqual(['a External']);
    expect(chosen([], HOST)).toEqual([]);
  });
  test('is that of the first namespace by name, if the best is not asked for', () => {
    const squatter = serviceEntry('x', { hosts: [KUBE], resolution: 'DNS' }, { namespace: 'z', day: 1 });
    expect(chosen([squatter, kube()], KUBE, BEST_OFF)).toEqual(['kube Kubernetes']);
    expect(chosen([entry('b', 2), entry('c', 1), entry('a', 3)], HOST, BEST_OFF)).toEqual(['a External']);
    expect(chosen([entry('a', 1, { exportTo: ['.'] }), entry('b', 2)], HOST, BEST_OFF)).toEqual(['b External']);
  });
  test('of one namespace is the oldest, or that of Kubernetes', () => {
    const at = (day: number, number: number) => entry('far', day, { ports: [port(number)] });
    const ports = (...parts: readonly JsonObject[]) =>
      scopeOf([only, rules(HOST), ...parts]).services.map(one => one.ports.map(({ port: number }) => number));
    expect(ports(at(3, 81), at(2, 80))).toEqual([[80]]);
    expect(ports(at(2, 80), at(3, 81))).toEqual([[80]]);
    for (const day of [1, 10]) {
      const squatter = serviceEntry('x', { hosts: [KUBE], resolution: 'DNS' }, { namespace: 'kube', day });
      expect(chosen([squatter, kube()], KUBE)).toEqual(['kube Kubernetes']);
    }
  });
  test('has the port of the listener, else those that rules name, and is left out if it has none of them', () => {
    const two = service(
      'two',
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
          { name: 'c', port: 82 },
        ],
      },
      { namespace: 'far' },
    );
    const ports = (listener: JsonObject, destination: JsonObject = {}) =>
      scopeOf([
        egress({ hosts: ['./x.com'], ...listener }),
        rules('two.far.svc.cluster.local', destination),
        two,
      ]).services.map(one => one.ports.map(({ port: number }) => number));
    expect(ports({})).toEqual([[80, 81, 82]]);
    expect(ports({ port: port(81) })).toEqual([[81]]);
    expect(ports({ port: port(81) }, { port: { number: 80 } })).toEqual([[81]]);
    expect(ports({ port: port(90) })).toEqual([]);
    expect(ports({}, { port: { number: 82 } })).toEqual([[82]]);
    expect(ports({}, { port: { number: 90 } })).toEqual([]);
    expect(ports({ port: port(81, 'HTTP_PROXY') })).toEqual([[80, 81, 82]]);
  });
});

describe('the ports of the services of one hostname', () => {
  const spec = (number: number, more: JsonObject = {}) => ({ ports: [port(number)], ...more });
  const ports = (first: JsonObject, second: JsonObject) =>
    scopeOf([first, second]).services.map(one => one.ports.map(({ port: number }) => number));
  test('are united, each once, if the services are alike', () => {
    expect(ports(entry('far', 1, spec(80)), entry('far', 2, spec(81)))).toEqual([[80, 81]]);
    const more = { ports: [port(80), port(82)] };
    expect(ports(entry('far', 1, { ports: [port(80), port(81)] }), entry('far', 2, more))).toEqual([[80, 81, 82]]);
    expect(ports(entry('far', 1, { ports: [port(80), port(81)] }), entry('far', 2, spec(81)))).toEqual([[80, 81]]);
    const toBoth = entry('far', 1, spec(80, { exportTo: ['default', 'far'] }));
    expect(ports(toBoth, entry('far', 2, spec(81, { exportTo: ['far', 'default'] })))).toEqual([[80, 81]]);
  });
  const selecting = (app: string): JsonObject => ({ resolution: 'STATIC', workloadSelector: { labels: { app } } });
  const seenBy = (...exportTo: string[]): JsonObject => ({ exportTo });
  test.each<[string, JsonObject, JsonObject, Meta]>([
    ['resolution', {}, { resolution: 'NONE' }, {}],
    ['labels', {}, {}, { labels: { a: 'b' } }],
    ['exportTo', seenBy('default'), seenBy('default', 'far'), {}],
    ['exportTo of the same meaning', {}, seenBy('*'), {}],
    ['name in exportTo', seenBy('default', 'far'), seenBy('default', 'third'), {}],
    ['selector', selecting('x'), selecting('y'), {}],
  ])('of the first count if the second has another %s', (_, first, second, meta) => {
    expect(ports(entry('far', 1, spec(80, first)), entry('far', 2, spec(81, second), meta))).toEqual([[80]]);
    expect(ports(entry('far', 1, spec(81, second), meta), entry('far', 2, spec(80, first)))).toEqual([[81]]);
  });
  test('of several namespaces, each imported by a listener of its own, are those of the first', () => {
    const parts = [entry('far', 1, spec(80)), entry('third', 2, spec(81))];
    const found = (...hosts: readonly string[]) =>
      scopeOf([...parts, egress(...hosts.map((host, i) => ({ hosts: [host], port: port(80 + i) })))]).services;
    const shown = (...hosts: readonly string[]) => found(...hosts).map(one => `${one.namespace} ${one.ports.length}`);
    expect(shown('far/*', 'third/*')).toEqual(['far 1']);
  });
  test('are those of Kubernetes alone, in whatever order it is met', () => {
    const squatter = (day: number) =>
      serviceEntry('x', { hosts: [KUBE], resolution: 'DNS', ports: [port(90)] }, { namespace: 'kube', day });
    expect(ports(squatter(1), kube())).toEqual([[80]]);
    expect(ports(squatter(10), kube())).toEqual([[80]]);
  });
});

describe('an egress listener', () => {
  test('with a port for HTTP proxies has services with all their ports', () => {
    const two = service('two', {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    });
    const ports = (listener: JsonObject) =>
      scopeOf([two, egress({ hosts: ['*/*'], port: listener })]).egressListeners[0]?.services.map(
        one => one.ports.length,
      );
    expect(ports(port(80, 'HTTP_PROXY'))).toEqual([2]);
    expect(ports(port(80, 'HTTP'))).toEqual([1]);
  });
  test('keeps of the aliases of a service those that it imports', () => {
    const alias = (name: string) =>
      service(name, { type: 'ExternalName', externalName: 'web.default.svc.cluster.local', clusterIP: '' });
    const names = (...hosts: readonly string[]) => {
      const state = world([service('web'), alias('one'), alias('two'), egress({ hosts: [...hosts] })]);
      const [services = []] = ask(state, listenerServices, '');
      return services.find(({ name }) => name === 'web')?.aliases.map(({ hostname }) => hostname.split('.')[0]);
    };
    expect(names('*/*')).toEqual(['one', 'two']);
    expect(names('./web.default.svc.cluster.local')).toEqual([]);
    expect(names('./web.default.svc.cluster.local', './two.default.svc.cluster.local')).toEqual(['two']);
  });
  test('is there for a Sidecar without any, and imports everything', () => {
    const found = scopeOf([service('web'), sidecar('s', { outboundTrafficPolicy: { mode: 'ALLOW_ANY' } })]);
    expect(found.sidecar?.name).toBe('s');
    expect(found.egressListeners.map(({ spec, services }) => [spec, services.length])).toEqual([[undefined, 1]]);
  });
});

test('proxies of one tracker have the scopes of their own namespaces and Sidecars', () => {
  const parts = [
    service('near'),
    service('far', {}, { namespace: 'far' }),
    sidecar('s', { egress: [{ hosts: ['./*'] }], workloadSelector: { labels: { app: 'a' } } }),
    sidecar('t', {
      egress: [{ hosts: ['far/*'], port: port(80) }, { hosts: ['./*'] }],
      workloadSelector: { labels: { app: 'b' } },
    }),
    sidecar('s', { egress: [{ hosts: ['./*'] }] }, { namespace: 'far' }),
  ];
  const state = world(parts);
  const tracker = new Tracker();
  const shown = (namespace: string, app: string) => {
    const proxy = proxyOf(nodeOf({ namespace, labels: { app } }), `${namespace}-${app}`);
    const { services, egressListeners } = tracker.get(state, proxy, sidecarScope, '');
    const names = (list: typeof services) => list.map(({ name }) => name).join();
    return [names(services), ...egressListeners.map(listener => names(listener.services))];
  };
  expect(shown('default', 'a')).toEqual(['near', 'near']);
  expect(shown('default', 'b')).toEqual(['far,near', 'far', 'near']);
  expect(shown('far', 'a')).toEqual(['far', 'far']);
  expect(shown('third', 'a')).toEqual(['far,near', 'far,near']);
});
