import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { exportsOf } from '../../../../../src/core/model/exports.ts';
import { virtualServicesFor } from '../../../../../src/core/select/scope/virtual-services.ts';
import { ask, world } from '../../../world.ts';
import { service, to, virtualService } from '../../registry/fixtures.ts';

const all = (state: Parameters<typeof ask>[0], namespace: string, gateway: string) =>
  ask(state, virtualServicesFor, { namespace, gateway });
const names = (...args: Parameters<typeof all>) => all(...args).map(vs => vs.name);

test('exportTo of a VirtualService: `*` wins over `~`, which wins over names; an empty list is private', () => {
  expect(exportsOf(['~', '*'], undefined, 'a').open).toBe(true);
  expect(exportsOf(['~', 'b'], undefined, 'a')).toEqual({ open: false, own: false, others: [] });
  expect(exportsOf([], ['.'], 'a')).toEqual({ open: false, own: true, others: [] });
  expect(exportsOf(['c', 'a', 'b'], undefined, 'a')).toEqual({ open: false, own: true, others: ['b', 'c'] });
});

describe('the VirtualServices of a namespace', () => {
  test('are ordered private, exported, public, each by age; other namespaces see the public ones', () => {
    const vs = (name: string, day: number, exportTo?: string[], namespace = 'default') =>
      virtualService(name, { hosts: ['a.com'], http: [to('a')], ...(exportTo && { exportTo }) }, { day, namespace });
    const state = world([
      vs('open-old', 1),
      vs('open-new', 9),
      vs('private', 5, ['.']),
      vs('exported', 2, ['default'], 'other'),
    ]);
    expect(names(state, 'default', 'mesh')).toEqual(['private', 'exported', 'open-old', 'open-new']);
    expect(names(state, 'other', 'mesh')).toEqual(['open-old', 'open-new']);
  });

  test('break ties of age by name, then namespace', () => {
    const vs = (name: string, namespace: string) =>
      virtualService(name, { hosts: ['a.com'], http: [to('a')] }, { namespace });
    const state = world([vs('b', 'x'), vs('a', 'z'), vs('a', 'y')]);
    const found = ask(state, virtualServicesFor, { namespace: 'default', gateway: 'mesh' });
    expect(found.map(({ name, namespace }) => `${namespace}/${name}`)).toEqual(['y/a', 'z/a', 'x/b']);
  });

  test('are selected by gateway, with names resolved in the namespace of the object', () => {
    const spec = { hosts: ['web'], gateways: ['gw', 'mesh'], http: [to('web', { match: [{ gateways: ['gw'] }] })] };
    const state = world([virtualService('vs', spec, { namespace: 'prod' })]);
    const [vs] = ask(state, virtualServicesFor, { namespace: 'default', gateway: 'prod/gw' });
    expect(vs?.hosts).toEqual(['web.prod.svc.cluster.local']);
    expect(vs?.spec.http?.[0]?.match?.[0]?.gateways).toEqual(['prod/gw']);
    expect(vs?.spec.http?.[0]?.route?.[0]?.destination?.host).toBe('web.prod.svc.cluster.local');
    expect(names(state, 'default', 'mesh')).toEqual(['vs']);
    expect(names(state, 'default', 'default/gw')).toEqual([]);
  });

  test('belong to the mesh without a gateway, and once to a gateway that is named twice', () => {
    const vs = (name: string, gateways?: string[]) =>
      virtualService(name, { hosts: ['a.com'], http: [to('a')], ...(gateways && { gateways }) });
    const state = world([vs('a'), vs('b', []), vs('c', ['gw', 'default/gw', 'mesh']), vs('d', ['gw'])]);
    expect(names(state, 'default', 'mesh')).toEqual(['a', 'b', 'c']);
    expect(names(state, 'default', 'default/gw')).toEqual(['c', 'd']);
  });

  test('without exportTo are visible as the mesh says', () => {
    const options = { mesh: { defaultVirtualServiceExportTo: ['.'] } };
    const state = world([virtualService('vs', { hosts: ['a.com'], http: [to('a')] })], options);
    expect(names(state, 'default', 'mesh')).toEqual(['vs']);
    expect(names(state, 'other', 'mesh')).toEqual([]);
  });

  test('have destinations, mirrors and gateways of every rule in full', () => {
    const destination = { host: 'web' };
    const route = [{ destination }];
    const state = world([
      virtualService('vs', {
        hosts: ['a.com'],
        http: [
          { match: [{ port: 80 }], route, mirrors: [{ destination, percentage: { value: 5 } }] },
          { route, mirror: destination },
        ],
        tcp: [{ match: [{ port: 81, gateways: ['gw'] }], route }, { route }],
        tls: [{ match: [{ sniHosts: ['a.com'], gateways: ['gw'] }], route }],
      }),
    ]);
    const full = { host: 'web.default.svc.cluster.local' };
    const routes = [{ destination: full }];
    expect(all(state, 'default', 'mesh')[0]?.spec).toMatchObject({
      http: [
        { match: [{ port: 80 }], route: routes, mirrors: [{ destination: full, percentage: { value: 5 } }] },
        { route: routes, mirror: full },
      ],
      tcp: [{ match: [{ port: 81, gateways: ['default/gw'] }], route: routes }, { route: routes }],
      tls: [{ match: [{ sniHosts: ['a.com'], gateways: ['default/gw'] }], route: routes }],
    });
  });
});

