// A certificate authority of one test, with a certificate for a server on this machine and one for a client, as PEM
// files. Made by openssl, so that servers in other languages get what their users have.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certified {
  /** Paths. */
  readonly ca: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

const SERVER_NAMES = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
const CLIENT_NAMES = 'subjectAltName=DNS:periplus';

/** `folder`: is there; the names of its files are those of the fields. Throws if there is no openssl. */
export function certify(folder: string): Certified {
  const path = (name: string): string => join(folder, `${name}.pem`);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', path('caKey'), '-out', path('ca'), '-subj', '/CN=test', '-days', '2');
  for (const [name, names] of [
    ['server', SERVER_NAMES],
    ['client', CLIENT_NAMES],
  ] as const) {
    const [request, extensions] = [path(`${name}Request`), path(`${name}Extensions`)];
    writeFileSync(extensions, names);
    openssl('req', ...key, '-keyout', path(`${name}Key`), '-out', request, '-subj', `/CN=${name}`);
    openssl(
      ...['x509', '-req', '-in', request, '-out', path(`${name}Cert`), '-days', '2', '-extfile', extensions],
      ...['-CA', path('ca'), '-CAkey', path('caKey'), '-CAcreateserial'],
    );
  }
  return {
    ca: path('ca'),
    serverCert: path('serverCert'),
    serverKey: path('serverKey'),
    clientCert: path('clientCert'),
    clientKey: path('clientKey'),
  };
}
