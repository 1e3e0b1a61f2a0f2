// Who held which certificate at a moment: the audit facts of the journal up to there, one row a certificate that had
// not expired then, and the refusals. Read from the events and not from the state: an audit trail changes nothing
// that is sent.

import type { CertificateIssued, CertificateRefused, Event } from '../core/event.ts';
import type { Proof } from '../core/model/caller.ts';
import type { Journal } from '../journal/journal.ts';

export interface HeldCertificate {
  readonly identities: readonly string[];
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly notAfter: number;
  readonly keyDigest: string;
  /** How the caller proved itself, in words. */
  readonly proof: string;
  /** seq of the event. */
  readonly seq: number;
}

export interface RefusedRequest {
  readonly identities: readonly string[];
  readonly impersonated?: string;
  readonly at: number;
  readonly code: string;
  readonly reason: string;
  readonly proof: string;
  readonly seq: number;
}

export interface Identities {
  readonly held: readonly HeldCertificate[];
  readonly refused: readonly RefusedRequest[];
}

export interface IdentityQuestion {
  /** The last event that counts. */
  readonly to: number;
  /** Only identities that contain this; '': all. */
  readonly part: string;
  /** Also certificates that had expired. */
  readonly expired: boolean;
}

/** In the order of the journal. */
export async function identitiesAt(journal: Journal, { to, part, expired }: IdentityQuestion): Promise<Identities> {
  const held: HeldCertificate[] = [];
  const refused: RefusedRequest[] = [];
  let last = 0;
  for await (const event of eventsOf(journal, to)) {
    last = Math.max(last, event.time);
    const names = namesIn(event);
    if (!names.some(name => name.includes(part))) continue;
    if (event.kind === 'CertificateIssued') held.push(heldBy(event));
    else refused.push(refusedBy(event));
  }
  const end = await timeOf(journal, to, last);
  return { held: expired ? held : held.filter(({ notAfter }) => notAfter > end), refused };
}

type Audit = Event & (CertificateIssued | CertificateRefused);

const AUDIT: ReadonlySet<string> = new Set(['CertificateIssued', 'CertificateRefused']);

/** Of a refusal also the identity that was asked for. */
function namesIn(event: Audit): readonly string[] {
  if (event.kind === 'CertificateIssued') return event.identities;
  return event.impersonated === undefined ? event.caller.identities : [...event.caller.identities, event.impersonated];
}

async function* eventsOf(journal: Journal, to: number): AsyncGenerator<Audit> {
  for await (const events of journal.read({ from: journal.base().seq + 1, to })) {
    for (const event of events) if (AUDIT.has(event.kind)) yield event as Audit;
  }
}

async function timeOf(journal: Journal, seq: number, fallback: number): Promise<number> {
  if (seq < 1) return fallback;
  for await (const events of journal.read({ from: seq, to: seq })) for (const event of events) return event.time;
  return fallback;
}

function heldBy(event: Event & CertificateIssued): HeldCertificate {
  const { identities, serial, notAfter, keyDigest, caller, time, seq } = event;
  return { identities, serial, issuedAt: time, notAfter, keyDigest, proof: proofText(caller.proof), seq };
}

function refusedBy(event: Event & CertificateRefused): RefusedRequest {
  const { caller, impersonated, code, reason, time, seq } = event;
  const asked = impersonated === undefined ? {} : { impersonated };
  return { identities: caller.identities, ...asked, at: time, code, reason, proof: proofText(caller.proof), seq };
}

export function proofText(proof: Proof): string {
  switch (proof.how) {
    case 'certificate':
      return `certificate ${proof.fingerprint.slice(0, 16)}`;
    case 'token':
      return `token of ${proof.cluster}${proof.pod === undefined ? '' : `, pod ${proof.pod.name}`}`;
    case 'oidc':
      return `token of ${proof.issuer}`;
    case 'forwarded':
      return `forwarded by ${proof.peer}`;
    case 'stream':
      return 'its stream';
  }
}
