// What authors should know: errors first, each with its object, where it stands, and what is wrong.

import { expect, test } from 'vitest';
import { showOrigin } from '../../../src/core/base/problem.ts';
import type { Fact } from '../../../src/core/event.ts';
import { newsOf } from '../../../src/core/fold/novelty.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { findingsOf } from '../../../src/offline/findings.ts';
import { withSpec } from '../core/kinds/verdict.ts';
import { destinationRule, pod, service, virtualService } from '../core/registry/fixtures.ts';
import { nodeOf, step } from '../world.ts';

const file = { file: 'a.yaml', line: 3, column: 1 };
const kube = { source: 'kube/Kubernetes' };

function told(...facts: readonly (Fact & { readonly source?: string })[]): State {
  return facts.reduce((state, fact) => step(state, { source: 'file/Kubernetes', ...fact }).state, emptyState);
}

function shown(state: State): readonly string[] {
  return findingsOf(state).map(
    ({ severity, object, source, origin, message }) =>
      `${severity} ${source} ${showOrigin(origin)} ${object}: ${message}`,
  );
}

test('findings: a valid mesh has none', () => {
  expect(findingsOf(told({ kind: 'Add', object: service('web', { selector: {} }) }))).toEqual([]);
});

test('findings: a refused object is an error, also if an older version is in force', () => {
  const state = told(
    { kind: 'Add', object: destinationRule('r', 'web.com') },
    { kind: 'Update', object: destinationRule('r', ''), origin: file },
    { kind: 'Malformed', origin: { file: 'b.yaml' }, reasons: ['2:1: no'] },
    { kind: 'MeshConfig', value: { connectTimeout: '-1s' }, origin: { file: 'mesh.yaml' } },
    { kind: 'MeshNetworks', value: { networks: 7 }, layer: 'configMap', ...kube },
  );
  expect(shown(state).map(line => line.replace(/: [^:]*$/, ''))).toEqual([
    'error file/Kubernetes b.yaml:2:1 ',
    'error file/Kubernetes a.yaml:3:1 DestinationRule/default/r: spec.host',
    'error file mesh.yaml MeshConfig: connectTimeout: -1s is too short',
    'error configMap  MeshNetworks: networks',
    'warning file/Kubernetes  DestinationRule/default/r: spec.host',
  ]);
});

test('findings: an object with an invalid label is refused by name with all problems, and its version before stays in force', () => {
  const labelled = { ...service('web', { clusterIP: 'none of these' }) } as Record<string, unknown>;
  const wrong = { ...labelled, metadata: { name: 'web', namespace: 'default', labels: { n: 5 } } } as never;
  const state = told({ kind: 'Add', object: service('web', { selector: {} }) }, { kind: 'Update', object: wrong });
  expect(shown(state)).toEqual([
    expect.stringMatching(
      /^error file\/Kubernetes {2}Service\/Kubernetes\/default\/web: metadata\.labels\[n\]: expected a string/,
    ),
    expect.stringMatching(/^error file\/Kubernetes {2}Service\/Kubernetes\/default\/web: spec\.clusterIP: /),
  ]);
  expect(state.objects.Service.size).toBe(1);
  // Said again, it is no news: it is on record.
  expect(newsOf(state, 'file/Kubernetes', [{ kind: 'Update', object: wrong }])).toEqual([]);
});

test('findings: objects without effect and dangling references are warnings', () => {
  const route = virtualService('v', { hosts: ['a.com'], http: [{ route: [{ destination: { host: 'gone' } }] }] });
  const gateway = { ...withSpec('GatewayClass', { controllerName: 'x' }), metadata: { name: 'istio' } };
  const state = told(
    { kind: 'Add', object: route, origin: file },
    { kind: 'Add', object: route, ...kube },
    { kind: 'Add', object: gateway, ...kube },
  );
  expect(shown(state)).toEqual([
    'warning kube/Kubernetes  GatewayClass/istio: nothing comes of GatewayClass yet: no proxy is sent anything of it',
    'warning file/Kubernetes a.yaml:3:1 VirtualService/default/v: spec.http[0].route[0].destination: there is no host gone.default.svc.cluster.local',
  ]);
});

test('findings: a selector matches a workload that only its proxy makes known', () => {
  const policy = withSpec('PeerAuthentication', { selector: { matchLabels: { app: 'vm' } } });
  const around = told(
    { kind: 'Add', object: pod('x', '10.0.0.1') },
    { kind: 'Add', object: policy },
    {
      kind: 'Add',
      object: withSpec('Sidecar', { workloadSelector: { labels: { app: 'gone' } }, egress: [{ hosts: ['./*'] }] }),
    },
  );
  const codes = (state: State): readonly string[] => findingsOf(state).map(({ code, object }) => `${code} ${object}`);
  expect(codes(around)).toEqual(['no-workload PeerAuthentication/prod/a', 'no-workload Sidecar/prod/a']);
  const node = nodeOf({ name: 'vm', namespace: 'prod', labels: { app: 'vm' } });
  const connected = step(around, {
    kind: 'ProxyConnected',
    source: 'xds',
    connection: 'c',
    node,
    protocol: 'sotw',
  }).state;
  expect(codes(connected)).toEqual(['no-workload Sidecar/prod/a']);
});
