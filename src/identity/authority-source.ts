// Where the authority's bundle comes from, and what happens to it while the process runs: files that an operator plugs
// in (watched), the Secret `cacerts`, or a root of our own that is looked at again every hour and renewed in time.
//
// Invariant: the mode is decided once, at the start; a bundle that cannot be used is logged and the one before goes on
// signing.
// Source: Istio pilot/pkg/bootstrap/istio_ca.go (createIstioCA, handleEvent),
// security/pkg/pki/ca/selfsignedcarootcertrotator.go.

import { randomInt } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Authority } from './authority.ts';
import { type BundleFiles, pluggedIn, type SigningBundle, signingBundle, whyNotReplaced } from './bundle.ts';
import { combinedRoots, ensureRoot, isRenewalDue, type RootStore, renewedRoot, type StoredRoot } from './root-store.ts';
import type { IdentitySettings } from './settings.ts';
import { PEM_BYTES_MAX } from './x509/pem.ts';

export interface AuthoritySourceOptions {
  readonly settings: IdentitySettings;
  /** Where a root of our own is kept. */
  readonly store: RootStore;
  /** The Secret `cacerts` as if it were a folder; undefined: it is not asked for. */
  readonly remote?: () => Promise<BundleFiles | undefined>;
  readonly trustDomain: string;
  readonly now: () => number;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Nothing may be written: a root that does not exist is an error. */
  readonly readOnly: boolean;
  /** One bundle follows another. */
  readonly take: (authority: Authority, bundle: SigningBundle) => void;
}

export interface OpenedAuthority {
  readonly authority: Authority;
  close(): void;
}

/** A Secret that is mounted changes in several steps. */
const SETTLE_MS = 100;
const REMOTE_CHECK_MS = 60_000;

/** Rejects with why there is none. */
export async function openAuthority(options: AuthoritySourceOptions): Promise<OpenedAuthority> {
  const { settings, remote } = options;
  const local = await filesIn(settings.rootCaDir);
  const files = pluggedTexts(local, settings) === undefined ? ((await remote?.()) ?? local) : local;
  const plugged = pluggedTexts(files, settings);
  if (plugged === undefined) return openSelfSigned(options, local.get('root-cert.pem') ?? '');
  const authority = authorityOf(options, signingBundle(plugged, options.now()));
  options.log(
    'info',
    `the certificate authority signs with the certificate of ${files === local ? settings.rootCaDir : 'Secret cacerts'}`,
  );
  return files === local ? watchFiles(authority, options) : pollRemote(authority, options);
}

function pluggedTexts(files: BundleFiles, settings: IdentitySettings) {
  const found = pluggedIn(files, { crl: settings.crl, generatedCounts: settings.useCacertsForSelfSigned });
  if (found === 'incomplete') throw new Error('failed to create an istiod CA: incomplete signing CA bundle detected');
  return found === 'none' || found === 'generated' ? undefined : found.texts;
}

function authorityOf({ settings, now }: AuthoritySourceOptions, bundle: SigningBundle): Authority {
  const { defaultTtlMs, maxTtlMs } = settings;
  return new Authority(bundle, { defaultTtlMs, maxTtlMs, now });
}

// --- plugged in ----------------------------------------------------------------------------------------------------

