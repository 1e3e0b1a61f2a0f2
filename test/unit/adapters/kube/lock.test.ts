// Locks: records of istiod are read, ours are read by istiod, and who may take one from its holder.

import { describe, expect, it } from 'vitest';
import {
  claim,
  type LockRecord,
  lockPath,
  mayTake,
  objectWith,
  recordIn,
  released,
} from '../../../../src/adapters/kube/write/lock.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { lockName } from '../../../../src/core/wishes/elections.ts';

const NOW = Date.parse('2026-11-22T18:00:00Z');
const SECOND = 1_000;
const record: LockRecord = {
  holderIdentity: 'istiod-7d4-x',
  holderKey: 'default',
  leaseDurationSeconds: 30,
  acquireTime: NOW - 60 * SECOND,
  renewTime: NOW,
  leaderTransitions: 3,
};
const PLACE = { namespace: 'istio-system', name: 'istio-leader' };
const me = { identity: 'periplus-1', key: 'default' };

describe('the record of a lock', () => {
  it('is read as istiod writes it into a ConfigMap', () => {
    const text =
      '{"holderIdentity":"istiod-7d4-x","holderKey":"default","leaseDurationSeconds":30,' +
      '"acquireTime":"2026-11-22T17:59:00Z","renewTime":"2026-11-22T18:00:00Z","leaderTransitions":3}';
    const annotations = { 'control-plane.alpha.kubernetes.io/leader': text };
    expect(recordIn('ConfigMap', { metadata: { annotations } })).toEqual(record);
    expect(objectWith('ConfigMap', PLACE, record)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...PLACE, annotations },
    });
  });

  it('is read as istiod writes it into a Lease', () => {
    const object = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...PLACE, annotations: { 'leader.istio.io/holder-key': 'default' } },
      spec: {
        holderIdentity: 'istiod-7d4-x',
        leaseDurationSeconds: 30,
        acquireTime: '2026-11-22T17:59:00.000000Z',
        renewTime: '2026-11-22T18:00:00.000000Z',
        leaseTransitions: 3,
      },
    };
    expect(recordIn('Lease', object)).toEqual(record);
    expect(objectWith('Lease', PLACE, record)).toEqual(object);
  });

  it('keeps what else is in the object, and the version that it was read with', () => {
    const metadata: JsonObject = { ...PLACE, resourceVersion: '7', labels: { a: 'b' }, annotations: { other: 'kept' } };
    const object = objectWith('ConfigMap', PLACE, record, { metadata, data: { kept: 'too' } });
    expect(object).toMatchObject({
      data: { kept: 'too' },
      metadata: { resourceVersion: '7', labels: { a: 'b' }, annotations: { other: 'kept' } },
    });
  });

  it.each(['', '[]', '{"holderIdentity":7}', 'nonsense'])('that cannot be read (%j) is held by no one', text => {
    const annotations = { 'control-plane.alpha.kubernetes.io/leader': text };
    expect(recordIn('ConfigMap', { metadata: { annotations } })?.holderIdentity ?? '').toBe('');
  });
});

describe('a lock', () => {
  it('is free if there is none, if it was released, and to its own holder', () => {
    expect(claim(undefined, NOW, NOW, me, '')).toMatchObject({ holderIdentity: 'periplus-1', leaderTransitions: 0 });
    expect(claim(released(record, NOW), NOW, NOW, me, '')).toMatchObject({ leaderTransitions: 4, acquireTime: NOW });
    const own = { ...record, holderIdentity: 'periplus-1' };
    expect(claim(own, NOW, NOW, me, '')).toMatchObject({ leaderTransitions: 3, acquireTime: record.acquireTime });
  });

  it('expires by the clock of this process since it changed, whatever times it holds', () => {
    const old = { ...record, renewTime: 0 };
    expect(claim(old, NOW - 29 * SECOND, NOW, me, '')).toBeUndefined();
    expect(claim(old, NOW - 30 * SECOND, NOW, me, '')).toBeDefined();
    expect(claim({ ...record, renewTime: NOW + 3_600 * SECOND }, NOW - 30 * SECOND, NOW, me, '')).toBeDefined();
  });

  it.each([
    ['canary', 'default', 'default', true],
    ['canary', 'default', '', false],
    ['default', 'canary', 'default', false],
    ['^default', 'default', '', true],
    ['default', '^default', '', false],
    ['^canary', 'default', 'default', true],
    ['default', 'default', 'default', false],
    ['', 'default', 'default', true],
    ['default', '', 'default', false],
  ])('held by %j may be taken by %j with default revision %j: %s', (holder, key, defaultRevision, may) => {
    expect(mayTake(holder, key, defaultRevision)).toBe(may);
  });

  it('has the name and place that istiod looks for', () => {
    expect(lockName('istio-gateway-status-leader', '')).toBe('istio-gateway-status-leader-default');
    expect(lockName('istio-namespace-controller-election', 'canary')).toBe('istio-namespace-controller-election');
    expect(lockPath('Lease', 'istio-system', 'a')).toBe(
      '/apis/coordination.k8s.io/v1/namespaces/istio-system/leases/a',
    );
    expect(lockPath('ConfigMap', 'istio-system')).toBe('/api/v1/namespaces/istio-system/configmaps');
  });
});
