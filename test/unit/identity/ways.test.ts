// Which ways of proof a process has, in which order, and on which connections callers are asked.

import { describe, expect, it } from 'vitest';
import { identityObject } from '../../../src/core/kinds/periplus/identity.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { isAskedForProof, waysOf } from '../../../src/identity/authenticate/ways.ts';
import type { ClusterCall } from '../../../src/identity/cluster-call.ts';
import { identitySettings } from '../../../src/identity/settings.ts';
import { ISSUER, tokenMaker } from '../../identity/tokens.ts';
import { step } from '../world.ts';

const listed = (): boolean => true;
const call: ClusterCall = async () => ({ status: 0, body: null });
const JWT_RULE = JSON.stringify({ issuer: 'https://issuer.example', jwksUri: 'https://issuer.example/keys' });

function ways(env: Record<string, string>, tokensByKeys: boolean, cluster?: ClusterCall): readonly string[] {
  const settings = identitySettings(env);
  const options = { settings, tokensByKeys, state: () => emptyState, now: () => 0, listed, callOf: () => undefined };
  return waysOf({ ...options, call: cluster }).map(({ name }) => name);
}

describe('the ways to prove an identity', () => {
  it('are the client certificate alone, without a cluster and without settings', () => {
    expect(ways({}, false)).toEqual(['client certificate']);
  });

  it('are tried as istiod does: certificate, JWT_RULE, Kubernetes token, certificate that a gateway forwards', () => {
    expect(ways({ JWT_RULE, TRUSTED_GATEWAY_CIDR: '10.0.0.0/8' }, false, call)).toEqual([
      'client certificate',
      'OIDC token',
      'Kubernetes token',
      'forwarded certificate',
    ]);
  });

  it('include Kubernetes tokens without a cluster where their keys are known', () => {
    expect(ways({}, true)).toHaveLength(2);
  });
});

describe('a Kubernetes token that is judged by keys', () => {
  const object = identityObject('TokenIssuer', '', 'kubernetes', { issuer: 'https://cluster', jwks: '{"keys":[]}' });
  const { state } = step(emptyState, { kind: 'Update', source: 'identity/Kubernetes', object });
  const [, way] = waysOf({
    settings: identitySettings({}),
    tokensByKeys: true,
    state: () => state,
    now: () => 0,
    listed,
    call: undefined,
    callOf: () => undefined,
  });
  const outcome = (cluster: string) =>
    way!.authenticate({
      address: '10.0.0.9',
      secure: true,
      header: name => (name === 'clusterid' ? [cluster] : name === 'authorization' ? ['Bearer a.b.c'] : []),
    });

  it.each([
    ['Kubernetes', 'refused'],
    ['kubernetes', 'unavailable'],
    ['KUBERNETES', 'unavailable'],
    ['oidc', 'unavailable'],
  ])('has keys under the exact name of its cluster alone: %s is %s', async (cluster, kind) => {
    expect((await outcome(cluster)).kind).toBe(kind);
  });
});

describe('a Kubernetes token of a pod, judged by keys', () => {
  const maker = tokenMaker();
  const issuer = identityObject('TokenIssuer', '', 'kubernetes', { issuer: ISSUER, jwks: maker.jwks });
  const before = step(emptyState, { kind: 'Update', source: 'identity/Kubernetes', object: issuer }).state;
  const web = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u-web' },
    spec: { serviceAccountName: 'web' },
  };
  const withPod = step(before, { kind: 'Update', source: 'kube/Kubernetes', object: web }).state;
  const synced = step(withPod, { kind: 'Synced', source: 'kube/Kubernetes' }).state;
  const outcome = async (state: State, isListed: boolean, name: string, uid: string, cluster?: ClusterCall) => {
    const options = { settings: identitySettings({}), tokensByKeys: true, callOf: () => undefined };
    const [, way] = waysOf({
      ...{ ...options, state: () => state, now: Date.now, listed: () => isListed, call: cluster },
    });
    const bound = { namespace: 'shop', serviceaccount: { name: 'web', uid: 'u' }, pod: { name, uid } };
    const token = maker.token('shop/web', { 'kubernetes.io': bound });
    const header = (of: string): readonly string[] => (of === 'authorization' ? [`Bearer ${token}`] : []);
    return (await way!.authenticate({ address: '', secure: true, header })).kind;
  };

  it.each([
    ['of a pod that is there is proven', synced, true, 'web', 'u-web', 'proven'],
    ['of a pod that is there is proven by what the journal has', synced, false, 'web', 'u-web', 'proven'],
    ['of no pod that is there is refused', synced, true, 'gone', 'u', 'refused'],
    ['of an earlier pod is refused', synced, true, 'web', 'u-old', 'refused'],
    ['waits while the pod may not be listed yet', synced, false, 'new', 'u', 'unavailable'],
    ['waits while the pod may be an earlier one', synced, false, 'web', 'u-new', 'unavailable'],
    ['waits before the cluster was ever listed', before, false, 'web', 'u-web', 'unavailable'],
    ['waits in the middle of the first list', withPod, false, 'late', 'u', 'unavailable'],
  ] as const)('%s', async (_, state, isListed, name, uid, kind) => {
    expect(await outcome(state, isListed, name, uid, call)).toBe(kind);
  });

  it('counts for itself in a mesh without an API server', async () => {
    expect(await outcome(before, true, 'web', 'u')).toBe('proven');
  });
});

describe('a caller', () => {
  const peer = (secure: boolean) => ({ address: '', secure, header: () => [] });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ XDS_AUTH_PLAINTEXT: 'true' }, false, true],
    [{ XDS_AUTH: 'false', XDS_AUTH_PLAINTEXT: 'true' }, true, false],
  ])('with %o on a connection whose encryption is %s is asked for proof: %s', (env, secure, asked) => {
    expect(isAskedForProof(identitySettings(env), peer(secure))).toBe(asked);
  });
});
