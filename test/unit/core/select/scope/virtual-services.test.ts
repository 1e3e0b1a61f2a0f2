import { describe, expect, test } from 'vitest';
import { exportsOf } from '../../../../../src/core/model/exports.ts';
import { mergeDelegate } from '../../../../../src/core/select/scope/delegates.ts';
import { virtualServicesFor } from '../../../../../src/core/select/scope/virtual-services.ts';
import { ask, world } from '../../../world.ts';
import { to, virtualService } from '../../registry/fixtures.ts';

const names = (state: Parameters<typeof ask>[0], namespace: string, gateway: string) =>
  ask(state, virtualServicesFor, { namespace, gateway }).map(vs => vs.name);

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

  test.each([
    [{ uri: { prefix: '/a' } }, { uri: { prefix: '/a/b' } }, 1],
    [{ uri: { prefix: '/a' } }, { uri: { exact: '/b' } }, 0],
    [{ uri: { exact: '/a' } }, { uri: { exact: '/a' } }, 1],
    [{ uri: { regex: '.*' } }, { uri: { prefix: '/a' } }, 0],
    [{ headers: { x: { exact: '1' } } }, { headers: { y: { exact: '2' } } }, 1],
    [{ headers: { x: { exact: '1' } } }, { headers: { x: { exact: '2' } } }, 0],
    [{ port: 80 }, { port: 81 }, 0],
    [{ port: 80 }, {}, 1],
    [{ sourceNamespace: 'a' }, {}, 0],
    [{ ignoreUriCase: true }, {}, 0],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { a: '2' } }, 0],
    [{ gateways: ['a'] }, { gateways: ['a', 'b'] }, 0],
    [{ gateways: ['a', 'b'] }, { gateways: ['a'] }, 1],
    [{ gateways: ['a'] }, { gateways: ['a', 'a'] }, 0],
  ])('merge root match %j and leaf match %j into %d rules', (rootMatch, leafMatch, count) => {
    expect(mergeDelegate({ match: [rootMatch] }, [{ match: [leafMatch] }])).toHaveLength(count);
  });

  test('prefer fields of the delegate to those of the root, and never inherit redirect and route', () => {
    const [merged] = mergeDelegate(
      { timeout: { seconds: 1, nanos: 0 }, headers: { request: { set: { a: '1' } } }, redirect: { uri: '/' } },
      [{ timeout: { seconds: 2, nanos: 0 } }],
    );
    expect(merged).toMatchObject({ timeout: { seconds: 2 }, headers: { request: { set: { a: '1' } } } });
    expect(merged?.redirect).toBeUndefined();
  });
});
