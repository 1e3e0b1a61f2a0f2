// Whether the sidecar is an init container that keeps running: by the flag, and by the nodes of the pod's own cluster.

import { describe, expect, it } from 'vitest';
import { containersOf, namesOf } from '../../../../src/admission/inject/pod.ts';
import { type Installed, injectedPod, node, podWith } from './world.ts';

const [OLD, RECENT] = [node('a', 'v1.30.0'), node('a', 'v1.33.1')];

function isNative(installed: Installed, cluster = '', spec = {}): boolean {
  const pod = injectedPod(podWith({}, spec), installed, cluster === '' ? {} : { ISTIO_META_CLUSTER_ID: cluster });
  return namesOf(containersOf(pod, 'initContainers')).includes('istio-proxy');
}

describe('A native sidecar', () => {
  it('depends on the nodes of the cluster that the path of the webhook names', () => {
    expect(isNative({ objects: [OLD], remote: [RECENT] }, 'c2')).toBe(true);
    expect(isNative({ objects: [RECENT], remote: [OLD] }, 'c2')).toBe(false);
    expect(isNative({ objects: [RECENT], remote: [OLD] })).toBe(true);
    const mixed = { remote: [OLD, node('b', 'v1.34.0')] };
    expect(isNative(mixed, 'c2', { nodeName: 'b' })).toBe(true);
    expect(isNative(mixed, 'c2', { nodeName: 'gone' })).toBe(false);
  });

  it('is not used in a cluster that is not known', () => {
    expect(isNative({ objects: [RECENT] }, 'c3')).toBe(false);
    expect(isNative({ objects: [RECENT], env: { ENABLE_NATIVE_SIDECARS: 'true' } }, 'c3')).toBe(true);
  });

  it.each([
    ['true', true],
    ['auto', true],
    ['false', false],
    ['True', false],
    ['1', false],
    ['on', false],
  ])('with the flag %s is used on recent nodes: %s', (flag, expected) => {
    expect(isNative({ objects: [RECENT], env: { ENABLE_NATIVE_SIDECARS: flag } })).toBe(expected);
  });
});
