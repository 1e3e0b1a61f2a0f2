// Which resources a NACK is about. Envoy's message is free text, but it quotes resource names:
//   Error adding/updating cluster(s) outbound|80||a.b.svc: <reason>, outbound|81||a.b.svc: <reason>
//   Error adding/updating listener(s) 0.0.0.0_80: <reason>
//   gRPC config for <type URL> rejected: <reason, often without a name>
// So the text is searched for the names of the NACKed response. A response with one resource needs no search.

/** Characters of resource names: a name must not match inside a longer one. */
const partOfName = /[A-Za-z0-9_|.\-:/*]/;

/** The names of `sent` that the message quotes, in name order; empty if it quotes none. */
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

/** A colon or full stop after the name is punctuation unless a character of a name follows it. */
function endsThere(message: string, end: number): boolean {
  const next = message[end] ?? ' ';
  if (!partOfName.test(next)) return true;
  return (next === ':' || next === '.') && !partOfName.test(message[end + 1] ?? ' ');
}
