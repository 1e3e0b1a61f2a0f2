// The lines of an exported journal. A newline alone ends one: JSON may hold U+2028 as it is, at which node:readline
// splits in Node 24.

/** Lines without their ends, of a text that comes in pieces of any size. The last may lack its newline. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  if (rest !== '') yield rest;
}
