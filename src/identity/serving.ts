// The control plane's own serving certificate: from files, or signed by the authority for the names under which proxies
// know it. Kept in memory, made anew when the authority's bundle changes and at half of its life.
//
// Invariant: a pair that does not fit is never used; the one before stays.
// Source: Istio pilot/pkg/bootstrap/certcontroller.go (initDNSCerts, watchRootCertAndGenKeyCert),
// pilot/pkg/bootstrap/server.go (getDNSNames).

import { X509Certificate } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Authority } from './authority.ts';
import { generateKeys, type KeyType, privateKeyPem, publicKeyDer } from './x509/keys.ts';
import { makeRequest } from './x509/make-request.ts';
import { fits } from './x509/profile.ts';

export interface ServingCertificate {
  /** PEM: leaf, then its chain. */
  readonly certificate: string;
  readonly key: string;
  /** What clients verify it with; PEM. */
  readonly roots: string;
  /** Milliseconds since the epoch; undefined: its files are watched. */
  readonly renewAt?: number;
}

export interface ServingNames {
  readonly namespace: string;
  readonly revision: string;
  readonly customHosts: readonly string[];
  /** `istiod.istio-system.svc:15012` */
  readonly discoveryAddress: string;
}

/** A set, sorted. */
export function servingNames({ namespace, revision, customHosts, discoveryAddress }: ServingNames): readonly string[] {
  const host = discoveryAddress.replace(/:[0-9]+$/, '').replace(/^\[(.*)\]$/, '$1');
  const ofRevision = revision === '' || revision === 'default' ? [] : [`istiod-${revision}.${namespace}.svc`];
  const services = ['istiod', 'istiod-remote', 'istio-pilot'].map(name => `${name}.${namespace}.svc`);
  return [...new Set([host, ...customHosts, ...services, ...ofRevision])].filter(name => name !== '').sort();
}

/**
 * P-256, also where istiod makes an RSA key: a handshake takes a signature of this key on the event loop, and one of
 * RSA takes ten times as long. RSA where the suites of TLS 1.2 that were chosen have no other (`ciphers`: OpenSSL's
 * names).
 */
function keyTypeOf(ciphers: string): KeyType {
  const chosen = ciphers.split(':').filter(name => name !== '' && !name.startsWith('TLS_'));
  return chosen.length > 0 && !chosen.some(name => name.includes('ECDSA')) ? { rsa: 2_048 } : { ec: 'P-256' };
}

/** Ten years, as istiod asks; the authority cuts it down to its own end. */
const SERVING_TTL_MS = 3_650 * 24 * 3_600_000;

export async function signedServingCertificate(
  authority: Authority,
  names: readonly string[],
  ciphers = '',
): Promise<ServingCertificate> {
  const { privateKey } = await generateKeys(keyTypeOf(ciphers));
  const { roots } = authority.bundle;
  const { certChain, notBefore, notAfter } = await authority.certify(publicKeyDer(privateKey), names, SERVING_TTL_MS);
  const chain = roots === '' ? certChain : certChain.slice(0, -1);
  return { certificate: chain.join(''), key: privateKeyPem(privateKey), roots, renewAt: (notBefore + notAfter) / 2 };
}

/** The same by a signer elsewhere: `sign` takes a request (PEM) and seconds, and answers with certificates (PEM). */
export async function servingCertificateOf(
  names: readonly string[],
  roots: string,
  sign: (csr: string, seconds: number) => Promise<string>,
): Promise<ServingCertificate> {
  const { privateKey } = await generateKeys({ rsa: 2_048 });
  const certificate = await sign(await makeRequest(privateKey, names), SERVING_TTL_MS / 1_000);
  const leaf = new X509Certificate(certificate);
  if (!fits(leaf, privateKey)) throw new Error('the signer has certified another key');
  const renewAt = (Date.parse(leaf.validFrom) + Date.parse(leaf.validTo)) / 2;
  return { certificate, key: privateKeyPem(privateKey), roots, renewAt };
}

export interface ServingFiles {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
}

/** Where the chart of istiod mounts what another issuer made (cert-manager's istio-csr). */
const MOUNTED: readonly ServingFiles[] = [
  './var/run/secrets/istiod/ca/root-cert.pem',
  './var/run/secrets/istiod/tls/ca.crt',
].map(roots => ({
  certificate: './var/run/secrets/istiod/tls/tls.crt',
  key: './var/run/secrets/istiod/tls/tls.key',
  roots,
}));

/** Files that flags name, or those that are mounted; undefined: neither. */
export async function servingFiles(flags: Partial<ServingFiles>): Promise<ServingFiles | undefined> {
  const { certificate, key, roots } = flags;
  if (certificate && key && roots) return { certificate, key, roots };
  for (const files of MOUNTED) {
    const found = await Promise.all(Object.values(files).map((path: string) => stat(path).catch(() => undefined)));
    if (found.every(file => file?.isFile() === true)) return files;
  }
  return undefined;
}

export async function readServingFiles({ certificate, key, roots }: ServingFiles): Promise<ServingCertificate> {
  const [certificateText, keyText, rootText] = await Promise.all(
    [certificate, key, roots].map(path => readFile(path, 'utf8')),
  );
  return { certificate: certificateText!, key: keyText!, roots: rootText! };
}

const SETTLE_MS = 100;

/**
 * Calls `changed` soon after certificate or key was exchanged; the roots are read anew with them. Returns what ends
 * that.
 */
export function watchServingFiles(
  { certificate, key }: ServingFiles,
  changed: () => void,
  failed: (why: string) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watchers: FSWatcher[] = [];
  for (const folder of new Set([dirname(certificate), dirname(key)])) {
    try {
      const watcher = watch(folder, () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          changed();
        }, SETTLE_MS);
      });
      watcher.on('error', error => failed(`${folder} is watched no more: ${error.message}`));
      watchers.push(watcher);
    } catch (error) {
      failed(`${folder} cannot be watched: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
