// What our own authority says, as objects of the source `identity/<cluster>`: its roots, and a certificate for every
// account whose proxies get theirs over ADS. Who needs one follows from the state: proven identities of connected
// proxies that subscribe to the secret. One pair an account.
//
// Invariants: a certificate is recorded after its key is held; at the start the certificates of an earlier process go,
// because their keys are gone; an account without a subscribed proxy loses certificate and key.

import { createHash, randomInt } from 'node:crypto';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapters/adapter.ts';
import type { Fact, Unrecorded } from '../../core/event.ts';
import { IDENTITY_API, identityObject } from '../../core/kinds/periplus/identity.ts';
import { isOfMesh, verifiedIdentity } from '../../core/model/identity.ts';
import { AUTHORITY_NAME, type REGISTRATION_NAME, SERVING_NAME } from '../../core/select/proxy/proxy-capabilities.ts';
import { WORKLOAD_SECRET } from '../../core/select/secret/credentials.ts';
import type { State } from '../../core/state.ts';
import type { Authority } from '../authority.ts';
import type { SigningBundle } from '../bundle.ts';
import { IDENTITY_SOURCE } from '../csr-service.ts';
import { meshTrustDomain, meshTrustDomains } from '../trust-domain.ts';
import { generateKeys, privateKeyPem, publicKeyDer } from '../x509/keys.ts';
import { spiffeId } from '../x509/names.ts';
import { WorkloadKeys } from './workload-keys.ts';

export interface AuthorityAdapterOptions {
  readonly cluster: string;
  /** There is an authority, or will be: until it comes, what it said in an earlier process is in force. */
  readonly isAwaited: boolean;
  readonly now: () => number;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly audit: (fact: Unrecorded) => void;
  readonly log: AdapterLog;
}

/** `istio-ca`: the signer's roots are published as the authority's. */
export type TrustName = typeof AUTHORITY_NAME | typeof REGISTRATION_NAME | typeof SERVING_NAME;

interface Held {
  readonly fingerprint: string;
  readonly timer: { cancel(): void };
}

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
/** Proxies connect in crowds: who needs a certificate is looked at after they have. */
const GATHER_MS = 20;
const RETRY_MS = 5_000;
/** Accounts certified at once. */
const AT_ONCE_MAX = 4;
/** A certificate is renewed at half of its life, so much of it earlier or later. */
const JITTER = 0.05;
const TIMER_MS_MAX = 2 ** 31 - 1;

export class AuthorityAdapter implements Adapter {
  readonly source: string;
  readonly keys = new WorkloadKeys();
  readonly #options: AuthorityAdapterOptions;
  readonly #held = new Map<string, Held>();
  readonly #asked = new Set<string>();
  readonly #waiting: string[] = [];
  #working = 0;
  #authority: Authority | undefined;
  #state: State | undefined;
  #proxies: State['proxies'] | undefined;
  #wanted: ReadonlySet<string> = new Set();
  #gathering: { cancel(): void } | undefined;
  #sink: Sink | undefined;
  /** Roots of signers elsewhere, by the name of their object. */
  readonly #elsewhere = new Map<string, Fact>();
  #isStopped = false;
  #certifies = true;
  #saying: Promise<void> = Promise.resolve();

  constructor(options: AuthorityAdapterOptions) {
    this.#options = options;
    this.source = `${IDENTITY_SOURCE}/${options.cluster}`;
  }

  /**
   * From now on this authority signs. `registers`: not for workloads, whose certificates come from a signer elsewhere
   * with other roots.
   */
  use(authority: Authority, registers = false): void {
    this.#authority = authority;
    this.#certifies = !registers;
    authority.onReplaced(bundle => this.#say([this.#anchorsOf(bundle)]));
    this.#say([this.#anchorsOf(authority.bundle)]);
    this.#follow();
  }

  /** Roots of signers elsewhere, or of the control plane's certificate files, under the name of their object. */
  trust(name: TrustName, roots: string): void {
    if (roots === '') return;
    const spec = { roots, chain: '', keyDigest: '', mode: name === SERVING_NAME ? 'files' : 'registration' };
    this.#elsewhere.set(name, { kind: 'Update', object: identityObject('TrustAnchors', '', name, spec) });
    this.#say([...this.#elsewhere.values()]);
  }

  onState(state: State): void {
    this.#state = state;
    if (state.proxies === this.#proxies || this.#gathering !== undefined) return;
    this.#gathering = this.#options.after(GATHER_MS, () => {
      this.#gathering = undefined;
      this.#gather();
    });
  }

