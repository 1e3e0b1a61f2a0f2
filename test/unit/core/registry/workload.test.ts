import { describe, expect, test } from 'vitest';
import type { ProxyReader, Query } from '../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { proxyLabels, proxyLocality, proxySelectedBy, serviceTargets } from '../../../../src/core/registry/workload.ts';
import type { State } from '../../../../src/core/state.ts';
import { ask, nodeOf, proxyOf, put, world } from '../../world.ts';
import { node, pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

function reading<R>(name: string, run: (reader: ProxyReader) => R): Query<'', R> {
  return { name: `test/${name}`, run };
}
const labels = reading('labels', reader => reader.derived(proxyLabels));
const locality = reading('locality', reader => reader.derived(proxyLocality));

const client = proxyOf(
  nodeOf({ name: 'web-1', ip: '10.0.0.1', labels: { app: 'said' }, metadata: { NODE_NAME: 'n1', NETWORK: 'net' } }),
);

describe('labels and locality', () => {
  const state = world([node('n1', 'r1', 'z1'), pod('web-1', '10.0.0.1', { node: 'n1', labels: { app: 'web' } })]);
  test('come from the pod, with its topology', () => {
    expect(ask(state, labels, '', client)).toEqual({
      app: 'web',
      'topology.kubernetes.io/region': 'r1',
      'topology.kubernetes.io/zone': 'z1',
      'topology.istio.io/cluster': 'Kubernetes',
      'topology.istio.io/network': 'net',
      'kubernetes.io/hostname': 'n1',
    });
    expect(ask(state, locality, '', client)).toEqual({ region: 'r1', zone: 'z1', subzone: '' });
  });
  test('come from the node of the proxy if the workload is unknown', () => {
    expect(ask(world([]), labels, '', client)).toMatchObject({ app: 'said' });
  });
  test('prefer a label to the node', () => {
    const labelled = pod('web-1', '10.0.0.1', { node: 'n1', labels: { 'istio-locality': 'a.b.c' } });
    expect(ask(put(state, labelled).state, locality, '', client)).toEqual({ region: 'a', zone: 'b', subzone: 'c' });
  });
  test('share the result of a selector, not the labels', () => {
    const selected = reading('selected', reader => ({ answer: proxySelectedBy(reader, { app: 'web' }) }));
    const tracker = new Tracker();
    const [a, b] = ['1', '2'].map(id => proxyOf(nodeOf({ name: id, labels: { app: 'web', id } }), id));
    expect(tracker.get(state, a, selected, '')).toBe(tracker.get(state, b, selected, ''));
  });
});

describe('service targets of a workload', () => {
  const targets = (state: State, proxy = client) =>
    ask(state, serviceTargets, '', proxy).map(t => `${t.service.name}:${t.port.port}>${t.targetPort}`);

  test('are the services that select the pod, with ports by number or container port name, by age', () => {
    const state = world([
      service(
        'web',
        {
          ports: [
            { name: 'http', port: 80, targetPort: 'web' },
            { name: 'x', port: 81, targetPort: 'nowhere' },
          ],
        },
        { day: 2 },
      ),
      service('also', { selector: { app: 'web' } }, { day: 1 }),
      service('other', { selector: { app: 'other' } }),
      pod('web-1', '10.0.0.1', { labels: { app: 'web' } }),
    ]);
    expect(targets(state)).toEqual(['also:80>8080', 'web:80>8080']);
  });
  test('merge two ports with one target and protocol', () => {
    const ports = [
      { name: 'http-a', port: 80, targetPort: 8080 },
      { name: 'http-b', port: 81, targetPort: 8080 },
      { name: 'tcp', port: 82, targetPort: 8080 },
    ];
    const state = world([service('web', { ports }), pod('web-1', '10.0.0.1', { labels: { app: 'web' } })]);
    expect(targets(state)).toEqual(['web:80>8080', 'web:82>8080']);
  });
  test('follow the node of the proxy while the pod is unknown', () => {
    const proxy = proxyOf(
      nodeOf({
        name: 'web-1',
        labels: { app: 'web' },
        metadata: {
          POD_PORTS: '[{"name":"web","containerPort":1},{"name":"web","containerPort":9090,"protocol":"TCP"}]',
        },
      }),
    );
    const state = world([service('web', { ports: [{ name: 'http', port: 80, targetPort: 'web' }] })]);
    expect(targets(state, proxy)).toEqual(['web:80>9090']);
    const more = [
      service('all', { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'elsewhere' }] }),
    ];
    expect(targets(world([...more, service('web')]), proxy)).toEqual([]);
  });
  test.each(['None', '10.1.1.1'])(
    'include a service without selector at %s by its endpoints, once the pod is known',
    clusterIP => {
      const services = [service('db', { clusterIP, selector: {} }), slice('db', [{ ip: '10.0.0.1' }])];
      expect(targets(world([...services, pod('web-1', '10.0.0.1')]))).toEqual(['db:80>8080']);
      expect(targets(world(services))).toEqual([]);
    },
  );
  test('of a WorkloadEntry are Kubernetes services and ServiceEntries that select it', () => {
    const state = world([
      workloadEntry('vm', { address: '10.0.0.1', labels: { app: 'web' } }),
      service('web'),
      serviceEntry('ext', { hosts: ['ext.example.com'], workloadSelector: { labels: { app: 'web' } } }),
    ]);
    expect(targets(state)).toEqual(['ext.example.com:80>80', 'web:80>8080']);
  });
  test.each([
    ['true', 'web:80>9090'],
    ['false', 'web:80>8080'],
  ])('of a machine follow its WorkloadEntry where Services select those (%s)', (flag, expected) => {
    const entry = workloadEntry('vm', { address: '10.0.0.1', labels: { app: 'web' }, ports: { http: 9090 } });
    const env = { PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: flag };
    const proxy = proxyOf(nodeOf({ name: 'vm', ip: '10.0.0.1', labels: { app: 'web' } }));
    expect(targets(world([entry, service('web')], { settings: { env } }), proxy)).toEqual([expected]);
  });
  test('of a machine go by the labels that a ServiceEntry gives it', () => {
    const endpoints = [{ address: '10.0.0.1', labels: { app: 'web' } }];
    const entry = serviceEntry('ext', { hosts: ['ext.example.com'], endpoints });
    const proxy = proxyOf(nodeOf({ name: 'vm', ip: '10.0.0.1', labels: { app: 'other' } }));
    const state = world([entry, service('web'), service('other')]);
    expect(targets(state, proxy)).toEqual(['ext.example.com:80>80', 'web:80>8080']);
  });
  test('are one list for all proxies of a workload', () => {
    const state = world([
      service('web'),
      pod('web-1', '10.0.0.1', { labels: { app: 'web' } }),
      pod('web-2', '10.0.0.2', { labels: { app: 'web' } }),
    ]);
    const tracker = new Tracker();
    const second = proxyOf(nodeOf({ name: 'web-2', ip: '10.0.0.2' }), 'second');
    expect(tracker.get(state, client, serviceTargets, '')).toBe(tracker.get(state, second, serviceTargets, ''));
  });
});
