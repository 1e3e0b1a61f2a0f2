// Which ways of proof a process has, in which order, and on which connections callers are asked.

import { describe, expect, it } from 'vitest';
import { identityObject } from '../../../src/core/kinds/periplus/identity.ts';
import { emptyState } from '../../../src/core/state.ts';
import { isAskedForProof, waysOf } from '../../../src/identity/authenticate/ways.ts';
import type { ClusterCall } from '../../../src/identity/cluster-call.ts';
import { identitySettings } from '../../../src/identity/settings.ts';
import { step } from '../world.ts';

const call: ClusterCall = async () => ({ status: 0, body: null });
const JWT_RULE = JSON.stringify({ issuer: 'https://issuer.example', jwksUri: 'https://issuer.example/keys' });

function ways(env: Record<string, string>, tokensByKeys: boolean, cluster?: ClusterCall): readonly string[] {
  const settings = identitySettings(env);
  const options = { settings, tokensByKeys, state: () => emptyState, now: () => 0, callOf: () => undefined };
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
