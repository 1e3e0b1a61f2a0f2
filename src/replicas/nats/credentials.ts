// Who this process is to the NATS servers: a file that holds a `.creds` (a JWT and its key), the seed of an nkey, or
// `user:password`. It is read again for every connection, so that credentials can be exchanged while a replica runs.

import { readFileSync } from 'node:fs';
import type { Authenticator } from '@nats-io/transport-node';
import { credsAuthenticator, nkeyAuthenticator, usernamePasswordAuthenticator } from '@nats-io/transport-node';

const JWT = '-----BEGIN NATS USER JWT-----';
/** Seeds of users; those of other roles begin otherwise. */
const SEED = /^SU[A-Z2-7]{56}$/;
const USER = /^([^:\s]+):(.+)$/;

/** Throws if the file cannot be read or holds something else; later such a file leaves what was read before in use. */
export function credentialsIn(file: string): Authenticator {
  let last = authenticatorOf(file);
  return nonce => {
    try {
      last = authenticatorOf(file);
    } catch {
      // It is being exchanged.
    }
    return last(nonce);
  };
}

function authenticatorOf(file: string): Authenticator {
  const bytes = readFileSync(file);
  const text = bytes.toString('utf8').trim();
  if (text.includes(JWT)) return credsAuthenticator(bytes);
  if (SEED.test(text)) return nkeyAuthenticator(Buffer.from(text));
  const [, user, password] = USER.exec(text) ?? [];
  if (user !== undefined && password !== undefined) return usernamePasswordAuthenticator(user, password);
  throw new Error(`${file}: expected the .creds of a NATS user, the seed of an nkey (SU…), or user:password`);
}
