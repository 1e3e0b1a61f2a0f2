// Tokens as an API server issues them, signed by a key of the test, and the key set that verifies them.

import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface TokenMaker {
  /** RFC 7517, as text. */
  readonly jwks: string;
  token(account: string, claims?: Readonly<Record<string, unknown>>): string;
}

export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const HOUR_S = 3_600;

export function tokenMaker(keyId = 'k1'): TokenMaker {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: 'RS256', use: 'sig' };
  return {
    jwks: JSON.stringify({ keys: [jwk] }),
    token: (account, claims = {}) => signed(privateKey, keyId, { ...claimsOf(account), ...claims }),
  };
}

/** `account`: namespace/name. */
function claimsOf(account: string): Readonly<Record<string, unknown>> {
  const [namespace, name] = account.split('/');
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: ISSUER,
    aud: ['istio-ca'],
    sub: `system:serviceaccount:${namespace}:${name}`,
    iat: now,
    exp: now + HOUR_S,
    'kubernetes.io': { namespace, serviceaccount: { name, uid: 'u' } },
  };
}

function signed(key: KeyObject, kid: string, claims: unknown): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), createPrivateKey(key.export({ format: 'pem', type: 'pkcs8' }))).toString('base64url')}`;
}
