// A refused AuthorizationPolicy whose selection has a problem closes all that it could select, in every form of the
// problem and for each action; a sound selection keeps its bounds.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { Settings } from '../../../../src/core/mesh/settings.ts';
import { authorizationOfProxy } from '../../../../src/core/select/policy/authorization.ts';
import type { State } from '../../../../src/core/state.ts';
import { findingsOf } from '../../../../src/offline/findings.ts';
import { ask, nodeOf, proxyOf, put, world } from '../../world.ts';

const GROUP = 'gateway.networking.k8s.io';
const target = { group: GROUP, kind: 'Gateway', name: 'g' };
const selector = { matchLabels: { app: 'a' } };
const goodRule = { from: [{ source: { namespaces: ['x'] } }] };
const badRule = { from: [{ source: { ipBlocks: ['x'] } }] };

const actions: readonly (readonly [string, JsonObject])[] = [
  ['ALLOW', { action: 'ALLOW', rules: [goodRule] }],
  ['DENY', { action: 'DENY', rules: [goodRule] }],
  ['CUSTOM', { action: 'CUSTOM', provider: { name: 'p' }, rules: [{ to: [{ operation: { ports: ['80'] } }] }] }],
];
const undecided: readonly (readonly [string, JsonObject])[] = [
  ['selector and targetRefs', { selector, targetRefs: [target] }],
  ['selector and targetRef', { selector, targetRef: target }],
  ['targetRef and targetRefs', { targetRef: target, targetRefs: [target] }],
  ['a selector that is no object', { selector: 'app=a' }],
  ['labels that are no object', { selector: { matchLabels: 1 } }],
  ['a label that is no text', { selector: { matchLabels: { app: 'a', tier: {} } } }],
  ['a wildcard in a label', { selector: { matchLabels: { app: 'a*' } } }],
  ['a label without a key', { selector: { matchLabels: { '': 'a' } } }],
  ['an unknown field of the selector', { selector: { matchLabels: { app: 'a' }, matchExpressions: [] } }],
  ['a misspelt selector', { selektor: selector }],
  ['a misspelt targetRefs', { target_refs: [target] }],
  ['a targetRef that is no object', { targetRef: 'g' }],
  ['a targetRef of an unknown kind', { targetRef: { ...target, kind: 'Gatway' } }],
  ['a targetRef of an unknown group', { targetRef: { ...target, group: 'gateway' } }],
  ['a targetRef without a name', { targetRef: { group: GROUP, kind: 'Gateway' } }],
  ['a targetRef into another namespace', { targetRef: { ...target, namespace: 'other' } }],
  ['targetRefs that are no list', { targetRefs: target }],
  ['a bad entry of targetRefs beside a good one', { targetRefs: [target, 1] }],
  ['a targetRefs entry of an unknown kind beside a good one', { targetRefs: [target, { ...target, kind: 'Gatway' }] }],
];

const sidecar = nodeOf({ labels: { app: 'b' } });
const ofGateway = nodeOf({ labels: { app: 'b', [`${GROUP}/gateway-name`]: 'g' } });
const ofOtherGateway = nodeOf({ labels: { app: 'b', [`${GROUP}/gateway-name`]: 'h' } });

const policy = (spec: JsonObject, namespace = 'default'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { namespace, name: 'p' },
  spec,
});

const refused = (object: JsonObject, env: Settings['env'] = {}): State => {
  const before = world([], { settings: { env } });
  return put(before, object).state;
};

/** The action and rules of the policy as they act on a proxy; undefined: it is not attached to it. */
function acting(state: State, node: JsonObject): JsonObject | undefined {
  const inputs = ask(state, authorizationOfProxy, { beside: '', subject: '' }, proxyOf(node));
  const [one] = [...(inputs?.policies ?? []), ...(inputs?.external ?? []).flatMap(({ policies }) => policies)];
  return one && { action: one.spec.action ?? '', rules: (one.spec.rules ?? []) as unknown as Json };
}

const messages = (state: State): string =>
  findingsOf(state)
    .map(({ message }) => message)
    .join('\n');

describe.each(undecided)('a refused policy with %s', (_, selection) => {
  it.each(actions)('closes every proxy of its namespace: %s', (action, spec) => {
    const state = refused(policy({ ...spec, ...selection }));
    const closed = { action, rules: action === 'ALLOW' ? [] : (spec.rules as Json) };
    for (const node of [sidecar, ofGateway, ofOtherGateway]) expect(acting(state, node)).toEqual(closed);
    expect(acting(state, nodeOf({ namespace: 'other' }))).toBeUndefined();
    expect(messages(state)).toContain('it selects its whole namespace');
  });

  it('closes the mesh from the root namespace', () => {
    const state = refused(policy({ ...actions[0]![1], ...selection }, 'istio-system'));
    expect(acting(state, sidecar)).toEqual({ action: 'ALLOW', rules: [] });
    expect(acting(state, ofGateway)).toEqual({ action: 'ALLOW', rules: [] });
  });

  it('closes Gateways whose policies select by reference only', () => {
    const env = { ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY: 'false' };
    const state = refused(policy({ ...actions[0]![1], ...selection }), env);
    expect(acting(state, ofGateway)).toEqual({ action: 'ALLOW', rules: [] });
  });
});

describe('a policy refused for a rule', () => {
  it.each(actions)('closes what its selector selects and nothing else: %s', (_, spec) => {
    const state = refused(policy({ ...spec, selector, rules: [badRule] }));
    expect(acting(state, nodeOf({ labels: { app: 'a' } }))).toBeDefined();
    expect(acting(state, sidecar)).toBeUndefined();
    expect(messages(state)).not.toContain('it selects its whole namespace');
  });

  it.each(actions)('closes the Gateway that it refers to and nothing else: %s', (_, spec) => {
    for (const selection of [{ targetRefs: [target] }, { targetRef: target }]) {
      const state = refused(policy({ ...spec, ...selection, rules: [badRule] }));
      expect(acting(state, ofGateway)).toBeDefined();
      expect(acting(state, ofOtherGateway)).toBeUndefined();
      expect(acting(state, sidecar)).toBeUndefined();
    }
  });
});
