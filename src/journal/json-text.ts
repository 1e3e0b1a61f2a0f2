// Is a text JSON? Answers as JSON.parse does, without building the value, which takes several times as long. A replica
// that catches up asks this of every fact that it stores without parsing it.
//
// Grammar: RFC 8259. A list of open brackets takes the place of recursion, so depth is not limited but by the caller.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
/** From an opening bracket or brace to the closing one. */
const CLOSER_AFTER = 2;
/** Below it, characters have to be escaped. */
const SPACE = 0x20;
/** Tab, line feed, carriage return. */
const BLANKS: readonly number[] = [0x09, 0x0a, 0x0d];

const NOT_JSON = -1;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
const LITERALS: readonly string[] = ['true', 'false', 'null'];

/** `depthMax`: false for values nested deeper. */
export function isJsonText(text: string, depthMax = Number.POSITIVE_INFINITY): boolean {
  /** The closing characters of what is open. */
  const open: number[] = [];
  let at = afterBlanks(text, 0);
  for (;;) {
    const first = text.charCodeAt(at);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (open.length >= depthMax) return false;
      const closer = first + CLOSER_AFTER;
      at = afterBlanks(text, at + 1);
      if (text.charCodeAt(at) !== closer) {
        open.push(closer);
        if (closer === CLOSE_BRACE) at = afterKey(text, at);
        if (at === NOT_JSON) return false;
        continue;
      }
      at += 1;
    } else {
      at = first === QUOTE ? afterText(text, at + 1) : afterScalar(text, at);
      if (at === NOT_JSON) return false;
    }
    at = beforeNext(text, at, open);
    if (open.length === 0) return at === text.length;
    if (at === NOT_JSON) return false;
  }
}

/** Whether the members of each object are in canonical order, none twice, in a text that JSON.parse reads. */
export function hasOrderedMembers(text: string): boolean {
  /** The last name in each object that is open; undefined: none yet, or a list. */
  const names: (string | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) names.push(undefined);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) names.pop();
    if (code !== QUOTE) continue;
    const end = afterText(text, at + 1);
    if (end === NOT_JSON) return false;
    if (text.charCodeAt(afterBlanks(text, end)) === COLON) {
      const name = String(JSON.parse(text.slice(at, end)));
      const before = names.pop();
      if (before !== undefined && before >= name) return false;
      names.push(name);
    }
    at = end - 1;
  }
  return true;
}

/** Behind a value: closes what ends here, and goes to the next value; to the end if nothing is open any more. */
function beforeNext(text: string, from: number, open: number[]): number {
  let at = afterBlanks(text, from);
  for (let closer = open.at(-1); closer !== undefined; closer = open.at(-1)) {
    const next = text.charCodeAt(at);
    if (next === closer) {
      open.pop();
      at = afterBlanks(text, at + 1);
      continue;
    }
    if (next !== COMMA) return NOT_JSON;
    at = afterBlanks(text, at + 1);
    return closer === CLOSE_BRACE ? afterKey(text, at) : at;
  }
  return at;
}

/** Where the value of the member begins. */
function afterKey(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return NOT_JSON;
  const end = afterText(text, from + 1);
  if (end === NOT_JSON) return NOT_JSON;
  const colon = afterBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? afterBlanks(text, colon + 1) : NOT_JSON;
}

/** Behind the closing quote of the text whose characters begin at `from`. */
function afterText(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return NOT_JSON;
    if (code !== BACKSLASH) continue;
    ESCAPE.lastIndex = at + 1;
    if (!ESCAPE.test(text)) return NOT_JSON;
    at = ESCAPE.lastIndex - 1;
  }
  return NOT_JSON;
}

function afterScalar(text: string, from: number): number {
  NUMBER.lastIndex = from;
  if (NUMBER.test(text)) return NUMBER.lastIndex;
  const literal = LITERALS.find(word => text.startsWith(word, from));
  return literal === undefined ? NOT_JSON : from + literal.length;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > SPACE || (code !== SPACE && !BLANKS.includes(code))) break;
  }
  return at;
}

/** Whether brackets are open at more than `depthMax` levels, in a text that JSON.parse reads. */
export function isDeeperThan(text: string, depthMax: number): boolean {
  // Each level has a character that opens it and one that closes it.
  if (text.length <= 2 * depthMax) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = afterText(text, at + 1);
      if (end === NOT_JSON) return false;
      at = end - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > depthMax) return true;
  }
  return false;
}
