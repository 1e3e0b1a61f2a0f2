// Which resources a NACK is about. Envoy's message is free text, but it quotes resource names:
//   Error adding/updating cluster(s) outbound|80||a.b.svc: <reason>, outbound|81||a.b.svc: <reason>
//   Error adding/updating listener(s) 0.0.0.0_80: <reason>
//   gRPC config for <type URL> rejected: <reason, often without a name>
// So the text is searched for the names of the NACKed response. A response with one resource needs no search.
//
// A client chooses the message and, by subscribing, the names: the cost is that of reading both once. Only for names
// with characters that Istio's names do not have the text is searched name by name, within limits.

/** Characters of resource names: a name must not match inside a longer one. */
const partOfName = /[A-Za-z0-9_|.\-:/*]/;
const words = /[A-Za-z0-9_|.\-:/*]+/g;
const isWord = /^[A-Za-z0-9_|.\-:/*]+$/;
/** Characters of the message, and names, that are searched for names that are no words. */
const SEARCHED_CHARS_MAX = 4_096;
const SEARCHED_NAMES_MAX = 1_000;

/** The names of `sent` that the message quotes, in name order; empty if it quotes none. */
export function blamedNames(message: string, sent: readonly string[]): readonly string[] {
  if (sent.length === 1) return sent;
  const quoted = wordsIn(message);
  const start = message.slice(0, SEARCHED_CHARS_MAX);
  let searched = 0;
  const isQuoted = (name: string): boolean => {
    if (isWord.test(name)) return quoted.has(name);
    return name !== '' && searched++ < SEARCHED_NAMES_MAX && mentions(start, name);
  };
  return sent.filter(isQuoted).sort();
}

function wordsIn(message: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word] of message.matchAll(words)) {
    found.add(word);
    if (word.endsWith(':') || word.endsWith('.')) found.add(word.slice(0, -1));
  }
  return found;
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
