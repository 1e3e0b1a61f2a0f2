// Literal text inside of a regular expression of RE2, as Go's regexp.QuoteMeta writes it: `/` and `-` stay as they are,
// so that generated patterns equal istiod's.

export function quoteRegex(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
