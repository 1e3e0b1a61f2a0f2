// Policies that ztunnel is sent, and which a workload lists of them.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/authorization.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { peerAuthentication, pod } from '../../core/registry/fixtures.ts';
import { ambientWorld, waypoint } from '../../core/select/ambient/fixtures.ts';
import { step, world } from '../../world.ts';
import { policiesOf, workloadsOf } from './workload-scene.ts';

const policy = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec,
});
const sent = (spec: JsonObject, metadata?: JsonObject, env?: Readonly<Record<string, string>>) =>
  Object.values(policiesOf(ambientWorld([policy(spec, metadata)], env)))[0];
const STATIC = 'istio-system/istio_converted_static_strict';
const CONVERTED = 'default/converted_peer_authentication_w';

describe('an AuthorizationPolicy', () => {
  it.each<[string, JsonObject, JsonObject | undefined, string | undefined]>([
    ['the mesh in the root namespace', {}, { namespace: 'istio-system' }, undefined],
    ['its namespace', {}, undefined, 'NAMESPACE'],
    ['selected workloads', { selector: { matchLabels: { app: 'a' } } }, undefined, 'WORKLOAD_SELECTOR'],
    ['nothing with an empty selector', { selector: {} }, undefined, 'WORKLOAD_SELECTOR'],
  ])('is for %s', (_, spec, metadata, scope) => {
    const found = sent(spec, metadata);
    expect(found).toBeDefined();
    expect(found?.scope).toBe(scope);
  });
  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['AUDIT', { action: 'AUDIT' }, undefined],
    ['CUSTOM', { action: 'CUSTOM', provider: { name: 'x' }, rules: [{}] }, undefined],
    ['for a waypoint', { targetRefs: [{ group: '', kind: 'Service', name: 'web' }] }, undefined],
    ['a dry run', {}, { annotations: { 'istio.io/dry-run': 'true' } }],
  ])('is not sent if it is %s', (_, spec, metadata) => {
    expect(sent(spec, metadata)).toBeUndefined();
  });
  it('is sent as a dry run with the flag', () => {
    const metadata = { annotations: { 'istio.io/dry-run': 'true' } };
    expect(sent({}, metadata, { AMBIENT_ENABLE_DRY_RUN_AUTHORIZATION_POLICY: 'true' })?.dryRun).toBe(true);
  });
  it('is not sent where ambient mode is off', () => {
    expect(policiesOf(world([policy({}), peerAuthentication('p', { mtls: { mode: 'STRICT' } })]))).toEqual({});
  });

  const http = { to: [{ operation: { ports: ['80'], methods: ['GET'] } }] };
  it('loses a rule with HTTP if it allows', () => {
    expect(sent({ rules: [http] })).toEqual({ name: 'a', namespace: 'default', scope: 'NAMESPACE' });
  });
  it('keeps the rest of the rule if it denies', () => {
    expect(sent({ action: 'DENY', rules: [http] })?.groups).toEqual([
      { rules: [{ matches: [{ destinationPorts: [80] }] }] },
    ]);
  });
  it('puts to before from, and each condition by itself', () => {
    const rule = {
      from: [{ source: { namespaces: ['a*'], ipBlocks: ['10.0.0.0/8'] } }],
      to: [{ operation: { notPorts: ['90'] } }],
      when: [{ key: 'source.principal', values: ['*'], notValues: ['x'] }],
    };
    expect(sent({ rules: [rule] })?.groups).toEqual([
      {
        rules: [
          { matches: [{ notDestinationPorts: [90] }] },
          { matches: [{ namespaces: [{ prefix: 'a' }], sourceIps: [{ address: 'CgAAAA==', length: 8 }] }] },
          { matches: [{ principals: [{ presence: {} }], notPrincipals: [{ exact: 'x' }] }] },
        ],
      },
    ]);
  });
  it('whose first version is refused denies to ztunnel too', () => {
    const refused = policy({ action: 'DENY', selectors: {}, rules: [{}] });
    const { state } = step(ambientWorld([]), { kind: 'Add', source: 'file/Kubernetes', object: refused });
    expect(policiesOf(state)['default/a']).toMatchObject({ action: 'DENY', scope: 'NAMESPACE', groups: [{}] });
  });
});

