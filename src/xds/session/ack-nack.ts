// What the client makes of a response: ACK and NACK. A NACK changes nothing but what is known: the same content is not sent again
// until something of the type changes, and then everything that was refused goes along, because a client may have dropped the whole
// response for one bad resource. If something has changed already before the NACK came in (a later response went out, a name has gone or
// is not watched any more), what was in the refused response and in none since is due at once: there may be no other occasion.
// Rules: spec-events §6.1 rows 3, 6, 7, §6.3.

import { type Session, UNANSWERED_MAX, type Unanswered, type Watch } from './session.ts';
import { withDue } from './subscribe.ts';

export function recordAck(watch: Watch, nonce: string): Watch {
  const { before, at, after } = split(watch.unanswered, nonce);
  const current = nonce === watch.nonceSent;
  const settled = current ? { lastError: '', nonceAcked: nonce } : {};
  if (at === undefined) return { ...watch, ...settled };
  if (watch.nackedNames.size === 0) return { ...watch, ...settled, unanswered: after };
  // Answers come in the order of the responses: what was passed over has been accepted too.
  const accepted = new Set<string>();
  for (const answered of [...before, at]) for (const name of answered.names) accepted.add(name);
  const nackedNames = new Set([...watch.nackedNames].filter(name => !accepted.has(name)));
  return { ...watch, ...settled, unanswered: after, nackedNames };
}

/** The names of the refused response (empty if it is not known any more) and the watch that remembers it. */
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
      // In a delta response a name that is not held was a removal; in one of state of the world it has gone since.
      if (protocol === 'delta' ? watch.wildcard || watch.names.has(name) : watch.held.has(name)) nackedNames.add(name);
      else changed = true;
    }
  }
  const refused: Watch = { ...watch, lastError: message, unanswered: after, nackedNames };
  const sent = [...at.names].sort();
  return [changed ? withDue(refused, { answer: false, names: notSentSince(nackedNames, after) }) : refused, sent];
}

/** One more response on its way; the oldest are taken together rather than remembered without bound. */
export function withUnanswered(unanswered: readonly Unanswered[], next: Unanswered): readonly Unanswered[] {
  const all = [...unanswered, next];
  if (all.length <= UNANSWERED_MAX) return all;
  const [first, second, ...rest] = all;
  return [{ nonce: second!.nonce, names: new Set([...first!.names, ...second!.names]) }, ...rest];
}

function notSentSince(doubtful: ReadonlySet<string>, later: readonly Unanswered[]): readonly string[] {
  return [...doubtful].filter(name => !later.some(({ names }) => names.has(name)));
}

function split(unanswered: readonly Unanswered[], nonce: string) {
  const at = unanswered.findIndex(answered => answered.nonce === nonce);
  if (at < 0) return { before: [], at: undefined, after: unanswered };
  return { before: unanswered.slice(0, at), at: unanswered[at], after: unanswered.slice(at + 1) };
}
