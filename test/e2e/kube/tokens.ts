// Tokens of service accounts: from the API server, and such as it would never accept.

import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importPKCS8, SignJWT } from 'jose';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { tokenMaker } from '../../identity/tokens.ts';
import type { KubeClient } from './client.ts';
import type { Cluster } from './cluster.ts';

const ISSUER = 'https://kubernetes.default.svc';
const LIFE_S = 3_600;

/** `spec`: of the TokenRequest. */
export async function serviceAccountToken(
  admin: KubeClient,
  namespace: string,
  name: string,
  spec: JsonObject = {},
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: LIFE_S, ...spec },
  };
  const { status } = await admin.post(path, body);
  return String((status as JsonObject).token);
}

/** Signed by the key of the cluster, and out of date. */
export async function expiredToken(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const pem = await readFile(join(cluster.folder, 'sa.key'), 'utf8');
  const key = await importPKCS8(createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }) as string, 'RS256');
  const past = Math.floor(Date.now() / 1_000) - 2 * LIFE_S;
  const claims = { 'kubernetes.io': { namespace, serviceaccount: { name, uid: 'u' } } };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(ISSUER)
    .setAudience(['istio-ca'])
    .setSubject(`system:serviceaccount:${namespace}:${name}`)
    .setIssuedAt(past)
    .setExpirationTime(past + LIFE_S)
    .sign(key);
}

/** Right in everything but the key that signs it. */
export function tokenOfAnotherCluster(namespace: string, name: string): string {
  return tokenMaker().token(`${namespace}/${name}`, { iss: ISSUER });
}
