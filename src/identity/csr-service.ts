// istio.v1.auth.IstioCertificateService: a signing request in, a certificate for the caller out. Who the caller is was
// proven beforehand; the request itself proves a key and nothing else.
//
// Invariant: no certificate leaves before the journal has the fact that it was issued.
// Bounded: past QUEUE_MAX requests under way, further ones are refused at once with a code that agents retry.
// Source: Istio security/pkg/server/ca/server.go (CreateCertificate), security/proto/istioca.proto; codes as agents
// need them to retry or give up.

import type { Unrecorded } from '../core/event.ts';
import type { Caller, Peer } from '../core/model/caller.ts';
import type { Authentication } from './authenticate/authenticator.ts';
import { type Issued, SigningError } from './authority.ts';

export const CSR_METHOD = '/istio.v1.auth.IstioCertificateService/CreateCertificate';

/** Requests authenticated or signed at the same time; one takes a few milliseconds. */
export const QUEUE_MAX = 2_000;
/** Requests whose identity is proven at once: each may ask an API server, and takes its share of the event loop. */
export const PROVEN_AT_ONCE_MAX = 64;
/**
 * Requests that are signed at once. A signature takes a core for about a millisecond, so on a machine with two cores
 * more at once only make the event loop, and with it the pushes, wait for the processor.
 */
export const SIGNED_AT_ONCE_MAX = 2;

export interface CertificateRequest {
  readonly csr: string;
  /** Seconds; 0: no wish. */
  readonly validitySeconds: number;
  /** Of the metadata; '': none. */
  readonly impersonated: string;
  readonly signer: string;
}

export type Code = 'UNAUTHENTICATED' | 'INVALID_ARGUMENT' | 'INTERNAL' | 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED';
export type Answer = { readonly certChain: readonly string[] } | { readonly code: Code; readonly message: string };

export interface CsrServiceOptions {
  readonly authenticate: (peer: Peer) => Promise<Authentication>;
  /** Undefined: allowed. */
  readonly whyNotImpersonated: (caller: Caller, requested: string) => string | undefined;
  /** Rejects with a SigningError. */
  readonly sign: (request: CertificateRequest, identities: readonly string[]) => Promise<Issued>;
  /** Records what happened; rejects if it will never be recorded. */
  readonly audit: (fact: Unrecorded) => Promise<unknown>;
  readonly log: (level: 'info' | 'warn', message: string) => void;
  /** False: pods are not all known yet, so no refusal can be final. */
  readonly ready: () => boolean;
  readonly count: (what: CsrCount) => void;
  readonly queueMax?: number;
  readonly signedAtOnceMax?: number;
}

export type CsrCount =
  | { readonly kind: 'asked' | 'unauthenticated' | 'issued' | 'crowded' }
  | { readonly kind: 'failed'; readonly error: string };

export const IDENTITY_SOURCE = 'identity';
const REASON_CHARS_MAX = 500;

export class CsrService {
  readonly #options: CsrServiceOptions;
  readonly #proofs = new Turns(PROVEN_AT_ONCE_MAX);
  readonly #turn: Turns;
  #underWay = 0;

  constructor(options: CsrServiceOptions) {
    this.#options = options;
    this.#turn = new Turns(options.signedAtOnceMax ?? SIGNED_AT_ONCE_MAX);
  }

  /** Requests under way. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Never rejects. */
  async create(peer: Peer, request: CertificateRequest): Promise<Answer> {
    const { count, queueMax = QUEUE_MAX } = this.#options;
    count({ kind: 'asked' });
    if (this.#underWay >= queueMax) {
      count({ kind: 'crowded' });
      return { code: 'RESOURCE_EXHAUSTED', message: `more than ${queueMax} signing requests are under way` };
    }
    this.#underWay++;
    try {
      return await this.#answer(peer, request);
    } finally {
      this.#underWay--;
    }
  }

  async #answer(peer: Peer, request: CertificateRequest): Promise<Answer> {
    const { authenticate, count, log } = this.#options;
    const leave = await this.#proofs.take();
    const who = await authenticate(peer).finally(leave);
    if (who.kind !== 'proven') {
      count({ kind: 'unauthenticated' });
      log('info', `a signing request from ${peer.address || 'a socket'} proves no identity: ${who.reasons.join('; ')}`);
      return who.kind === 'unavailable'
        ? { code: 'UNAVAILABLE', message: 'identities cannot be verified right now' }
        : { code: 'UNAUTHENTICATED', message: 'request authenticate failure' };
    }
    const { caller } = who;
    const { impersonated } = request;
    if (impersonated !== '') {
      if (!this.#options.ready()) return { code: 'UNAVAILABLE', message: 'the pods of the mesh are not known yet' };
      const why = this.#options.whyNotImpersonated(caller, impersonated);
      if (why !== undefined) {
        count({ kind: 'unauthenticated' });
        return this.#refuse(caller, request, 'UNAUTHENTICATED', 'request impersonation authentication failure', why);
      }
    }
    const identities = impersonated === '' ? caller.identities : [impersonated];
    return this.#sign(caller, request, identities);
  }

  async #sign(caller: Caller, request: CertificateRequest, identities: readonly string[]): Promise<Answer> {
    const { sign, count, log } = this.#options;
    const leave = await this.#turn.take();
    let issued: Issued;
    try {
      issued = await sign(request, identities);
    } catch (error) {
      const kind = error instanceof SigningError ? error.kind : 'CERT_GEN_ERROR';
      const text = error instanceof Error ? error.message : String(error);
      count({ kind: 'failed', error: kind });
      const code = kind === 'CSR_ERROR' || kind === 'TTL_ERROR' ? 'INVALID_ARGUMENT' : 'INTERNAL';
      return this.#refuse(caller, request, code, `CSR signing error (${text})`, text);
    } finally {
      leave();
    }
    const { certChain, serial, notAfter, keyDigest } = issued;
    const fact = { source: IDENTITY_SOURCE, kind: 'CertificateIssued', identities, caller } as const;
    try {
      await this.#options.audit({ ...fact, serial, notAfter, keyDigest });
    } catch (error) {
      log('warn', `a certificate for ${identities[0] ?? ''} is withheld, since it could not be recorded: ${error}`);
      return { code: 'UNAVAILABLE', message: 'the certificate cannot be recorded right now' };
    }
    count({ kind: 'issued' });
    return { certChain };
  }

  #refuse(caller: Caller, { impersonated }: CertificateRequest, code: Code, message: string, reason: string): Answer {
    const { audit, log } = this.#options;
    void audit({
      source: IDENTITY_SOURCE,
      kind: 'CertificateRefused',
      caller,
      ...(impersonated === '' ? {} : { impersonated: impersonated.slice(0, REASON_CHARS_MAX) }),
      code,
      reason: reason.slice(0, REASON_CHARS_MAX),
    }).catch((error: unknown) => log('warn', `an audit fact is lost: ${error}`));
    log('warn', `a certificate for ${caller.identities[0] ?? ''} is refused: ${reason}`);
    return { code, message };
  }
}

/** Admits a number of holders at once, the others in order. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}
