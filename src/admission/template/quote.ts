// Text in quotes as Go writes it (%q). Source: Go strconv/quote.go.

const SHORT: { readonly [character: string]: string } = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export function quotedGo(text: string): string {
  const escaped = text.replace(/[\\"\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu, character => {
    const short = SHORT[character];
    if (short !== undefined) return short;
    const code = character.codePointAt(0)!;
    if (character === ' ') return character;
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `"${escaped}"`;
}
