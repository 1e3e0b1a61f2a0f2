// A user of a NATS server in operator mode: the JWTs of operator, account and user, each signed by the one above it, and
// the `.creds` file that a user is given. Form: NATS, "JWT/NKey Authentication" (nats-io/jwt v2, Claims).

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
  const [operator, account, user] = [createOperator(), createAccount(), createUser()];
  const limits = Object.fromEntries(
    [
      ...['subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf'],
      ...['mem_storage', 'disk_storage', 'streams', 'consumer'],
    ].map(name => [name, UNLIMITED]),
  );
  const operatorJwt = signed(operator, operator, { type: 'operator' });
  const accountJwt = signed(operator, account, { type: 'account', limits: { ...limits, wildcards: true } });
  const userJwt = signed(account, user, { type: 'user', subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED });
  return {
    config: `operator: ${operatorJwt}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`,
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