describe('a VirtualService whose annotation says how it is to be read', () => {
  const read = (semantics: string) => {
    const annotations = { 'internal.istio.io/route-semantics': semantics };
    const rule = { match: [{ gateways: ['gw'] }], delegate: { name: 'leaf' } };
    const spec = { hosts: ['web'], http: [rule, to('web')] };
    return all(world([virtualService('vs', spec, { annotations })]), 'default', 'mesh')[0];
  };
  test('as a route of the Gateway API is used as it is', () => {
    const found = read('gateway');
    expect(found?.hosts).toEqual(['web']);
    expect(found?.spec.http?.map(({ route }) => route?.[0]?.destination?.host)).toEqual([undefined, 'web']);
  });
  test('as an Ingress has full names and no delegates', () => {
    const found = read('ingress');
    expect(found?.hosts).toEqual(['web.default.svc.cluster.local']);
    expect(found?.spec.http?.map(({ delegate }) => delegate?.name)).toEqual(['leaf', undefined]);
    expect(found?.spec.http?.[0]?.match).toEqual([{ gateways: ['default/gw'] }]);
  });
});

describe('what the Gateway API makes in the namespace of a proxy', () => {
  const httpRoute = (parent: string, namespace = 'default'): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route, namespace: ${namespace}, creationTimestamp: '2026-01-09T00:00:00Z'}
spec:
  parentRefs: [${parent}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
---
`;
  const gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: default}
spec:
  gatewayClassName: istio
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
---
`;
  const mesh = "{group: '', kind: Service, name: web}";
  const listener = 'default/gw~istio-autogenerated-k8s-gateway~http';
  const parts = [
    gateway,
    service('web'),
    service('web', {}, { namespace: 'other' }),
    virtualService('old', { hosts: ['a.com'], gateways: ['mesh', listener], http: [to('a')] }, { day: 1 }),
    `${httpRoute(mesh)}${httpRoute(mesh, 'other')}`.replace('name: route', 'name: near'),
    httpRoute('{name: gw}').replace('name: route', 'name: bound'),
  ];
  const shown = (env: Readonly<Record<string, string>>, gatewayName: string, exportTo: string) => {
    const options = { mesh: { defaultVirtualServiceExportTo: [exportTo] }, settings: { ...defaultSettings, env } };
    return all(world(parts, options), 'default', gatewayName).map(vs => `${vs.namespace}/${vs.name.split('~')[0]}`);
  };
  const LEGACY = { PILOT_UNIFIED_SIDECAR_SCOPE: 'false' };

  test('comes first in the mesh, whether public or private, unless the unified scope is off', () => {
    expect(shown({}, 'mesh', '*')).toEqual(['default/default', 'default/old', 'other/other']);
    expect(shown({}, 'mesh', '.')).toEqual(['default/default', 'default/old']);
    expect(shown(LEGACY, 'mesh', '*')).toEqual(['default/old', 'default/default', 'other/other']);
  });
  test('comes first at a gateway among what is public', () => {
    for (const env of [{}, LEGACY]) {
      expect(shown(env, listener, '*')).toEqual(['default/default', 'default/old']);
      expect(shown(env, listener, '.')).toEqual(['default/old', 'default/default']);
    }
  });
});