describe('PeerAuthentications', () => {
  const selector = { matchLabels: { app: 'web' } };
  const mesh = (mode: string): JsonObject => peerAuthentication('m', { mtls: { mode } }, { namespace: 'istio-system' });
  const own = (mode: string, ports?: JsonObject): JsonObject =>
    peerAuthentication('w', { selector, mtls: { mode }, ...(ports === undefined ? {} : { portLevelMtls: ports }) });
  const web = pod('p', '10.0.0.1', { labels: { app: 'web' } });
  const listed = (...parts: readonly JsonObject[]): unknown =>
    workloadsOf(ambientWorld([web, ...parts]))['Kubernetes//Pod/default/p']?.authorizationPolicies ?? [];
  const allow = { 8080: { mode: 'PERMISSIVE' } };
  const strict = { 8080: { mode: 'STRICT' } };

  it('send the policy for all as soon as there is one', () => {
    expect(Object.keys(policiesOf(ambientWorld([mesh('PERMISSIVE')])))).toEqual([STATIC]);
    expect(policiesOf(ambientWorld([]))).toEqual({});
  });
  it.each<[string, readonly JsonObject[], readonly string[]]>([
    ['the mesh is strict', [mesh('STRICT')], [STATIC]],
    ['its namespace is not', [mesh('STRICT'), peerAuthentication('n', { mtls: { mode: 'PERMISSIVE' } })], []],
    ['its own mode is DISABLE', [mesh('STRICT'), own('DISABLE')], []],
    ['it is strict but for a port', [own('STRICT', allow)], [CONVERTED]],
    ['it is strict at a port alone', [own('PERMISSIVE', strict)], [CONVERTED]],
    ['it opens a port of a strict mesh', [mesh('STRICT'), own('UNSET', allow)], [CONVERTED]],
    [
      'it disables a port of a strict mesh, which istiod overlooks',
      [mesh('STRICT'), own('UNSET', { 8080: { mode: 'DISABLE' } })],
      [STATIC],
    ],
  ])('are listed by a workload if %s', (_, parts, expected) => {
    expect(listed(...parts)).toEqual(expected);
  });
  it('send a converted policy that denies without identity but for the open port', () => {
    const anonymous = { notPrincipals: [{ presence: {} }] };
    const found = policiesOf(ambientWorld([mesh('STRICT'), own('UNSET', allow)]))[CONVERTED];
    expect(found?.groups).toEqual([
      { rules: [{ matches: [{ notDestinationPorts: [8080] }] }, { matches: [anonymous] }] },
    ]);
    expect(policiesOf(ambientWorld([own('STRICT', strict)]))[CONVERTED]).toBeUndefined();
  });
});

it('pods of a waypoint may call what uses it, with the flag', () => {
  const parts = [
    waypoint('w', { labels: { 'istio.io/waypoint-for': 'all' } }),
    pod('gw', '10.0.0.9', { account: 'wsa', labels: { 'gateway.networking.k8s.io/gateway-name': 'w' } }),
    pod('p', '10.0.0.1', { labels: { 'istio.io/use-waypoint': 'w' } }),
  ];
  const name = 'default/istio_allow_waypoint_default_w';
  const on = ambientWorld(parts, { PILOT_AUTO_ALLOW_WAYPOINT_POLICY: 'true' });
  expect(policiesOf(on)[name]?.groups).toEqual([
    { rules: [{ matches: [{ principals: [{ exact: 'cluster.local/ns/default/sa/wsa' }] }] }] },
  ]);
  expect(workloadsOf(on)['Kubernetes//Pod/default/p']?.authorizationPolicies).toEqual([name]);
  expect(policiesOf(ambientWorld(parts))[name]).toBeUndefined();
});
