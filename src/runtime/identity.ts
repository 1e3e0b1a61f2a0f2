// Identity in the process: the authority, the ways to prove who one is, the signing service and the secure port, put
// together and started. What each of them decides is decided in src/identity: who has proven an identity in
// authenticate/ways.ts, who gets which certificate in csr-service.ts.
//
// Invariant: the plaintext port answers whether or not identity works; without an authority the secure port refuses
// every handshake.

import type { IncomingMessage } from 'node:http';
import type { Admission, ProvenCaller } from '../admin/http.ts';
import type { Metrics } from '../admin/metrics.ts';
import type { Unrecorded } from '../core/event.ts';
import type { Peer } from '../core/model/caller.ts';
import type { State } from '../core/state.ts';
import { podsOf } from '../identity/accounts.ts';
import { whyNotAdmitted } from '../identity/admission.ts';
import { type Authentication, type Authenticator, authenticate } from '../identity/authenticate/authenticator.ts';
import { isAskedForProof, waysOf } from '../identity/authenticate/ways.ts';
import { type Authority, type Issued, SigningError } from '../identity/authority.ts';
import { type OpenedAuthority, openAuthority } from '../identity/authority-source.ts';
import type { ClusterCall } from '../identity/cluster-call.ts';
import { type CertificateRequest, CSR_METHOD, CsrService } from '../identity/csr-service.ts';
import { decodeCertificateRequest, encodeCertificateResponse } from '../identity/csr-wire.ts';
import { debugViewer, httpPeer } from '../identity/debug-viewer.ts';
import { whyNotImpersonated } from '../identity/impersonation.ts';
import type { CsrTime } from '../identity/kubernetes-csr.ts';
import { Registration, type SignerRoots } from '../identity/registration.ts';
import { registrationRoots, servingSigner, signerRootsOf } from '../identity/registration-source.ts';
import { rootInFiles } from '../identity/root-in-files.ts';
import { PLUGGED_SECRET_NAME, ROOT_SECRET_NAME, rootInSecret, secretTexts } from '../identity/root-in-secret.ts';
import { Rotation } from '../identity/rotation.ts';
import { meshTrustDomain } from '../identity/trust-domain.ts';
import type { UnaryMethod } from '../xds/grpc/server.ts';
import type { Entrance } from '../xds/serve/hub.ts';
import type { Clock } from './clock.ts';
import { countIdentity } from './identity-metrics.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { Log } from './log.ts';
import { StartFault } from './start-fault.ts';

export interface IdentityParts {
  readonly options: IdentityOptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The newest folded state. */
  readonly state: () => State;
  /** Everything is known that has to be. */
  readonly ready: () => boolean;
  readonly record: (facts: readonly Unrecorded[]) => Promise<unknown>;
  /** Undefined: there is no cluster. */
  readonly call: ClusterCall | undefined;
  /** To a remote cluster; undefined: there is no such cluster. */
  readonly callOf: (cluster: string) => ClusterCall | undefined;
  /** Connected proxies that do not trust these roots yet, unless they have got a certificate with them. */
  readonly rootsBehind: (roots: string, certified: (identity: string) => boolean) => readonly string[];
}

export interface OpenedRegistration {
  readonly authority: Registration;
  /** PEM; '': those of each signer, by MeshConfig. */
  readonly roots: string;
  readonly call: ClusterCall;
  readonly time: CsrTime;
}

/** Requests that wait for a signer of the Kubernetes API. */
const HANDED_ON_AT_ONCE_MAX = 64;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** A kubelet brings a changed ConfigMap into pods within a minute or two. */
const MOUNTS_SETTLE_MS = 120_000;

export class Identity {
  readonly #parts: IdentityParts;
  readonly #authenticators: readonly Authenticator[];
  readonly #csr: CsrService;
  readonly #closers: (() => void)[] = [];
  readonly #listeners: ((authority: Authority) => void)[] = [];
  #authority: OpenedAuthority | undefined;
  #registration: OpenedRegistration | undefined;
  readonly #rotation: Rotation;
  /** Identity → when it last got a certificate; kept while roots are exchanged. */
  readonly #certified = new Map<string, number>();
  #isStopped = false;

  constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.#rotation = this.#newRotation();
    this.#authenticators = authenticatorsOf(parts);
    this.#csr = this.#csrService();
  }

  /** Undefined: there is none, or not yet. */
  get authority(): Authority | undefined {
    return this.#authority?.authority;
  }

  /** Calls back when there is an authority, at once if there is one already. */
  onAuthority(listener: (authority: Authority) => void): void {
    if (this.#authority !== undefined) listener(this.#authority.authority);
    this.#listeners.push(listener);
  }

  /** Unary methods of the xDS server. */
  get methods(): Readonly<Record<string, UnaryMethod>> {
    const { caServer } = this.#parts.options.settings;
    return caServer ? { [CSR_METHOD]: (peer, request) => this.#create(peer, request) } : {};
  }

  /**
   * Who may open a stream, and as whom. A stream in the clear is let in unproven, unless proof is demanded there too; a
   * key is never sent on it.
   */
  async entranceOf(peer: Peer): Promise<Entrance> {
    if (!isAskedForProof(this.#parts.options.settings, peer)) return { caller: undefined };
    const who = await this.#authenticate(peer);
    if (who.kind === 'proven') return { caller: who.caller, inTheClear: !peer.secure };
    this.#parts.log(
      'info',
      `a stream from ${peer.address || 'a socket'} proves no identity: ${who.reasons.join('; ')}`,
    );
    return who.kind === 'unavailable'
      ? { refused: 'UNAVAILABLE', message: 'identities cannot be verified right now' }
      : { refused: 'UNAUTHENTICATED', message: 'authentication failure' };
  }

  /** What a caller from another machine may see of the debug pages. */
  async viewerOf(request: IncomingMessage): Promise<Admission | ProvenCaller> {
    const who = await this.#authenticate(httpPeer(request));
    if (who.kind !== 'proven') return { refused: 401 };
    const { identities } = who.caller;
    const viewer = this.viewerBy(identities);
    const [identity] = identities;
    return identity === undefined || (viewer !== 'all' && 'refused' in viewer) ? viewer : { viewer, identity };
  }

  /** What a caller that has proven these identities may see of them. */
  viewerBy(identities: readonly string[]): Admission {
    const { settings } = this.#parts.options;
    const { rootNamespace = '' } = this.#parts.state().mesh.effective as { readonly rootNamespace?: string };
    const namespaces = [rootNamespace, ...settings.debugNamespaces];
    return debugViewer(identities, { isRestricted: settings.debugAuth, namespaces });
  }

  /** Undefined: this client certificate (DER), whose chain verifies, may come in. */
  admits(certificate: Uint8Array): string | undefined {
    return whyNotAdmitted(certificate, [this.#trustDomain()]);
  }

  /**
   * Resolves when there is an authority, or when it is clear that there will be none for a while: then it is tried
   * again in the background.
   */
  async start(): Promise<void> {
    const { settings } = this.#parts.options;
    if (!settings.caServer) return;
    if (settings.externalCa !== '') await this.#openRegistration();
    // Where the signer of the cluster makes the serving certificate, too, nothing is left for an authority of our own.
    if (servingSigner(settings) === undefined) await this.#open(RETRY_MS_MIN);
  }

  /** The registration authority that answers requests; undefined: the authority does. */
  get registration(): OpenedRegistration | undefined {
    return this.#registration;
  }

  async #openRegistration(): Promise<void> {
    const { options, call, clock, state } = this.#parts;
    const { settings, readOnly } = options;
    if (call === undefined) throw new StartFault('EXTERNAL_CA: requests are handed on to a cluster, and there is none');
    if (readOnly) throw new StartFault('EXTERNAL_CA: --read-only makes no CertificateSigningRequests');
    const roots = await registrationRoots(settings);
    const time: CsrTime = {
      now: () => clock.now(),
      sleep: ms => new Promise(resolve => void clock.after(ms, resolve)),
    };
    const { kubernetesSigner: signer, signerDomain, maxTtlMs } = settings;
    const signerRoots = (): readonly SignerRoots[] => signerRootsOf(state());
    const authority = new Registration({ call, signer, signerDomain, maxTtlMs, roots, signerRoots, time });
    this.#registration = { authority, roots, call, time };
  }

  stop(): void {
    this.#isStopped = true;
    this.#rotation.stop();
    this.#authority?.close();
    for (const close of this.#closers) close();
  }

  async #open(retryMs: number): Promise<void> {
    const { options, clock, log, call } = this.#parts;
    try {
      const opened = await openAuthority({
        settings: options.settings,
        store: this.#store(),
        remote: this.#remote(),
        trustDomain: this.#trustDomain(),
        now: () => clock.now(),
        log,
        readOnly: options.readOnly,
        take: (authority, bundle) => this.#rotation.take(authority, bundle),
      });
      if (this.#isStopped) return opened.close();
      this.#authority = opened;
      for (const listener of this.#listeners) listener(opened.authority);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // Files do not mend themselves; an API server does.
      if (call === undefined || options.readOnly) throw new StartFault(`certificate authority: ${why}`);
      log('error', `there is no certificate authority yet: ${why}; trying again in ${retryMs / 1_000} s`);
      const timer = clock.after(retryMs, () => void this.#open(Math.min(RETRY_MS_MAX, retryMs * 2)));
      this.#closers.push(() => timer.cancel());
    }
  }

  #newRotation(): Rotation {
    const { clock, log, options, call, rootsBehind } = this.#parts;
    return new Rotation({
      now: () => clock.now(),
      after: clock.after,
      log,
      behind: since => {
        const certified = (identity: string): boolean => (this.#certified.get(identity) ?? 0) > since;
        return rootsBehind(this.authority?.bundle.roots ?? '', certified);
      },
      settleMs: call === undefined ? 0 : MOUNTS_SETTLE_MS,
      waitMsMax: options.settings.defaultTtlMs,
    });
  }

  /** The answer to a signing request has the roots in it. */
  #noteCertified(identities: readonly string[]): void {
    if (this.#rotation.since === undefined) this.#certified.clear();
    else for (const identity of identities) this.#certified.set(identity, this.#parts.clock.now());
  }

  #store() {
    const { options, call, state } = this.#parts;
    if (call === undefined) return rootInFiles(options.caFolder);
    const name = options.settings.useCacertsForSelfSigned ? PLUGGED_SECRET_NAME : ROOT_SECRET_NAME;
    return rootInSecret(call, state().settings.systemNamespace, name);
  }

  #remote() {
    const { options, call, state } = this.#parts;
    if (call === undefined || !options.settings.useRemoteCerts) return undefined;
    return async () => {
      const { status, body } = await call(
        'GET',
        `/api/v1/namespaces/${state().settings.systemNamespace}/secrets/${PLUGGED_SECRET_NAME}`,
      );
      return status === 200 && typeof body === 'object' && body !== null && !Array.isArray(body)
        ? secretTexts(body as Parameters<typeof secretTexts>[0])
        : undefined;
    };
  }

  #authenticate(peer: Peer): Promise<Authentication> {
    return authenticate(this.#authenticators, peer);
  }

  #csrService(): CsrService {
    const { options, log, metrics, state, ready, record } = this.#parts;
    const pods = podsOf(state);
    return new CsrService({
      authenticate: async peer => {
        if (isAskedForProof(options.settings, peer)) return this.#authenticate(peer);
        return { kind: 'refused', reasons: ['callers are not authenticated on this port'] };
      },
      whyNotImpersonated: (caller, requested) =>
        whyNotImpersonated(caller, requested, {
          trusted: options.settings.trustedNodeAccounts,
          trustDomains: [this.#trustDomain()],
          pods,
        }),
      sign: (request, identities) => this.#sign(request, identities),
      audit: async fact => {
        await record([fact]);
        if (fact.kind === 'CertificateIssued') this.#noteCertified(fact.identities);
      },
      log,
      ready,
      // Those that wait for a signer elsewhere take no thread of ours.
      ...(options.settings.externalCa === '' ? {} : { signedAtOnceMax: HANDED_ON_AT_ONCE_MAX }),
      count: countIdentity(metrics.registry, () => this.#csr.underWay),
    });
  }

  async #sign(request: CertificateRequest, identities: readonly string[]): Promise<Issued> {
    if (this.#registration !== undefined) return this.#registration.authority.sign(request, identities);
    const { csr, validitySeconds } = request;
    const authority = this.authority;
    if (authority === undefined) throw new SigningError('CA_NOT_READY', 'Istio CA is not ready');
    return authority.sign(csr, identities, validitySeconds);
  }

  async #create(peer: Peer, bytes: Buffer): ReturnType<UnaryMethod> {
    let request: CertificateRequest;
    try {
      request = decodeCertificateRequest(bytes);
    } catch {
      return { code: 'INVALID_ARGUMENT', message: 'not a certificate request' };
    }
    const answer = await this.#csr.create(peer, request);
    return 'certChain' in answer ? encodeCertificateResponse(answer.certChain) : answer;
  }

  #trustDomain(): string {
    return meshTrustDomain(this.#parts.state());
  }
}

function authenticatorsOf({ options, state, clock, ready, call, callOf }: IdentityParts): readonly Authenticator[] {
  const { settings, tokenCheck } = options;
  const tokensByKeys = tokenCheck === 'keys' || options.tokenKeys !== undefined;
  return waysOf({ settings, tokensByKeys, state, now: () => clock.now(), listed: ready, call, callOf });
}
