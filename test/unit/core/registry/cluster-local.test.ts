// Which hosts stay within their cluster, by settings of the mesh and built-in rules.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { readersOf } from '../../../../src/core/query/untracked.ts';
import { isClusterLocal } from '../../../../src/core/registry/cluster-local.ts';
import { world } from '../../world.ts';

const local = (mesh: JsonObject, ...names: readonly string[]): readonly boolean[] => {
  const state = world([], { mesh });
  const { after } = readersOf(state, state);
  return names.map(name => after.get(isClusterLocal, `${name}.svc.cluster.local`));
};
const API_SERVER = 'kubernetes.default.svc.cluster.local';
const setting = (clusterLocal: boolean, ...hosts: readonly string[]): JsonObject => ({
  hosts: hosts.map(host => `${host}.svc.cluster.local`),
  settings: { clusterLocal },
});

describe('a host', () => {
  it('is local to its cluster in kube-system, and if it is the API server or the control plane', () => {
    const names = ['dns.kube-system', 'kubernetes.default', 'istiod.istio-system', 'web.shop'];
    expect(local({}, ...names)).toEqual([true, true, true, false]);
  });

  it('is local if it is where proxies find the control plane', () => {
    const mesh = { defaultConfig: { discoveryAddress: 'pilot.control.svc:15012' } };
    expect(local(mesh, 'pilot.control', 'istiod.istio-system')).toEqual([true, false]);
    const whole = { defaultConfig: { discoveryAddress: 'pilot.control.svc.cluster.local:15012' } };
    expect(local(whole, 'pilot.control', 'istiod.istio-system')).toEqual([true, false]);
  });

  it.each(['pilot.control.svc', 'pilot.control.svc:', 'pilot.control.svc:x15012', 'pilot.control.svc:15012x'])(
    'is not local by an address of the control plane without a port that is a number: %s',
    discoveryAddress => {
      expect(local({ defaultConfig: { discoveryAddress } }, 'pilot.control', 'dns.kube-system')).toEqual([false, true]);
    },
  );

  it('is local by the most specific setting', () => {
    const mesh = { serviceSettings: [setting(true, '*.shop'), setting(false, 'web.shop')] };
    expect(local(mesh, 'cart.shop', 'web.shop')).toEqual([true, false]);
  });

  it('is freed from a built-in rule by a setting of its name', () => {
    for (const one of [setting(false, 'kubernetes.default', 'web.shop'), { hosts: [API_SERVER] }]) {
      expect(local({ serviceSettings: [one] }, 'kubernetes.default', 'dns.kube-system')).toEqual([false, true]);
    }
  });

  it('leaves a built-in wildcard as it is if it is made local itself', () => {
    const mesh = { serviceSettings: [setting(true, 'dns.kube-system')] };
    expect(local(mesh, 'dns.kube-system', 'other.kube-system')).toEqual([true, true]);
  });

  it('frees everything under a built-in wildcard if it is freed itself', () => {
    const mesh = { serviceSettings: [setting(false, 'dns.kube-system')] };
    expect(local(mesh, 'dns.kube-system', 'other.kube-system')).toEqual([false, false]);
  });

  it('stays local by a built-in rule that is more specific than the setting', () => {
    const mesh = { serviceSettings: [{ hosts: ['*'], settings: { clusterLocal: false } }] };
    expect(local(mesh, 'dns.kube-system')).toEqual([true]);
  });
});
