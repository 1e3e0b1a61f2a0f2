// What a kubeconfig from a Secret may hold.

import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { KUBECONFIG_CHARS_MAX, readKubeconfig } from '../../../../src/core/clusters/kubeconfig.ts';

const SECRET = 'a-private-token';

interface Parts {
  readonly cluster?: JsonObject;
  readonly user?: JsonObject;
  readonly root?: JsonObject;
  readonly more?: readonly JsonObject[];
}

function text({ cluster = {}, user = {}, root = {}, more = [] }: Parts = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'east', cluster: { server: 'https://east:6443/', 'certificate-authority-data': 'Q0E=', ...cluster } },
    ],
    users: [{ name: 'east', user: { token: SECRET, ...user } }, ...more],
    contexts: [{ name: 'east', context: { cluster: 'east', user: 'east' } }],
    'current-context': 'east',
    ...root,
  });
}

function refusal(given: string): string {
  const read = readKubeconfig(given);
  if (isRight(read)) throw new Error('it was accepted');
  expect(read.left).not.toContain(SECRET);
  return read.left;
}

describe('a kubeconfig', () => {
  it('is rebuilt of the fields that are known', () => {
    const read = readKubeconfig(text({ cluster: { 'tls-server-name': 'kubernetes', odd: 1 }, user: { as: 'reader' } }));
    if (isLeft(read)) throw new Error(read.left);
    expect(read.right).toEqual({
      server: 'https://east:6443',
      caData: 'Q0E=',
      skipTlsVerify: false,
      tlsServerName: 'kubernetes',
      user: { token: SECRET, as: 'reader' },
    });
  });

  it('may name the provider oidc, without the file of its settings', () => {
    const config = { 'client-id': 'c', 'idp-certificate-authority': '/etc/passwd', 'refresh-token': 'r' };
    const read = readKubeconfig(text({ user: { token: '', 'auth-provider': { name: 'oidc', config } } }));
    expect(isRight(read) && read.right.user).toEqual({ oidc: { 'client-id': 'c', 'refresh-token': 'r' } });
  });

  it.each<[string, string, string]>([
    ['empty', ' \n', 'kubeconfig is empty'],
    ['no YAML', `token: "${SECRET}`, 'kubeconfig cannot be loaded: '],
    ['a list', '[]', 'kubeconfig cannot be loaded: expected an object'],
    ['too long', `#${'x'.repeat(KUBECONFIG_CHARS_MAX)}`, 'kubeconfig is longer than'],
  ])('that is %s is refused', (_, given, why) => {
    expect(refusal(given)).toContain(why);
  });

  it.each<[string, Parts, string]>([
    ['no current context', { root: { 'current-context': '' } }, 'current-context is missing'],
    ['an unknown context', { root: { 'current-context': 'x' } }, 'current-context names no context'],
    ['an unknown cluster', { root: { clusters: [] } }, 'names no cluster'],
    ['an unknown user', { root: { users: null } }, 'names no user'],
    ['a list that is none', { root: { users: {} } }, 'users is no list'],
    ['no server', { cluster: { server: '' } }, 'has no server'],
    ['a bad proxy', { cluster: { 'proxy-url': 'nonsense' } }, 'proxy-url is no URL'],
    ['a key without a certificate', { user: { 'client-key-data': SECRET } }, 'needs its key'],
    ['token and password', { user: { password: SECRET } }, 'exclude each other'],
    ['a group without a user', { user: { 'as-groups': ['g'] } }, 'without a user'],
    ['a token that is no text', { user: { token: 7 } }, 'token is no text'],
  ])('with %s is not valid', (_, parts, why) => {
    expect(refusal(text(parts))).toMatch(/^kubeconfig is not valid: /);
    expect(refusal(text(parts))).toContain(why);
  });

  it.each<[string, Parts, string]>([
    ['a program', { user: { exec: { command: 'sh' } } }, 'exec'],
    ['a token file', { user: { token: '', tokenFile: '/t' } }, 'tokenFile'],
    ['a token file under its other name', { user: { token: '', 'token-file': '/t' } }, 'token-file'],
    ['certificate files', { user: { 'client-certificate': '/c', 'client-key': '/k' } }, 'client-certificate'],
    ['a file of roots', { cluster: { 'certificate-authority': '/ca' } }, 'certificate-authority'],
    ['the provider gcp', { user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'sh' } } } }, 'auth-provider'],
    ['a group to act as', { user: { as: 'a', 'as-groups': ['system:masters'] } }, 'impersonation'],
    ['plain HTTP', { cluster: { server: 'http://east' } }, 'https'],
    ['a program of another user', { more: [{ name: 'x', user: { exec: { command: 'sh' } } }] }, 'users[1]: exec'],
  ])('with %s is not allowed', (_, parts, why) => {
    expect(refusal(text(parts))).toMatch(/^kubeconfig is not allowed: /);
    expect(refusal(text(parts))).toContain(why);
  });
});
