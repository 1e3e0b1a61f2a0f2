// Text without certain characters at its ends. A regular expression for the end (`/=+$/`) starts anew at each of them:
// for 1.4 million `=` before an `A` it takes an hour.

/** `set`: the characters that go. */
export function trimmed(text: string, set: string): string {
  return trimmedStart(trimmedEnd(text, set), set);
}

function trimmedStart(text: string, set: string): string {
  let start = 0;
  while (start < text.length && set.includes(text[start]!)) start++;
  return text.slice(start);
}

export function trimmedEnd(text: string, set: string): string {
  let end = text.length;
  while (end > 0 && set.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