describe('delegates', () => {
  const root = (rest = {}) =>
    virtualService('root', {
      hosts: ['a.com'],
      http: [
        { match: [{ uri: { prefix: '/api' } }], delegate: { name: 'leaf', namespace: 'team' }, ...rest },
        to('fallback'),
      ],
    });
  const leaf = (spec = {}) =>
    virtualService(
      'leaf',
      { http: [to('inner', { match: [{ uri: { prefix: '/api/v1' } }], name: 'v1' })], ...spec },
      {
        namespace: 'team',
      },
    );

  test('replace the rule that names them, resolved in their own namespace', () => {
    const [vs] = ask(world([root({ name: 'root' }), leaf()]), virtualServicesFor, {
      namespace: 'default',
      gateway: 'mesh',
    });
    expect(vs?.spec.http?.map(route => [route.name, route.route?.[0]?.destination?.host])).toEqual([
      ['root-v1', 'inner.team.svc.cluster.local'],
      [undefined, 'fallback.default.svc.cluster.local'],
    ]);
    expect(vs?.spec.http?.[0]?.match).toEqual([expect.objectContaining({ uri: { prefix: '/api/v1' } })]);
  });

  test('remove the rule if they are missing or not exported to the root, and never apply alone', () => {
    expect(
      ask(world([root()]), virtualServicesFor, { namespace: 'default', gateway: 'mesh' })[0]?.spec.http,
    ).toHaveLength(1);
    const hidden = world([root(), leaf({ exportTo: ['.'] })]);
    expect(ask(hidden, virtualServicesFor, { namespace: 'default', gateway: 'mesh' })[0]?.spec.http).toHaveLength(1);
    expect(names(world([leaf()]), 'team', 'mesh')).toEqual([]);
  });

  test('are of the namespace of the root unless it names one, and visible to it when private or as the mesh says', () => {
    const near = (spec: JsonObject) => virtualService('leaf', { http: [to('inner')], ...spec });
    const rules = [{ delegate: { name: 'leaf' } }];
    const count = (spec: JsonObject, mesh: JsonObject = {}) => {
      const rootOf = virtualService('root', { hosts: ['a.com'], http: rules, exportTo: ['*'] });
      const found = all(world([rootOf, near(spec)], { mesh }), 'default', 'mesh').find(vs => vs.name === 'root');
      return found?.spec.http?.length;
    };
    expect(count({ exportTo: ['.'] })).toBe(1);
    expect(count({ exportTo: ['other'] })).toBe(0);
    expect(count({ exportTo: ['other', '.'] })).toBe(1);
    expect(count({}, { defaultVirtualServiceExportTo: ['~'] })).toBe(0);
    expect(count({ hosts: [] })).toBe(1);
    expect(count({ hosts: ['b.com'] })).toBe(0);
  });

  test('of another namespace apply when they are exported to that of the root', () => {
    const exported = (exportTo: string[]) => all(world([root(), leaf({ exportTo })]), 'default', 'mesh')[0]?.spec.http;
    expect(exported(['default'])).toHaveLength(2);
    expect(exported(['other'])).toHaveLength(1);
  });

  test('of an object share one limit of compared matches, and rules without a delegate do not count', () => {
    const matches = Array.from({ length: 200 }, (_, i) => ({ uri: { prefix: `/${i}` } }));
    const wide = virtualService('leaf', { http: [to('inner', { match: matches })] }, { namespace: 'team' });
    const delegated = { match: matches, delegate: { name: 'leaf', namespace: 'team' } };
    const state = world([virtualService('root', { hosts: ['a.com'], http: [delegated, delegated, to('last')] }), wide]);
    const routes = all(state, 'default', 'mesh')[0]?.spec.http;
    expect(routes?.map(({ route }) => route?.[0]?.destination?.host)).toEqual([
      'inner.team.svc.cluster.local',
      'last.default.svc.cluster.local',
    ]);
  });
});
