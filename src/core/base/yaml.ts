// YAML as Kubernetes reads it: version 1.1 booleans, no base-60 numbers, no timestamps, duplicate keys refused. Pure:
// equal text, equal value.
//
// The text may be hostile. The composer of the parser is recursive, and V8 ends the process when a regular expression
// is compiled near the end of the stack, so depth is limited while tokens come in, before anything is composed.
// Full-line comments never reach the parser: it looks at all of a run of them for each. Keys and anchors are resolved
// by yaml-value.ts.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import { Composer, type Document, Lexer, type ParsedNode, Parser, type Tags } from 'yaml';
import type { Json } from './json.ts';
import { unquoted } from './problem.ts';
import { TOO_DEEP, YAML_DEPTH_MAX, YAML_ERRORS_MAX, type YamlValue, yamlValue } from './yaml-value.ts';

/** Tokens of one text: words, marks, blanks and line breaks. A manifest has two for every three characters. */
export const YAML_TOKENS_MAX = 4_000_000;

/**
 * Mistakes of one document after which it is not composed any further: each of them costs as much as a hundred
 * characters.
 */
export const YAML_MISTAKES_MAX = 200;

/**
 * For the `customTags` of the parser, with `version: '1.1'`. Types that JSON does not have are read as what they are
 * written as.
 */
export const kubernetesTags = (tags: Tags): Tags =>
  tags
    .filter(tag => typeof tag !== 'string' && !NO_JSON.test(tag.tag) && !('format' in tag && tag.format === 'TIME'))
    .map(tag => {
      if (typeof tag === 'string' || tag.collection !== undefined) return tag;
      if (tag.tag !== 'tag:yaml.org,2002:float') return tag;
      if (tag.test?.test('.')) return { ...tag, test: FLOAT };
      return tag.test?.test('e0') ? { ...tag, test: EXPONENT } : tag;
    });

const NO_JSON = /^tag:yaml\.org,2002:(timestamp|binary|omap|pairs|set)$/;
/**
 * The parser's own rule takes a lone dot for a number (not a number, even); for Kubernetes it is text, as in `exportTo:
 * [.]`.
 */
const FLOAT = /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/;
/** Likewise it takes `e0` for a number without digits: an ordinary name. */
const EXPONENT = /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$/;

const OPTIONS = {
  version: '1.1',
  customTags: kubernetesTags,
  resolveKnownTags: false,
  // Compared by yaml-value.ts.
  uniqueKeys: false,
  strict: true,
  prettyErrors: false,
} as const;

/** Where the text cannot be read any further. */
export class YamlRefused extends Error {
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

/**
 * Every document in turn; `onNewLine` is given the offset at which each line begins. Throws YamlRefused at a place that
 * is nested too deeply, past YAML_TOKENS_MAX, and at the first mistake of a document that has more than
 * YAML_MISTAKES_MAX.
 */
export function* composedDocuments(
  text: string,
  onNewLine: (offset: number) => void = () => undefined,
): Generator<Document.Parsed> {
  const parser = new Parser(onNewLine);
  const composer = new Composer<ParsedNode, true>(OPTIONS);
  const mistakes = countMistakes(composer);
  onNewLine(0);
  let tokens = 0;
  let atLineStart = true;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > YAML_TOKENS_MAX) throw new YamlRefused(parser.offset, TOO_MANY_TOKENS);
    if (atLineStart && !isScalar && lexeme.startsWith('#')) {
      parser.offset += lexeme.length;
      continue;
    }
    for (const token of parser.next(lexeme)) {
      if (token.type === 'document') mistakes.count = 0;
      if (token.type === 'error') mistakes.add(token.offset, token.message);
      yield* composer.next(token);
    }
    // The document and a scalar are no levels.
    if (parser.stack.length > YAML_DEPTH_MAX + 2) throw new YamlRefused(parser.offset, TOO_DEEP);
    atLineStart = lexeme.endsWith('\n') || (atLineStart && !isScalar && BLANKS.test(lexeme));
    isScalar = lexeme === SCALAR_NEXT;
  }
  for (const token of parser.end()) yield* composer.next(token);
  yield* composer.end();
}

/**
 * Counts what the composer reports. It reports through a member of its own; nothing else could stop it within a
 * document.
 */
function countMistakes(composer: Composer<ParsedNode, true>): {
  count: number;
  add(offset: number, message: string): void;
} {
  let first: { readonly offset: number; readonly message: string } | undefined;
  const mistakes = {
    count: 0,
    add(offset: number, message: string): void {
      if (mistakes.count++ === 0) first = { offset, message };
      if (mistakes.count <= YAML_MISTAKES_MAX || first === undefined) return;
      throw new YamlRefused(
        first.offset,
        `${withoutText(first.message)}; more than ${YAML_MISTAKES_MAX} mistakes follow`,
      );
    },
  };
  const report: unknown = Reflect.get(composer, 'onError');
  if (typeof report !== 'function') return mistakes;
  Reflect.set(composer, 'onError', (source: unknown, code: string, message: string, warning?: boolean): void => {
    mistakes.add(offsetIn(source), message);
    report(source, code, message, warning);
  });
  return mistakes;
}

/** A place as the composer reports it: an offset, a range, or a token. */
function offsetIn(source: unknown): number {
  if (typeof source === 'number') return source;
  if (Array.isArray(source)) return Number(source[0]);
  return typeof source === 'object' && source !== null && 'offset' in source ? Number(source.offset) : 0;
}

/** The parser's mark in front of the text of a scalar. */
const SCALAR_NEXT = '\u001f';
const BLANKS = /^[ \t]+$/;
const TOO_MANY_TOKENS = `has more than ${YAML_TOKENS_MAX} words and marks`;

/** The problems of a document and its value. */
export function documentValue(document: Document.Parsed): YamlValue {
  if (document.errors.length === 0) return yamlValue(document.contents);
  const errors = document.errors.slice(0, YAML_ERRORS_MAX);
  return { value: null, errors: errors.map(({ pos, message }) => ({ offset: pos[0], reason: withoutText(message) })) };
}

/** What the parser quotes of a text may be a private value: the message keeps what is wrong, its place says where. */
function withoutText(message: string): string {
  return unquoted(message.replace(QUOTING, '$1'));
}

const QUOTING =
  /^(Unresolved tag|Not a YAML token|Block scalar header includes extra characters|Invalid escape sequence|Ordered maps must not include duplicate keys)\b.*/s;

/** The value of one document, or why the text is none. Total. */
export function readYaml(text: string): Either<string, Json> {
  try {
    const [document, second] = composedDocuments(text);
    if (document === undefined) return right(null);
    if (second !== undefined) return left('holds more than one document');
    const { value, errors } = documentValue(document);
    return errors[0] === undefined ? right(value) : left(errors[0].reason);
  } catch (error) {
    return left(error instanceof Error ? error.message : String(error));
  }
}
