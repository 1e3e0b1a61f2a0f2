// What authors should know: errors first, each with its object, where it stands, and what is wrong.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
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
  const gateway = {
    ...withSpec('UDPRoute', { rules: [{ backendRefs: [{ group: 'x.io', kind: 'Dns', name: 'dns' }] }] }),
    metadata: { name: 'u', namespace: 'default' },
  };
  const state = told(
    { kind: 'Add', object: route, origin: file },
    { kind: 'Add', object: route, ...kube },
    { kind: 'Add', object: gateway, ...kube },
  );
  expect(shown(state)).toEqual([
    'warning kube/Kubernetes  UDPRoute/default/u: nothing comes of UDPRoute yet: no proxy is sent anything of it',
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

test('findings: what policies cannot enforce is an error, what they protect less than it seems a warning', () => {
  const security = (kind: string, name: string, spec: JsonObject) => ({
    apiVersion: 'security.istio.io/v1',
    kind,
    metadata: { name, namespace: 'prod' },
    spec,
  });
  const custom = { action: 'CUSTOM', provider: { name: 'gone' }, rules: [{}] };
  const deny = {
    action: 'DENY',
    rules: [{ from: [{ source: { namespaces: ['a'] } }], to: [{ operation: { hosts: ['a.com'] } }] }],
  };
  const keys = { issuer: 'i', jwks: '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}' };
  const objects = [
    security('AuthorizationPolicy', 'custom', custom),
    security('AuthorizationPolicy', 'deny', deny),
    security('RequestAuthentication', 'keys', { jwtRules: [keys, { ...keys, audiences: ['x'] }] }),
  ];
  const found = (mode: string) =>
    findingsOf(
      told(
        ...[...objects, security('PeerAuthentication', 'mode', { mtls: { mode } })].map(object => ({
          kind: 'Add' as const,
          object,
        })),
      ),
    )
      .filter(({ code }) => code !== 'nothing-there')
      .map(({ severity, code, object, path }) => `${severity} ${code} ${object} ${path}`);
  const always = [
    'error not-enforceable AuthorizationPolicy/prod/custom spec.provider.name',
    'warning weak-policy AuthorizationPolicy/prod/deny spec.rules[0].to[0].operation.hosts',
    'warning weak-policy RequestAuthentication/prod/keys spec.jwtRules[0].jwks',
    'warning weak-policy RequestAuthentication/prod/keys spec.jwtRules[1].jwks',
    'warning weak-policy RequestAuthentication/prod/keys spec.jwtRules[1].audiences',
  ];
  expect(found('STRICT')).toEqual(always);
  const identity = 'warning weak-policy AuthorizationPolicy/prod/deny spec.rules[0].from[0].source.namespaces';
  expect(found('PERMISSIVE')).toEqual([always[0], identity, ...always.slice(1)]);
});

test('findings: a route that no listener takes, in one sentence', () => {
  const api = 'gateway.networking.k8s.io/v1';
  const gateway = {
    apiVersion: api,
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'default' },
    spec: { gatewayClassName: 'istio', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  };
  const route = {
    apiVersion: api,
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace: 'far' },
    spec: { parentRefs: [{ name: 'gw', namespace: 'default' }], rules: [{}] },
  };
  const state = told({ kind: 'Add', object: gateway, ...kube }, { kind: 'Add', object: route, ...kube });
  expect(shown(state)).toContain(
    'warning kube/Kubernetes  HTTPRoute/far/r: spec.parentRefs[0]: is not attached to Gateway default/gw: hostnames matched parent hostname "", but namespace "far" is not allowed by the parent',
  );
});
