// A refused AuthorizationPolicy closes: what acts in its place until a version is accepted.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { restore } from '../../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../../src/core/fold/snapshot.ts';
import type { Obj } from '../../../../src/core/model/object.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { findingsOf } from '../../../../src/offline/findings.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

const policy = (spec: Json, name = 'p'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace: 'foo', name },
  spec,
});
const add = (state: State, object: JsonObject, source = 'file/Kubernetes') =>
  foldFacts([{ source, kind: 'Update', object }], state);
const inForce = (state: State): Obj<'AuthorizationPolicy'> | undefined =>
  state.objects.AuthorizationPolicy.get('foo/p') as Obj<'AuthorizationPolicy'> | undefined;
const bad = { from: [{ source: { ipBlocks: ['x'] } }] };
const good = { from: [{ source: { namespaces: ['a'] } }] };
const selector = { matchLabels: { app: 'a' } };

describe('if the first version of a PeerAuthentication is refused', () => {
  const ports = { '8080': { mode: 'DISABLE' } };
  const strict = { mtls: { mode: 'STRICT' } };

  it.each<[string, Json, JsonObject | undefined]>([
    ['modes of ports without a selector', { ...strict, portLevelMtls: ports }, strict],
    ['the same and plaintext', { mtls: { mode: 'DISABLE' }, portLevelMtls: ports }, { mtls: { mode: 'DISABLE' } }],
    ['a mode that does not exist', { selector, mtls: { mode: 'STRCT' } }, { selector, ...strict }],
    [
      'a port that is none',
      { selector, ...strict, portLevelMtls: { x: { mode: 'DISABLE' } } },
      { selector, ...strict },
    ],
    ['an undecided selection of a strict mode', { selector: { matchLabels: 1 }, ...strict }, strict],
    ['an undecided selection of another', { selector: { matchLabels: 1 }, mtls: { mode: 'DISABLE' } }, undefined],
    ['a wildcard in the selector', { selector: { matchLabels: { app: '*' } }, ...strict }, strict],
    ['no object', 'x', strict],
  ])('its mode acts, and nothing of it opens: %s', (_, spec, acts) => {
    const object = { ...policy(spec), kind: 'PeerAuthentication' };
    const { state } = add(emptyState, object);
    expect(state.records.get('PeerAuthentication|foo/p|file/Kubernetes')?.accepted).toBeUndefined();
    expect((state.objects.PeerAuthentication.get('foo/p') as Obj | undefined)?.spec).toEqual(acts);
  });
});

describe('if the first version of a policy is refused', () => {
  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['ALLOW', { selector, rules: [bad, good] }, { selector, action: 'ALLOW', rules: [] }],
    [
      'DENY with a sound rule',
      { selector, action: 'DENY', rules: [bad, good] },
      { selector, action: 'DENY', rules: [good] },
    ],
    ['DENY without one', { selector, action: 'DENY', rules: [bad] }, { selector, action: 'DENY', rules: [{}] }],
    [
      'CUSTOM with a sound rule',
      {
        action: 'CUSTOM',
        provider: { name: 'x' },
        rules: [{ ...good, when: [] }, { to: [{ operation: { paths: ['/a'] } }] }],
      },
      { action: 'CUSTOM', provider: { name: 'x' }, rules: [{ to: [{ operation: { paths: ['/a'] } }] }] },
    ],
    ['CUSTOM without a provider', { action: 'CUSTOM', rules: [{}] }, { action: 'DENY', rules: [{}] }],
    ['AUDIT', { action: 'AUDIT', rules: [bad] }, undefined],
    ['an unknown action', { action: 'X', rules: [good] }, { action: 'DENY', rules: [{}] }],
    [
      'a selection that cannot be read',
      { selector: { matchLabels: 1 }, rules: [good] },
      { selectsAll: true, action: 'ALLOW', rules: [] },
    ],
    [
      'target references',
      { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'g' }], rules: [bad] },
      { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'g' }], action: 'ALLOW', rules: [] },
    ],
  ])('a stand-in acts for it: %s', (_, spec, acts) => {
    const { state, effects } = add(emptyState, policy(spec));
    expect(inForce(state)?.spec).toEqual(acts);
    expect(effects.some(effect => effect.kind === 'Push')).toBe(acts !== undefined);
    const findings = findingsOf(state).filter(({ severity }) => severity === 'error');
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.some(({ message }) => message.includes('is refused as far as it can be read'))).toBe(
      acts !== undefined,
    );
  });

  it('the policy acts once a version is accepted, and stays when a later one is refused', () => {
    const refused = add(emptyState, policy({ rules: [bad] })).state;
    const accepted = add(refused, policy({ rules: [good] })).state;
    expect(inForce(accepted)?.spec.rules).toEqual([good]);
    const later = add(accepted, policy({ rules: [bad] })).state;
    expect(inForce(later)).toBe(inForce(accepted));
  });

  it('another source with an accepted version wins', () => {
    const refused = add(emptyState, policy({ rules: [bad] }), 'file/Kubernetes').state;
    const both = add(refused, policy({ rules: [good] }), 'kube/Kubernetes').state;
    expect(inForce(both)?.spec.rules).toEqual([good]);
  });

  it('deleting it opens what it closed', () => {
    const refused = add(emptyState, policy({ rules: [bad] })).state;
    const ref = { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', namespace: 'foo', name: 'p' };
    const { state, effects } = foldFacts([{ source: 'file/Kubernetes', kind: 'Delete', ref }], refused);
    expect(inForce(state)).toBeUndefined();
    expect(effects.some(effect => effect.kind === 'Push')).toBe(true);
  });

  it('a snapshot keeps it', () => {
    const { state } = add(emptyState, policy({ rules: [bad] }));
    expect(inForce(restore(snapshotOf(state)))).toEqual(inForce(state));
  });
});