function watchFiles(authority: Authority, options: AuthoritySourceOptions): OpenedAuthority {
  const { settings, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const reload = async (): Promise<void> => {
    timer = undefined;
    takeOver(authority, await filesIn(settings.rootCaDir), options);
  };
  try {
    watcher = watch(settings.rootCaDir, () => {
      timer ??= setTimeout(
        () => void reload().catch(error => log('warn', `${settings.rootCaDir}: ${textOf(error)}`)),
        SETTLE_MS,
      );
    });
    watcher.on('error', error => log('warn', `${settings.rootCaDir} is watched no more: ${error.message}`));
  } catch (error) {
    log('warn', `${settings.rootCaDir} cannot be watched: ${textOf(error)}`);
  }
  return {
    authority,
    close: () => {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}

function pollRemote(authority: Authority, options: AuthoritySourceOptions): OpenedAuthority {
  const look = async (): Promise<void> => {
    const files = await options.remote?.();
    if (files !== undefined) takeOver(authority, files, options);
  };
  const failed = (error: unknown): void => options.log('warn', `Secret cacerts: ${textOf(error)}`);
  const timer = setInterval(() => void look().catch(failed), REMOTE_CHECK_MS);
  timer.unref();
  return { authority, close: () => clearInterval(timer) };
}

/** Files that are gone have no effect. */
function takeOver(
  authority: Authority,
  files: BundleFiles,
  { settings, now, log, take }: AuthoritySourceOptions,
): void {
  try {
    const texts = pluggedTexts(files, settings);
    if (texts === undefined) return;
    const { crl = authority.bundle.crl } = texts;
    const bundle = signingBundle({ ...texts, crl }, now());
    if (sameBundle(bundle, authority.bundle)) return;
    const why = whyNotReplaced(authority.bundle, bundle, settings.multiRoot);
    if (why !== undefined) throw new Error(why);
    log('info', 'the certificate authority has a new bundle');
    take(authority, bundle);
  } catch (error) {
    log('error', `the new bundle of the certificate authority is refused, the old one stays: ${textOf(error)}`);
  }
}

function sameBundle(a: SigningBundle, b: SigningBundle): boolean {
  const ids = [a, b].map(({ signer, roots, chain, crl }) =>
    [signer.certificate.fingerprint256, roots, ...chain, crl].join('|'),
  );
  return ids[0] === ids[1];
}

// --- self-signed ---------------------------------------------------------------------------------------------------

async function openSelfSigned(options: AuthoritySourceOptions, moreRoots: string): Promise<OpenedAuthority> {
  const { store, settings, now, log, trustDomain: organization, readOnly } = options;
  const rootOptions = { organization, ttlMs: settings.rootTtlMs, keyBits: settings.rootKeyBits, now };
  const stored = readOnly ? await existing(store) : await ensureRoot(store, rootOptions);
  const authority = authorityOf(options, bundleOf(stored, moreRoots, now()));
  log('info', `the certificate authority signs with the root in ${store.place}`);
  if (settings.rootCheckMs <= 0) return { authority, close: () => undefined };
  const look = (): void => {
    lookAgain(authority, moreRoots, { ...options, ...rootOptions }).catch((error: unknown) => {
      log('warn', `${store.place} could not be looked at: ${textOf(error)}`);
    });
  };
  let interval: NodeJS.Timeout | undefined;
  const jitter = settings.rootJitter ? randomInt(Math.max(1, Math.floor(settings.rootCheckMs / 1_000))) * 1_000 : 0;
  const first = setTimeout(
    () => {
      look();
      interval = setInterval(look, settings.rootCheckMs);
      interval.unref();
    },
    Math.min(jitter + settings.rootCheckMs, TIMER_MS_MAX),
  );
  first.unref();
  return {
    authority,
    close: () => {
      clearTimeout(first);
      clearInterval(interval);
    },
  };
}

const TIMER_MS_MAX = 2 ** 31 - 1;

async function existing(store: RootStore): Promise<StoredRoot> {
  const found = await store.read();
  if (found === undefined)
    throw new Error(`there is no root in ${store.place}, and nothing may be written (--read-only)`);
  return found;
}

function bundleOf({ certificate, key }: StoredRoot, moreRoots: string, now: number): SigningBundle {
  const roots = combinedRoots(certificate, moreRoots);
  return signingBundle({ mode: 'self-signed', certificate, key, chain: '', roots }, now);
}

type LookOptions = AuthoritySourceOptions & Parameters<typeof ensureRoot>[1];

/** Renews the root if its time has come, or takes what another replica has renewed. Exported for tests. */
export async function lookAgain(authority: Authority, moreRoots: string, options: LookOptions): Promise<void> {
  const { store, settings, now, log, readOnly, take } = options;
  const stored = await store.read();
  if (stored === undefined) return;
  const { signer } = authority.bundle;
  const current = bundleOf(stored, moreRoots, 0);
  if (current.signer.certificate.fingerprint256 !== signer.certificate.fingerprint256) {
    // Until every proxy has heard of the new root, certificates of before must verify: both are handed out.
    take(authority, bundleOf(stored, `${moreRoots}${authority.bundle.roots}`, now()));
    log('info', `the root in ${store.place} was renewed by another replica`);
    return;
  }
  if (readOnly || !isRenewalDue(signer.certificate, settings.rootGracePercent, now())) return;
  const renewed = await renewedRoot(stored, signer, options);
  if (!(await store.update(renewed, stored.version))) return;
  take(authority, bundleOf(renewed, `${moreRoots}${authority.bundle.roots}`, now()));
  log('info', `the root in ${store.place} was renewed`);
}

// --- files ---------------------------------------------------------------------------------------------------------

/** None if there is no such folder. */
export async function filesIn(folder: string): Promise<BundleFiles> {
  const names = await readdir(folder).catch(() => []);
  const files = new Map<string, string>();
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true || found.size > PEM_BYTES_MAX) continue;
    files.set(name, await readFile(path, 'utf8'));
  }
  return files;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
