// PeerAuthentications as policies of ztunnel: which are converted, and which a workload lists.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertPeerAuthentication,
// convertedSelectorPeerAuthentications), workloads.go (fetchPeerAuthentications), policies.go (PolicyCollections).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import {
  labelledKey,
  peerAuthenticationsOf,
  portLevelPolicies,
  staticPolicyNamespace,
} from '../../../../../src/core/select/ambient/peer-authentications.ts';
import { ask, world } from '../../../world.ts';
import { type Meta, peerAuthentication } from '../../registry/fixtures.ts';
import { ambientWorld } from './fixtures.ts';

const ROOT = 'istio-system';
const STATIC = 'istio-system/istio_converted_static_strict';
const web = { app: 'web' };
const selector = { matchLabels: web };
type Mode = 'UNSET' | 'DISABLE' | 'PERMISSIVE' | 'STRICT';

const of = (name: string, mode: Mode | undefined, meta: Meta = {}, more: JsonObject = {}): JsonObject =>
  peerAuthentication(name, { ...(mode === undefined ? {} : { mtls: { mode } }), ...more }, meta);
const mesh = (mode: Mode, meta: Meta = {}): JsonObject => of('mesh', mode, { namespace: ROOT, ...meta });
const ofNamespace = (mode: Mode, meta: Meta = {}): JsonObject => of('general', mode, meta);
const ports = (modes: Readonly<Record<number, Mode>>): JsonObject =>
  Object.fromEntries(Object.entries(modes).map(([port, mode]) => [port, { mode }]));
const workload = (mode: Mode, modes?: Readonly<Record<number, Mode>>, meta: Meta = {}): JsonObject =>
  of('w', mode, meta, { selector, ...(modes === undefined ? {} : { portLevelMtls: ports(modes) }) });
const converted = (name = 'w', space = 'default'): string => `${space}/converted_peer_authentication_${name}`;
const listed = (objects: readonly JsonObject[], labels = web, namespace = 'default'): readonly string[] =>
  ask(ambientWorld(objects), peerAuthenticationsOf, { namespace, labels });

describe('a PeerAuthentication with port levels', () => {
  const levelsOf = (...objects: readonly JsonObject[]) => ask(ambientWorld(objects), portLevelPolicies, '');
  it('is converted with its ports in order, and the modes above it', () => {
    const own = of('w', undefined, {}, { selector, portLevelMtls: { ...ports({ 9000: 'STRICT' }), 80: {} } });
    expect(levelsOf(own, ofNamespace('PERMISSIVE'), mesh('STRICT'))).toEqual([
      {
        namespace: 'default',
        name: 'converted_peer_authentication_w',
        mode: 'UNSET',
        ofNamespace: 'PERMISSIVE',
        ofMesh: 'STRICT',
        ports: [
          [80, 'UNSET'],
          [9000, 'STRICT'],
        ],
      },
    ]);
  });
  it('has no mode above it where there is no policy without a selector', () => {
    const empty = of('empty', 'STRICT', {}, { selector: {} });
    expect(levelsOf(workload('STRICT', { 80: 'DISABLE' }), empty)).toMatchObject([
      { mode: 'STRICT', ofNamespace: undefined, ofMesh: undefined },
    ]);
  });
  it('is not converted in the root namespace', () => {
    expect(levelsOf(workload('STRICT', { 80: 'DISABLE' }, { namespace: ROOT }))).toEqual([]);
  });
  it('is the only sort that is converted', () => {
    expect(levelsOf(workload('STRICT'), ofNamespace('STRICT'))).toEqual([]);
  });
  it('takes the mode of the oldest policy of its namespace', () => {
    const levels = levelsOf(
      workload('UNSET', { 80: 'STRICT' }),
      of('a', 'STRICT', { day: 3 }),
      of('b', 'DISABLE', { day: 2 }),
      of('c', 'PERMISSIVE', { day: 2 }),
      of('d', 'STRICT', { day: 1, namespace: 'other' }),
    );
    expect(levels[0]?.ofNamespace).toBe('DISABLE');
  });
  it('gives nothing where ambient mode is off', () => {
    const state = world([workload('STRICT', { 80: 'DISABLE' })]);
    expect(ask(state, portLevelPolicies, '')).toEqual([]);
    expect(ask(state, staticPolicyNamespace, '')).toBeUndefined();
  });
});

