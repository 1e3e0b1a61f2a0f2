// The lines of an exported journal. A newline alone ends one: JSON may hold U+2028 as it is, at which node:readline
// splits in Node 24.

import { JournalFault } from './fault.ts';
import { BODY_CHARS_MAX } from './journal.ts';

/** Of a body, escaped as a terminal shows it, and what stands around it. */
export const LINE_CHARS_MAX = 2 * BODY_CHARS_MAX;

/**
 * Lines without their ends, of a text that comes in pieces of any size. The last may lack its newline. Faults:
 * `bad-import` at a line of more than `charsMax` characters.
 */
export async function* linesOf(pieces: AsyncIterable<string>, charsMax = LINE_CHARS_MAX): AsyncGenerator<string> {
  let line = 1;
  /** What has come of the line, and how long that is. */
  let begun: string[] = [];
  let chars = 0;
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split('\n');
    begun.push(first);
    chars += first.length;
    for (const next of others) {
      yield ended(begun);
      line += 1;
      begun = [next];
      chars = next.length;
    }
    if (chars > charsMax) throw new JournalFault('bad-import', `more than ${charsMax} characters`, { line });
  }
  if (chars > 0) yield begun.join('');
}

function ended(parts: readonly string[]): string {
  const line = parts.join('');
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
