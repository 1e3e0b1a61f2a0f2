// ACK and NACK: the effect of a client's answer on the watch of its type.
//
// A NACK sends nothing by itself (istiod does the same: pkg/xds/server.go ShouldRespond). Its names go into
// `nackedNames`, and the next response of the type repeats them all, because a client may drop a whole response for one
// bad resource. Exception: if the type changed between the response and the NACK (a later response was sent, or a name
// disappeared or is no longer watched), the repetition is due at once, as there may be no other occasion.
// Invariant: `nackedNames` are the names of NACKed responses that no ACKed response has contained since.

import { type Session, UNANSWERED_MAX, type Unanswered, type Watch } from './session.ts';
import { withDue } from './subscribe.ts';

export function recordAck(watch: Watch, nonce: string): Watch {
  const { before, at, after } = split(watch.unanswered, nonce);
  const current = nonce === watch.nonceSent;
  const settled = current ? { lastError: '', nonceAcked: nonce } : {};
  if (at === undefined) return { ...watch, ...settled };
  if (watch.nackedNames.size === 0) return { ...watch, ...settled, unanswered: after };
  // Envoy answers in the order of the responses, so an ACK of a later one accepts the earlier ones too.
  const accepted = new Set<string>();
  for (const answered of [...before, at]) for (const name of answered.names) accepted.add(name);
  const nackedNames = new Set([...watch.nackedNames].filter(name => !accepted.has(name)));
  return { ...watch, ...settled, unanswered: after, nackedNames };
}

/**
 * The watch after the NACK, and the names of the NACKed response in name order (empty if its nonce is no longer known).
 */
export function recordNack(
  protocol: Session['protocol'],
  watch: Watch,
  nonce: string,
  message: string,
): readonly [Watch, readonly string[]] {
  const { before, at, after } = split(watch.unanswered, nonce);
  if (at === undefined) return [{ ...watch, lastError: message }, []];
  const nackedNames = new Set(watch.nackedNames);
  let changed = after.length > 0;
  for (const answered of [...before, at]) {
    for (const name of answered.names) {
      // A name that the client does not have was a removal in a delta response; in state of the world it has
      // disappeared since.
      if (protocol === 'delta' ? watch.wildcard || watch.names.has(name) : watch.clientVersions.has(name))
        nackedNames.add(name);
      else changed = true;
    }
  }
  const refused: Watch = { ...watch, lastError: message, unanswered: after, nackedNames };
  const sent = [...at.names].sort();
  return [changed ? withDue(refused, { answer: false, names: notSentSince(nackedNames, after) }) : refused, sent];
}

/** Adds a response. Past UNANSWERED_MAX the two oldest are merged under the newer nonce. */
export function withUnanswered(unanswered: readonly Unanswered[], next: Unanswered): readonly Unanswered[] {
  const all = [...unanswered, next];
  if (all.length <= UNANSWERED_MAX) return all;
  const [first, second, ...rest] = all;
  return [{ nonce: second!.nonce, names: new Set([...first!.names, ...second!.names]) }, ...rest];
}

function notSentSince(nackedNames: ReadonlySet<string>, later: readonly Unanswered[]): readonly string[] {
  return [...nackedNames].filter(name => !later.some(({ names }) => names.has(name)));
}

function split(unanswered: readonly Unanswered[], nonce: string) {
  const at = unanswered.findIndex(answered => answered.nonce === nonce);
  if (at < 0) return { before: [], at: undefined, after: unanswered };
  return { before: unanswered.slice(0, at), at: unanswered[at], after: unanswered.slice(at + 1) };
}
