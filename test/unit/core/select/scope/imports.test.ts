// What the hosts of an egress listener import: services and VirtualServices.

import { describe, expect, test } from 'vitest';
import { covers, importsOf } from '../../../../../src/core/select/scope/imports.ts';
import { sidecarScope } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { ask, world } from '../../../world.ts';
import { serviceEntry, sidecar, to, virtualService } from '../../registry/fixtures.ts';

test('imports are kept by namespace, `.` for that of the proxy; what is not namespace/host imports nothing', () => {
  const found = importsOf(['./a.com', '*/b.com', './*.c.com', 'near/d.com', 'x', 'a/b/c', ''], 'near');
  expect([...found]).toEqual([
    ['near', ['a.com', '*.c.com', 'd.com']],
    ['*', ['b.com']],
  ]);
});

/** How often a list of this many patterns is looked into while it is searched for as many hosts. */
function looksFor(count: number): number {
  let looks = 0;
  const patterns = new Proxy(
    Array.from({ length: count }, (_, i) => `*.h${i}.com`),
    {
      get: (list, key) => {
        looks++;
        return Reflect.get(list, key);
      },
    },
  );
  for (let i = 0; i < count; i++) expect(covers(patterns, `a.h${i}.com`)).toBe(true);
  return looks;
}

test('four times the hosts of an egress listener are looked into four times as often for as many services', () => {
  expect(looksFor(400) / looksFor(100)).toBeLessThan(4.5);
});

const listenerOf = (hosts: readonly string[], parts: readonly ReturnType<typeof sidecar>[]) =>
  ask(world([sidecar('s', { egress: [{ hosts: [...hosts] }] }), ...parts]), sidecarScope, '').egressListeners[0]!;

describe('a service is imported', () => {
  const entry = (name: string, host: string, namespace: string) =>
    serviceEntry(name, { hosts: [host], resolution: host.startsWith('*') ? 'NONE' : 'DNS' }, { namespace });
  const parts = [
    entry('a', 'a.com', 'default'),
    entry('b', 'b.com', 'default'),
    entry('far', 'a.org', 'far'),
    entry('wide', '*.x.com', 'far'),
  ];
  test.each<[readonly string[], readonly string[]]>([
    [['./a.com'], ['a.com']],
    [['far/a.com'], []],
    [['./a.org', '*/b.com'], ['b.com']],
    [
      ['./a.com', '*/*'],
      ['a.com', 'b.com', '*.x.com', 'a.org'],
    ],
    [['far/*'], ['*.x.com', 'a.org']],
    [['*/*.com'], ['a.com', 'b.com', '*.x.com']],
    [['*/*.x.com'], ['*.x.com']],
    [['*/y.x.com'], []],
    [['*/*.y.x.com'], []],
    [['~/*'], []],
  ])('by %j: %j', (hosts, expected) => {
    const found = listenerOf(hosts, parts).services.map(({ hostname }) => hostname);
    expect([...found].sort()).toEqual([...expected].sort());
  });
});

describe('a VirtualService is imported', () => {
  const vs = (hosts: readonly string[], namespace = 'default', annotations = {}) =>
    virtualService('vs', { hosts: [...hosts], http: [to('a.com')] }, { namespace, annotations });
  const isImported = (by: readonly string[], object: ReturnType<typeof vs>): boolean =>
    listenerOf(by, [object]).virtualServices.length === 1;
  test.each<[readonly string[], readonly string[], boolean]>([
    [['./a.com'], ['a.com'], true],
    [['./b.com'], ['a.com'], false],
    [['./b.com', './c.com'], ['a.com', 'c.com'], true],
    [['./*.b.com', './*.a.com'], ['x.a.com'], true],
    [['./*.b.com'], ['x.a.com'], false],
    [['./x.a.com'], ['*.a.com'], true],
    [['./x.b.com', './x.a.com'], ['*.a.com'], true],
    [['./x.b.com'], ['*.a.com'], false],
    [['./*.x.a.com'], ['*.a.com'], true],
    [['./*.a.com'], ['*.x.a.com'], true],
    [['far/a.com', '*/b.com'], ['a.com'], false],
    [['far/a.com', '*/a.com'], ['a.com'], true],
    [['./b.com', '*/a.com'], ['a.com'], true],
  ])('by %j if its hosts are %j: %s', (by, hosts, expected) => {
    expect(isImported(by, vs(hosts))).toBe(expected);
  });
  test('by the namespace of the object', () => {
    expect(isImported(['far/a.com'], vs(['a.com'], 'far'))).toBe(true);
    expect(isImported(['./a.com'], vs(['a.com'], 'far'))).toBe(false);
  });
  test('of the Gateway API only if a whole host is', () => {
    const ofGatewayApi = { 'internal.istio.io/route-semantics': 'gateway' };
    expect(isImported(['./x.a.com'], vs(['*.a.com'], 'default', ofGatewayApi))).toBe(false);
    expect(isImported(['./*.x.a.com'], vs(['*.a.com'], 'default', ofGatewayApi))).toBe(false);
    expect(isImported(['./*.a.com'], vs(['x.a.com'], 'default', ofGatewayApi))).toBe(true);
  });
});
