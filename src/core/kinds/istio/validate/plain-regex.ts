// Expressions that are certain to compile, told in a fraction of what compiling them takes: letters, classes of letters
// and digits, groups, alternatives, and one repetition of each that is not counted. Most expressions of routes are.

/** One character, escape or class. In a class a "-" is the last or stands in one of the usual ranges. */
const ATOM =
  /[\w /!"#%&',:;<=>@~`-]|\.|\\[dDwWsS.+*?()|[\]{}^$/-]|\[\^?(?:a-z|A-Z|0-9|a-f|A-F|[\w/.,:;=@%&~ !](?!-(?!\]))|\\[dws./-])+-?\]/y;
const GROUP = /\((?:\?:)?/y;
const FLAGS = '(?i)';
/** Groups in groups. */
const DEPTH_MAX = 20;

/** True: RE2 compiles it. False: it may do so or not. */
export function isPlainRegex(regex: string): boolean {
  let depth = 0;
  let isRepeatable = false;
  for (let i = regex.startsWith(FLAGS) ? FLAGS.length : 0; i < regex.length; ) {
    const mark = regex[i]!;
    let length = 1;
    switch (mark) {
      case '(':
        length = lengthAt(GROUP, regex, i);
        if (++depth > DEPTH_MAX) return false;
        isRepeatable = false;
        break;
      case ')':
        if (--depth < 0) return false;
        isRepeatable = true;
        break;
      case '*':
      case '+':
      case '?':
        if (!isRepeatable) return false;
        if (regex[i + 1] === '?') length = 2;
        isRepeatable = false;
        break;
      case '|':
      case '^':
      case '$':
        isRepeatable = false;
        break;
      default:
        length = lengthAt(ATOM, regex, i);
        if (length === 0) return false;
        isRepeatable = true;
    }
    i += length;
  }
  return depth === 0;
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}