describe('a workload lists the static policy', () => {
  it.each<[string, readonly JsonObject[], boolean]>([
    ['if the mesh is strict', [mesh('STRICT')], true],
    ['if its namespace is strict', [mesh('PERMISSIVE'), ofNamespace('STRICT')], true],
    ['if its namespace leaves the mode to a strict mesh', [mesh('STRICT'), ofNamespace('UNSET')], true],
    ['unless its namespace is open', [mesh('STRICT'), ofNamespace('DISABLE')], false],
    ['if it is strict itself', [ofNamespace('DISABLE'), workload('STRICT')], true],
    ['if it leaves the mode to a strict namespace', [ofNamespace('STRICT'), workload('UNSET')], true],
    ['unless it is open itself', [ofNamespace('STRICT'), workload('PERMISSIVE')], false],
    ['unless another namespace is the strict one', [of('o', 'STRICT', { namespace: 'other' })], false],
    ['if an empty selector makes its namespace strict', [of('e', 'STRICT', {}, { selector: {} })], true],
    [
      'if a selector with an empty list makes its namespace strict',
      [of('e', 'STRICT', {}, { selector: { matchLabels: {} } })],
      true,
    ],
    [
      'unless it is open itself under an older policy with an empty list',
      [of('e', 'STRICT', {}, { selector: { matchLabels: {} } }), workload('DISABLE', undefined, { day: 2 })],
      false,
    ],
    [
      'unless a policy of the root namespace has an empty selector',
      [of('e', 'STRICT', { namespace: ROOT }, { selector: {} })],
      false,
    ],
    ['unless a policy of the root namespace selects it', [of('e', 'STRICT', { namespace: ROOT }, { selector })], false],
    [
      'unless the strict policy of its namespace selects others',
      [of('e', 'STRICT', {}, { selector: { matchLabels: { app: 'db' } } })],
      false,
    ],
    [
      'as the oldest policy of the mesh decides',
      [mesh('STRICT', { day: 2 }), of('z', 'DISABLE', { namespace: ROOT })],
      false,
    ],
    [
      'as the oldest of its own policies decides',
      [workload('STRICT', undefined, { day: 2 }), of('x', 'DISABLE', {}, { selector })],
      false,
    ],
    [
      'as the first by name of its own policies decides',
      [workload('STRICT'), of('x', 'DISABLE', {}, { selector })],
      true,
    ],
  ])('%s', (_, objects, expected) => {
    expect(listed(objects)).toEqual(expected ? [STATIC] : []);
  });
});

describe('a workload of the root namespace', () => {
  const inRoot = (...objects: readonly JsonObject[]): readonly string[] => listed(objects, web, ROOT);
  it('is under a policy with an empty selector there, as under one of the mesh', () => {
    expect(inRoot(of('e', 'STRICT', { namespace: ROOT }, { selector: {} }))).toEqual([STATIC]);
  });
  it('is under no policy there that selects it', () => {
    expect(inRoot(workload('STRICT', undefined, { namespace: ROOT }))).toEqual([]);
    expect(inRoot(mesh('STRICT'), workload('DISABLE', { 80: 'STRICT' }, { namespace: ROOT }))).toEqual([STATIC]);
  });
});

describe('a workload with modes of single ports lists', () => {
  it.each<[string, readonly JsonObject[], readonly string[]]>([
    [
      'the static policy if each port is as strict as itself',
      [workload('STRICT', { 80: 'STRICT', 81: 'UNSET' })],
      [STATIC],
    ],
    [
      'its own policy if one of its strict ports is permissive',
      [workload('STRICT', { 80: 'STRICT', 81: 'PERMISSIVE' })],
      [converted()],
    ],
    [
      'its own policy if one of its strict ports is disabled',
      [workload('STRICT', { 80: 'STRICT', 81: 'DISABLE' })],
      [converted()],
    ],
    [
      'its own policy if it is permissive with a strict port',
      [workload('PERMISSIVE', { 80: 'STRICT' })],
      [converted()],
    ],
    ['its own policy if it is disabled with a strict port', [workload('DISABLE', { 80: 'STRICT' })], [converted()]],
    [
      'its own policy if it is open with a strict port in a strict mesh',
      [mesh('STRICT'), workload('DISABLE', { 80: 'STRICT' })],
      [converted()],
    ],
    [
      'nothing if it is permissive with a disabled port',
      [mesh('STRICT'), workload('PERMISSIVE', { 80: 'DISABLE' })],
      [],
    ],
    [
      'its own policy if it opens a port of a strict namespace',
      [ofNamespace('STRICT'), workload('UNSET', { 80: 'PERMISSIVE' })],
      [converted()],
    ],
    [
      'the static policy if it keeps a port of a strict mesh strict',
      [mesh('STRICT'), workload('UNSET', { 80: 'STRICT' })],
      [STATIC],
    ],
    ['its own policy if it is strict at a port alone', [workload('UNSET', { 80: 'STRICT' })], [converted()]],
    ['nothing if it opens a port that is open', [workload('UNSET', { 80: 'PERMISSIVE' })], []],
  ])('%s', (_, objects, expected) => {
    expect(listed(objects)).toEqual(expected);
  });
  it('the policy of its namespace, not that of a namesake elsewhere', () => {
    const objects = [workload('STRICT', { 80: 'DISABLE' }), workload('DISABLE', undefined, { namespace: 'other' })];
    expect(listed(objects)).toEqual([converted()]);
    expect(listed(objects, web, 'other')).toEqual([]);
  });
});

it('workloads of one namespace are told apart by their labels, in whatever order they are written', () => {
  const labels = { app: 'web', tier: 'front' };
  const key = labelledKey({ namespace: 'default', labels });
  expect(labelledKey({ namespace: 'default', labels: { tier: 'front', app: 'web' } })).toBe(key);
  const others = [
    { namespace: 'other', labels },
    { namespace: 'default', labels: web },
    { namespace: 'default', labels: { app: 'web', tier: 'back' } },
    { namespace: 'default', labels: { app: 'web', stage: 'front' } },
  ];
  expect(others.map(labelledKey)).not.toContain(key);
});
