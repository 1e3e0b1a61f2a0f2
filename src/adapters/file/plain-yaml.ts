// The YAML that most manifests are written in, read straight away: block mappings and lists of plain words, whole
// numbers and quoted text without escapes, one object a document. Everything else, and everything that is wrong, is
// left to the full parser, which knows what to say about it.
//
// Invariant: what is read here, the full parser reads alike. So every rule is narrower than YAML's, and in doubt the
// answer is undefined.

import type { Json } from '../../core/base/json.ts';

export interface PlainDocument {
  readonly value: Json;
  /** Where its first key stands, from 1; its column is 1. */
  readonly line: number;
}

/** Nested deeper, it is for the full parser to say so. */
const DEPTH_MAX = 32;
const KEY_LENGTH_MAX = 200;

/** Of anything else the full parser knows whether it is a line break, a mark or a mistake. */
const PRINTABLE = /^[\x20-\x7e\n]*$/;
const MEMBER = /^([A-Za-z_][A-Za-z0-9_./-]*):(?: +([^ ].*))?$/;
const WORDS = /^[A-Za-z_/][A-Za-z0-9_./:@=+-]*(?: [A-Za-z0-9_./@=+-][A-Za-z0-9_./:@=+-]*)*$/;
/** Words that are no text, in any case; and what ends or separates like a key. */
const NO_TEXT = /^(?:true|false|yes|no|on|off|y|n|null)$|:$|: /i;
const QUOTED = /^"([^"\\]*)"$|^'([^']*)'$/;
const WHOLE = /^(?:0|[1-9][0-9]{0,14})$/;
/** What begins with a digit and is text all the same: addresses, prefixes, spans and points in time. */
const DIGITS = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?$|^\d{1,9}(?:ms|s|m|h)$|^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly number: number;
}

/** Thrown inside, never out: the full parser has to look. */
const LEFT_TO_OTHERS = Symbol('not plain');

/** All documents but empty ones; undefined: not plain. */
export function plainDocuments(text: string, documentsMax: number): readonly PlainDocument[] | undefined {
  if (!PRINTABLE.test(text)) return undefined;
  const documents: PlainDocument[] = [];
  let lines: Line[] = [];
  const finish = (): void => {
    if (lines.length > 0) documents.push({ line: lines[0]!.number, value: new Reader(lines).document() });
    lines = [];
  };
  try {
    let number = 0;
    for (const raw of text.split('\n')) {
      number++;
      const line = raw.trimEnd();
      const content = line.trimStart();
      if (content === '' || content.startsWith('#')) continue;
      if (line === '---') finish();
      else lines.push({ indent: line.length - content.length, text: content, number });
    }
    finish();
  } catch (reason) {
    if (reason === LEFT_TO_OTHERS) return undefined;
    throw reason;
  }
  return documents.length > documentsMax ? undefined : documents;
}

class Reader {
  readonly #lines: Line[];
  #at = 0;

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  document(): Json {
    const [first] = this.#lines;
    if (first === undefined || first.indent !== 0 || isItem(first)) throw LEFT_TO_OTHERS;
    const value = this.#mapping(0, 0);
    if (this.#at < this.#lines.length) throw LEFT_TO_OTHERS;
    return value;
  }

  #mapping(indent: number, depth: number): Json {
    if (depth > DEPTH_MAX) throw LEFT_TO_OTHERS;
    const out: { [key: string]: Json } = {};
    for (let line = this.#line(); line?.indent === indent && !isItem(line); line = this.#line()) {
      const member = MEMBER.exec(line.text);
      const key = member?.[1];
      if (member === null || key === undefined || key.length > KEY_LENGTH_MAX) throw LEFT_TO_OTHERS;
      if (NO_TEXT.test(key) || key === '__proto__' || Object.hasOwn(out, key)) throw LEFT_TO_OTHERS;
      this.#at++;
      out[key] = member[2] === undefined ? this.#below(indent, true, depth) : this.#scalar(member[2], indent);
    }
    return out;
  }

  #list(indent: number, depth: number): Json {
    if (depth > DEPTH_MAX) throw LEFT_TO_OTHERS;
    const out: Json[] = [];
    for (let line = this.#line(); line?.indent === indent && isItem(line); line = this.#line()) {
      const content = line.text.slice(1).trimStart();
      if (content === '') {
        this.#at++;
        out.push(this.#below(indent, false, depth));
      } else if (isItem({ ...line, text: content })) {
        throw LEFT_TO_OTHERS;
      } else if (MEMBER.test(content)) {
        // The rest of the line is the first line of a mapping.
        const inner = indent + line.text.length - content.length;
        this.#lines[this.#at] = { indent: inner, text: content, number: line.number };
        out.push(this.#mapping(inner, depth + 1));
        this.#endOf(indent);
      } else {
        this.#at++;
        out.push(this.#scalar(content, indent));
      }
    }
    return out;
  }

  /** What stands below a key or a dash that has nothing beside it. A list may stand as far left as its key. */
  #below(indent: number, isKey: boolean, depth: number): Json {
    const line = this.#line();
    if (line === undefined) return null;
    const isList = isItem(line);
    if (line.indent < indent || (line.indent === indent && !(isKey && isList))) return null;
    const value = isList ? this.#list(line.indent, depth + 1) : this.#mapping(line.indent, depth + 1);
    this.#endOf(indent);
    return value;
  }

  #scalar(text: string, indent: number): Json {
    this.#endOf(indent);
    if (text === '{}') return {};
    if (text === '[]') return [];
    if (text.startsWith('[') && text.endsWith(']')) return text.slice(1, -1).split(',').map(listed);
    return scalar(text);
  }

  /** A line further in would go on with what was read. */
  #endOf(indent: number): void {
    const next = this.#line();
    if (next !== undefined && next.indent > indent) throw LEFT_TO_OTHERS;
  }

  #line(): Line | undefined {
    return this.#lines[this.#at];
  }
}

/** An element of a list on one line, where a colon may mean more. */
function listed(part: string): Json {
  if (part.includes(':')) throw LEFT_TO_OTHERS;
  return scalar(part.trim());
}

function scalar(text: string): Json {
  const quoted = QUOTED.exec(text);
  if (quoted !== null) return quoted[1] ?? quoted[2] ?? '';
  if (WHOLE.test(text)) return Number(text);
  if (text === 'true') return true;
  if (text === 'false') return false;
  if ((WORDS.test(text) && !NO_TEXT.test(text)) || DIGITS.test(text)) return text;
  throw LEFT_TO_OTHERS;
}

function isItem({ text }: Line): boolean {
  return text === '-' || text.startsWith('- ');
}
