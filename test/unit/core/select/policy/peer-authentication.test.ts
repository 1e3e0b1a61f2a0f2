import { expect, test } from 'vitest';
import { untrackedReader } from '../../../../../src/core/query/untracked.ts';
import {
  endpointMtlsMode,
  inboundMtlsMode,
  namespaceMtlsMode,
  portLevelMtlsModes,
} from '../../../../../src/core/select/policy/peer-authentication.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';
import { peerAuthentication as policy } from '../../registry/fixtures.ts';

const strict = { mtls: { mode: 'STRICT' } };
const disable = { mtls: { mode: 'DISABLE' } };
const root = { namespace: 'istio-system' };
const selector = { matchLabels: { app: 'a' } };

test('PeerAuthentication of the namespace overrides that of the mesh, the oldest wins, and UNSET inherits', () => {
  expect(ask(world([]), namespaceMtlsMode, 'default')).toBe('PERMISSIVE');
  expect(ask(world([policy('m', strict, root)]), namespaceMtlsMode, 'default')).toBe('STRICT');
  const state = world([
    policy('m', strict, root),
    policy('new', strict, { day: 2 }),
    policy('old', disable, { day: 1 }),
  ]);
  expect(ask(state, namespaceMtlsMode, 'default')).toBe('DISABLE');
  const unset = world([policy('m', strict, root), policy('n', { mtls: { mode: 'UNSET' } })]);
  expect(ask(unset, namespaceMtlsMode, 'default')).toBe('STRICT');
});

test('PeerAuthentication of a workload applies, with its ports', () => {
  const ports = { selector, ...strict, portLevelMtls: { 8080: { mode: 'DISABLE' }, 9090: { mode: 'UNSET' } } };
  const state = world([policy('w', ports), policy('n', disable)]);
  const proxy = proxyOf(nodeOf({ labels: { app: 'a' } }));
  const modes = ['8080', '9090', '1'].map(port => ask(state, inboundMtlsMode, port, proxy));
  expect(modes).toEqual(['DISABLE', 'STRICT', 'STRICT']);
  expect(ask(state, portLevelMtlsModes, '', proxy)).toEqual({ 8080: 'DISABLE', 9090: 'STRICT' });
  expect(ask(world([policy('n', strict)]), portLevelMtlsModes, '', proxy)).toEqual({});
  expect(ask(state, inboundMtlsMode, '8080', proxyOf(nodeOf({ labels: { app: 'b' } })))).toBe('DISABLE');
  const reader = untrackedReader(state);
  expect(endpointMtlsMode(reader, 'default', { app: 'a', x: 'y' }, 80)).toBe('STRICT');
  expect(endpointMtlsMode(reader, 'default', { app: 'b' }, 80)).toBe('DISABLE');
});

test('PeerAuthentication with a selector in the root namespace applies to no workload', () => {
  const state = world([policy('m', { selector, ...strict }, root)]);
  const proxy = proxyOf(nodeOf({ namespace: 'istio-system', labels: { app: 'a' } }));
  expect(ask(state, inboundMtlsMode, '80', proxy)).toBe('PERMISSIVE');
});
