// The workloads of a mesh: where they are, and in which order they are listed.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/workloads.go (WorkloadsCollection).

import { describe, expect, it } from 'vitest';
import { workloadNamespaces, workloadsIn } from '../../../../../src/core/select/ambient/workloads.ts';
import { ask, inCluster, world } from '../../../world.ts';
import { pod, service, serviceEntry, slice, workloadEntry } from '../../registry/fixtures.ts';
import { ambientWorld } from './fixtures.ts';

const endpoint = { hosts: ['a.com'], endpoints: [{ address: '1.1.1.1' }] };

describe('the namespaces with workloads', () => {
  const parts = [
    pod('p', '10.0.0.1', { namespace: 'pods' }),
    pod('q', '10.0.0.2', { namespace: 'pods' }),
    workloadEntry('vm', { address: '10.2.0.1' }, { namespace: 'machines' }),
    serviceEntry('ext', endpoint, { namespace: 'entries' }),
    slice('web', [{ ip: '10.3.0.1' }], { namespace: 'by-hand' }),
    pod('r', '10.0.0.3', { namespace: 'entries' }),
    inCluster(
      'remote',
      pod('p', '10.0.0.9', { namespace: 'elsewhere' }),
      slice('web', [{ ip: '10.3.0.9' }], { namespace: 'far' }),
    ),
  ];
  it('are those of each kind in the config cluster, each once, in order', () => {
    expect(ask(ambientWorld(parts), workloadNamespaces, '')).toEqual(['by-hand', 'entries', 'machines', 'pods']);
  });
  it('are none where ambient mode is off', () => {
    expect(ask(world(parts), workloadNamespaces, '')).toEqual([]);
  });
});

it('the workloads of a namespace are its own alone, by kind and name', () => {
  const inNamespace = (namespace: string) => [
    slice('web', [{ ip: '10.3.0.1' }], { namespace }),
    serviceEntry('ext', endpoint, { namespace }),
    workloadEntry('vm', { address: '10.2.0.1' }, { namespace }),
    pod('q', '10.0.0.2', { namespace }),
    pod('p', '10.0.0.1', { namespace }),
    { ...pod('without-address', '10.0.0.3', { namespace }), status: { phase: 'Pending' } },
    service('web', { selector: {} }, { namespace }),
  ];
  const parts = [
    ...inNamespace('a'),
    ...inNamespace('b'),
    inCluster('remote', pod('far', '10.0.0.9', { namespace: 'a' })),
  ];
  expect(ask(ambientWorld(parts), workloadsIn, 'a').map(({ uid }) => uid)).toEqual([
    'Kubernetes//Pod/a/p',
    'Kubernetes//Pod/a/q',
    'Kubernetes/networking.istio.io/WorkloadEntry/a/vm',
    'Kubernetes/networking.istio.io/ServiceEntry/a/ext/1.1.1.1',
    'Kubernetes/discovery.k8s.io/EndpointSlice/a/web-slice/10.3.0.1',
  ]);
});