  async start(sink: Sink): Promise<void> {
    const own = this.#authority === undefined ? [] : [this.#anchorsOf(this.#authority.bundle)];
    const anchors = [...own, ...this.#elsewhere.values()];
    // Those that an authority signed for are still to be trusted while it is away.
    const ref = { apiVersion: IDENTITY_API, kind: 'TrustAnchors', namespace: '', name: AUTHORITY_NAME };
    const isAway = this.#options.isAwaited && own.length === 0;
    await sink.relistKinds(['TrustAnchors', 'WorkloadCertificate'], anchors, isAway ? [ref] : []);
    if (this.#isStopped) return;
    this.#sink = sink;
    this.#say(anchors);
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#gathering?.cancel();
    for (const { timer } of this.#held.values()) timer.cancel();
    await this.#saying;
  }

  status(): SourceStatus {
    const isStarted = this.#sink !== undefined;
    return { synced: isStarted, waiting: isStarted ? [] : ['WorkloadCertificate'], troubles: [], unreadable: [] };
  }

  #gather(): void {
    const { proxies } = this.#state ?? {};
    if (proxies === undefined || proxies === this.#proxies) return;
    this.#proxies = proxies;
    const wanted = new Set<string>();
    const domains = meshTrustDomains(this.#state);
    for (const proxy of proxies.values()) {
      if (proxy.subscriptions[SECRETS]?.names.includes(WORKLOAD_SECRET) !== true) continue;
      const identity = verifiedIdentity(proxy);
      if (identity === undefined || !isOfMesh(identity, domains)) continue;
      wanted.add(`${identity.namespace}/${identity.serviceAccount}`);
    }
    this.#wanted = wanted;
    this.#follow();
  }

  #follow(): void {
    if (this.#sink === undefined || this.#isStopped || !this.#certifies) return;
    for (const [account, { fingerprint, timer }] of this.#held) {
      if (this.#wanted.has(account)) continue;
      timer.cancel();
      this.#held.delete(account);
      const [namespace = '', name = ''] = account.split('/');
      const ref = { apiVersion: IDENTITY_API, kind: 'WorkloadCertificate', namespace, name };
      void this.#say([{ kind: 'Delete', ref }]).then(() => this.keys.drop(fingerprint));
    }
    for (const account of this.#wanted) if (!this.#held.has(account)) this.#ask(account);
  }

  #ask(account: string): void {
    if (this.#asked.has(account)) return;
    this.#asked.add(account);
    this.#waiting.push(account);
    this.#work();
  }

  #work(): void {
    while (this.#working < AT_ONCE_MAX && this.#authority !== undefined && !this.#isStopped) {
      const account = this.#waiting.shift();
      if (account === undefined) return;
      this.#working++;
      void this.#certify(this.#authority, account).finally(() => {
        this.#working--;
        this.#asked.delete(account);
        this.#work();
      });
    }
  }

  async #certify(authority: Authority, account: string): Promise<void> {
    const { now, after, audit, log } = this.#options;
    if (!this.#wanted.has(account)) return;
    const [namespace = '', name = ''] = account.split('/');
    const identity = spiffeId(meshTrustDomain(this.#state), namespace, name);
    try {
      const { privateKey } = await generateKeys({ ec: 'P-256' });
      const issued = await authority.certify(publicKeyDer(privateKey), [identity]);
      const fingerprint = createHash('sha256').update(issued.leaf).digest('hex');
      this.keys.hold(fingerprint, privateKeyPem(privateKey));
      const before = this.#held.get(account);
      before?.timer.cancel();
      const half = (issued.notAfter - now()) / 2;
      const jitter = 1 + JITTER * (randomInt(2_001) / 1_000 - 1);
      const timer = after(Math.min(TIMER_MS_MAX, Math.max(1_000, half * jitter)), () => this.#ask(account));
      this.#held.set(account, { fingerprint, timer });
      const chain = issued.certChain.slice(0, -1).join('');
      const object = identityObject('WorkloadCertificate', namespace, name, { identity, chain, fingerprint });
      const { serial, notAfter, keyDigest } = issued;
      audit({
        source: IDENTITY_SOURCE,
        kind: 'CertificateIssued',
        identities: [identity],
        caller: { identities: [identity], proof: { how: 'stream' } },
        serial,
        notAfter,
        keyDigest,
      });
      await this.#say([{ kind: 'Update', object }]);
      // Streams that are being sent the one before still need its key for a moment.
      if (before !== undefined) after(RETRY_MS, () => this.keys.drop(before.fingerprint));
    } catch (error) {
      log('warn', `no certificate for ${identity}: ${error instanceof Error ? error.message : String(error)}`);
      after(RETRY_MS, () => this.#ask(account));
    }
  }

  #anchorsOf({ roots, chain, keyDigest, mode, crl }: SigningBundle): Fact {
    const signs = this.#certifies ? mode : 'registration';
    const spec = { roots, chain: chain.join(''), keyDigest, mode: signs, ...(crl === undefined ? {} : { crl }) };
    return { kind: 'Update', object: identityObject('TrustAnchors', '', AUTHORITY_NAME, spec) };
  }

  #say(facts: readonly Fact[]): Promise<void> {
    const sink = this.#sink;
    if (sink === undefined || facts.length === 0) return Promise.resolve();
    this.#saying = this.#saying
      .then(() => sink.submit(facts))
      .catch((error: unknown) => {
        this.#options.log('warn', `what the authority says could not be recorded (${String(error)})`);
      });
    return this.#saying;
  }
}
