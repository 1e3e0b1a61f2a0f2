// How one bundle of the authority follows another: its roots are handed out first, and it signs when every connected
// proxy trusts them. Until then the bundle before signs, so that no proxy is shown a certificate of an unknown root.
//
// Invariants: what signs is always verified by roots that were handed out; roots that were handed out stay until an
// operator removes them in a later step; the wait ends when every workload certificate of before has been renewed.

import { X509Certificate } from 'node:crypto';
import type { Authority } from './authority.ts';
import type { SigningBundle } from './bundle.ts';
import { combinedRoots } from './root-store.ts';
import { whyUnverified } from './x509/path.ts';
import { certificateBlocks } from './x509/pem.ts';
import { OID_SERVER_AUTH } from './x509/profile.ts';

export interface RotationOptions {
  readonly now: () => number;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: (level: 'info' | 'warn', message: string) => void;
  /** Connected proxies that do not trust yet what has been handed out since then. */
  readonly behind: (since: number) => readonly string[];
  /** Files that are mounted into pods follow the roots by so much. */
  readonly settleMs: number;
  /** By then every workload has asked for a certificate, and got the roots with it. */
  readonly waitMsMax: number;
}

export const LOOK_MS = 1_000;
const NAMES_SHOWN_MAX = 5;

export class Rotation {
  readonly #options: RotationOptions;
  #since = 0;
  #next: { readonly authority: Authority; readonly bundle: SigningBundle } | undefined;
  #timer: { cancel(): void } | undefined;
  #shown = '';

  constructor(options: RotationOptions) {
    this.#options = options;
  }

  /** Undefined: no bundle waits. */
  get since(): number | undefined {
    return this.#next === undefined ? undefined : this.#since;
  }

  /** `bundle` follows that of the authority, now or as soon as it may. */
  take(authority: Authority, bundle: SigningBundle): void {
    const { now, log } = this.#options;
    const { bundle: before } = authority;
    this.#next = undefined;
    if (isSigner(before, bundle) || hasKey(before, bundle)) {
      if (before.roots !== bundle.roots) this.#since = now();
      authority.replace(bundle);
      return;
    }
    const roots = combinedRoots(bundle.roots, before.roots);
    if (!verifies(bundle, before.roots, now()) || this.#since === 0) {
      authority.replace({ ...before, roots });
      this.#since = now();
      log('info', 'the roots of the new bundle are handed out; it signs when every connected proxy trusts them');
    }
    this.#next = { authority, bundle: { ...bundle, roots } };
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#next = undefined;
  }

  #look(): void {
    this.#timer?.cancel();
    const { now, after, log, behind, settleMs, waitMsMax } = this.#options;
    if (this.#next === undefined) return;
    const { authority, bundle } = this.#next;
    const passed = now() - this.#since;
    const missing = behind(this.#since);
    const isDue = passed >= settleMs && missing.length === 0;
    if (!isDue && passed < waitMsMax) {
      this.#show(missing);
      this.#timer = after(LOOK_MS, () => this.#look());
      return;
    }
    this.#next = undefined;
    this.#shown = '';
    if (!isDue) log('warn', `the new bundle signs, though ${shown(missing)} may not trust it`);
    authority.replace(bundle);
    log('info', 'the certificate authority signs with the new bundle');
  }

  /** Once for each set of names. */
  #show(missing: readonly string[]): void {
    const text = shown(missing);
    if (missing.length > 0 && text !== this.#shown) this.#options.log('info', `the new bundle waits for ${text}`);
    this.#shown = text;
  }
}

function isSigner(before: SigningBundle, { signer }: SigningBundle): boolean {
  return before.signer.certificate.fingerprint256 === signer.certificate.fingerprint256;
}

/** A root that was renewed with its key: leaves of both verify with either. */
function hasKey(before: SigningBundle, after: SigningBundle): boolean {
  return before.keyDigest === after.keyDigest && before.signer.subject.equals(after.signer.subject);
}

/** Does what it signs verify with these roots? */
function verifies({ signer, chain }: SigningBundle, roots: string, now: number): boolean {
  const parsed = (pem: string): readonly X509Certificate[] =>
    certificateBlocks(pem).map(({ der }) => new X509Certificate(der));
  const intermediates = chain.flatMap(parsed);
  const path = { intermediates, roots: parsed(roots), now };
  return whyUnverified(signer.certificate, { ...path, usage: OID_SERVER_AUTH }) === undefined;
}

function shown(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  return `${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
