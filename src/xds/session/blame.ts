// Which resources a NACK is about. Envoy's message is text for people; what can be relied on is that it quotes resource names:
//   Error adding/updating cluster(s) outbound|80||a.b.svc: <reason>, outbound|81||a.b.svc: <reason>
//   Error adding/updating listener(s) 0.0.0.0_80: <reason>
//   gRPC config for <type URL> rejected: <reason, often without a name>
// So the names that were sent are looked for in the text, and a response with one resource needs no text at all.

/** Characters that may stand in a resource name: a name must not be found inside a longer one. */
const partOfName = /[A-Za-z0-9_|.\-:/*]/;

/** Of the names that were sent those that the message is about, in name order; empty if it does not say. */
export function blamedNames(message: string, sent: readonly string[]): readonly string[] {
  if (sent.length === 1) return sent;
  return sent.filter(name => name !== '' && mentions(message, name)).sort();
}

function mentions(message: string, name: string): boolean {
  for (let at = message.indexOf(name); at >= 0; at = message.indexOf(name, at + 1)) {
    const before = message[at - 1] ?? ' ';
    if (!partOfName.test(before) && endsThere(message, at + name.length)) return true;
  }
  return false;
}

/** A colon or full stop after the name belongs to the sentence if nothing of a name follows it. */
function endsThere(message: string, end: number): boolean {
  const next = message[end] ?? ' ';
  if (!partOfName.test(next)) return true;
  return (next === ':' || next === '.') && !partOfName.test(message[end + 1] ?? ' ');
}
