/** The number of code points of a text; half a pair that stands alone is one of its own. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    if (isHalf(text.charCodeAt(i), 0xdc00) && isHalf(text.charCodeAt(i - 1), 0xd800)) count--;
  }
  return count;
}

/** Of a surrogate pair: the first half begins at 0xd800, the second at 0xdc00. */
function isHalf(unit: number, from: number): boolean {
  return (unit & 0xfc00) === from;
}
