// A user of a NATS server in operator mode: the JWTs of operator, account and user, each signed by the one above it,
// and the `.creds` file that a user is given. Form: NATS, "JWT/NKey Authentication" (nats-io/jwt v2, Claims).

import { nkeys } from '@nats-io/transport-node';

const { createAccount, createOperator, createUser } = nkeys;
type KeyPair = ReturnType<typeof createUser>;

const UNLIMITED = -1;

export interface Operated {
  /** Lines for the configuration of a server. */
  readonly config: string;
  readonly credentials: string;
}

export function operated(): Operated {
  const [operator, account, system, user] = [createOperator(), createAccount(), createAccount(), createUser()];
  const unlimited = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, UNLIMITED]));
  const limits = { ...unlimited('subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf'), wildcards: true };
  const stored = unlimited('mem_storage', 'disk_storage', 'streams', 'consumer');
  const operatorJwt = signed(operator, operator, { type: 'operator' });
  const accountJwt = signed(operator, account, { type: 'account', limits: { ...limits, ...stored } });
  const userJwt = signed(account, user, { type: 'user', subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED });
  const systemJwt = signed(operator, system, { type: 'account', limits });
  const accounts = { [account.getPublicKey()]: accountJwt, [system.getPublicKey()]: systemJwt };
  const preload = Object.entries(accounts).map(([key, jwt]) => `${key}: ${jwt}`);
  return {
    config: [
      `operator: ${operatorJwt}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${preload.join(', ')} }`,
    ].join('\n'),
    credentials: [
      '-----BEGIN NATS USER JWT-----',
      userJwt,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      Buffer.from(user.getSeed()).toString('utf8'),
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  };
}

function signed(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const claims = {
    jti: subject.getPublicKey(),
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const text = [{ typ: 'JWT', alg: 'ed25519-nkey' }, claims].map(part => base64url(JSON.stringify(part))).join('.');
  return `${text}.${base64url(issuer.sign(Buffer.from(text)))}`;
}

function base64url(bytes: string | Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
