// ACK and NACK: the effect of a client's answer on the watch of its type.
//
// A NACK sends nothing by itself (istiod does the same: pkg/xds/server.go ShouldRespond). Its names go into
// `nackedNames`, and the next response of the type repeats them all, because a client may drop a whole response for one
// bad resource. Exception: if the type changed between the response and the NACK (a later response was sent, or a name
// disappeared or is no longer watched), the repetition is due at once, as there may be no other occasion.
// Invariant: `nackedNames` are the names of NACKed responses that no ACKed response has contained since. Of responses
// that were merged it is not known which names each had, so a NACK of one counts for all of their names.

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
  for (const answered of [...before, at]) {
    if (answered.isRefused !== true) for (const name of answered.names) accepted.add(name);
  }
  const nackedNames = new Set([...watch.nackedNames].filter(name => !accepted.has(name)));
  return { ...watch, ...settled, unanswered: after, nackedNames };
}

/**
 * The watch after the NACK, and the names of the NACKed response in name order; of one that was merged with others, the
 * names of all. Empty if the nonce is no longer known.
 */
export function recordNack(
  protocol: Session['protocol'],
  watch: Watch,
  nonce: string,
  message: string,
): readonly [Watch, readonly string[]] {
  const { before, at, after } = splitMerged(watch.unanswered, nonce);
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
  const merged: Unanswered = {
    nonce: second!.nonce,
    names: new Set([...first!.names, ...second!.names]),
    oldest: first!.oldest ?? first!.nonce,
    ...(first!.isRefused === true ? { isRefused: true } : {}),
  };
  return [merged, ...rest];
}

function notSentSince(nackedNames: ReadonlySet<string>, later: readonly Unanswered[]): readonly string[] {
  const isSent = (name: string): boolean => later.some(({ names, isRefused }) => isRefused !== true && names.has(name));
  return [...nackedNames].filter(name => !isSent(name));
}

function split(unanswered: readonly Unanswered[], nonce: string) {
  const at = unanswered.findIndex(answered => answered.nonce === nonce);
  if (at < 0) return { before: [], at: undefined, after: unanswered };
  return { before: unanswered.slice(0, at), at: unanswered[at], after: unanswered.slice(at + 1) };
}

/** As `split`; a nonce of a merged response but the newest leaves the rest of them without an answer. */
function splitMerged(unanswered: readonly Unanswered[], nonce: string): ReturnType<typeof split> {
  const [first, ...rest] = unanswered;
  const found = split(unanswered, nonce);
  if (found.at !== undefined || first?.oldest === undefined || !isWithin(nonce, first.oldest, first.nonce))
    return found;
  return { before: [], at: first, after: [{ ...first, isRefused: true }, ...rest] };
}

/** Nonces of a stream are `<stream>/<count>`. */
function isWithin(nonce: string, oldest: string, newest: string): boolean {
  const stream = oldest.slice(0, oldest.lastIndexOf('/') + 1);
  const count = (of: string): number => (of.startsWith(stream) ? Number(of.slice(stream.length)) : Number.NaN);
  return count(nonce) >= count(oldest) && count(nonce) < count(newest);
}
