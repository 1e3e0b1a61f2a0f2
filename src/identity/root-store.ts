// Where a self-signed root is kept, and how several replicas come to have one: read, create, and when somebody was
// faster read again.
//
// Invariant: a root that was stored is never replaced by one with another key; whoever loses the race takes the
// winner's.
// Source: Istio security/pkg/pki/ca/ca.go (NewSelfSignedIstioCAOptions),
// security/pkg/pki/ca/selfsignedcarootcertrotator.go.

import type { X509Certificate } from 'node:crypto';
import { generateKeys, privateKeyOf, privateKeyPem } from './x509/keys.ts';
import { certificateBlocks, pemOf } from './x509/pem.ts';
import { makeRoot, type Signer } from './x509/profile.ts';

export interface StoredRoot {
  readonly certificate: string;
  readonly key: string;
}

/** `version`: what `update` must find unchanged. */
export interface RootStore {
  /** For people: where it is. */
  readonly place: string;
  /** Undefined: there is none yet. */
  read(): Promise<(StoredRoot & { readonly version: string }) | undefined>;
  /** False: there is one already. */
  create(root: StoredRoot): Promise<boolean>;
  /** False: somebody else changed it since it was read. */
  update(root: StoredRoot, version: string): Promise<boolean>;
}

export interface RootOptions {
  readonly organization: string;
  readonly ttlMs: number;
  readonly keyBits: number;
  readonly now: () => number;
}

/** The root of this mesh, made if there is none. */
export async function ensureRoot(store: RootStore, options: RootOptions): Promise<StoredRoot> {
  const known = await store.read();
  if (known !== undefined) return known;
  const made = await newRoot(options);
  if (await store.create(made)) return made;
  const winner = await store.read();
  if (winner === undefined) throw new Error(`${store.place} was made by somebody else and is gone again`);
  return winner;
}

async function newRoot({ organization, ttlMs, keyBits, now }: RootOptions): Promise<StoredRoot> {
  const { privateKey } = await generateKeys({ rsa: keyBits });
  const { der } = await makeRoot({ key: privateKey, organization, now: now(), ttlMs });
  return { certificate: pemOf('CERTIFICATE', der), key: privateKeyPem(privateKey) };
}

/** The same key, subject and key id with a new time to live: leaves of before verify with it, and the reverse. */
export async function renewedRoot(
  stored: StoredRoot,
  replaces: Signer,
  { organization, ttlMs, now }: RootOptions,
): Promise<StoredRoot> {
  const key = privateKeyOf(stored.key);
  const { der } = await makeRoot({ key, organization, now: now(), ttlMs, replaces });
  return { certificate: pemOf('CERTIFICATE', der), key: stored.key };
}

/** Only `percent` of its life is left, or it is over. */
export function isRenewalDue(certificate: X509Certificate, percent: number, now: number): boolean {
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  return to - now <= ((to - from) * percent) / 100;
}

/**
 * The roots that are handed out: that of the authority, and those that an operator put beside it. Equal ones stand
 * once.
 */
export function combinedRoots(root: string, more: string): string {
  const blocks = [...certificateBlocks(root), ...certificateBlocks(more)];
  const seen = new Set<string>();
  const kept = blocks.filter(({ der }) => {
    const id = der.toString('base64');
    return !seen.has(id) && seen.add(id);
  });
  return kept.map(({ text }) => `${text}\n`).join('');
}
