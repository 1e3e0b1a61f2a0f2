// References to objects of other namespaces by the thousand.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { CORE_SERVICE, isGranted } from '../../../../../src/core/translate/gateway-api/grants.ts';
import { ask, world } from '../../../world.ts';
import { API } from './scene.ts';

const grant = (i: number): JsonObject => ({
  apiVersion: `${API}/v1beta1`,
  kind: 'ReferenceGrant',
  metadata: { name: `r${i}`, namespace: 'far' },
  spec: {
    from: [{ group: API, kind: 'HTTPRoute', namespace: 'near' }],
    to: [{ group: '', kind: 'Service', name: `s${i}` }],
  },
});

/** How many of the services are granted; argument: their number, of which the last two have no grant. */
const grantedOf: Query<string, number> = {
  name: 'test/grantedOf',
  run: (reader, count) => {
    const from = { kind: 'HTTPRoute', namespace: 'near' } as const;
    const names = Array.from({ length: Number(count) }, (_, i) => `s${i}`);
    return names.filter(name => isGranted(reader, from, { type: CORE_SERVICE, namespace: 'far', name })).length;
  },
};

/** CPU of as many references as grants; the least of some, because collections make single ones longer. */
function costOf(count: number): number {
  const state = world(Array.from({ length: count }, (_, i) => grant(i)));
  const take = (): number => {
    const before = process.cpuUsage();
    expect(ask(state, grantedOf, String(count + 2))).toBe(count);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  return Math.min(take(), take(), take());
}

test('eight times as many references and grants cost eight times as much, give or take', () => {
  expect(costOf(8_000)).toBeLessThan(24 * Math.max(costOf(1_000), 2));
});
