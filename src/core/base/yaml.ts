// YAML as Kubernetes reads it: version 1.1 booleans, no base-60 numbers, no timestamps, duplicate keys refused. Pure: equal text, equal value.
// Files are read by their adapter, which has use for positions; here are the rules, and the texts inside of objects (annotations).

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import { parseDocument, type Tags } from 'yaml';
import type { Json } from './json.ts';

/** How often anchors may be expanded in one document: past that it is taken for an alias bomb. */
export const ALIASES_MAX = 200;

/** For the `customTags` of the parser, with `version: '1.1'`. */
export const kubernetesTags = (tags: Tags): Tags =>
  tags
    .filter(tag => {
      if (typeof tag === 'string') return tag !== 'timestamp' && tag !== 'intTime' && tag !== 'floatTime';
      return tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME');
    })
    .map(tag => {
      if (typeof tag === 'string' || tag.collection !== undefined) return tag;
      if (tag.tag !== 'tag:yaml.org,2002:float') return tag;
      if (tag.test?.test('.')) return { ...tag, test: FLOAT };
      return tag.test?.test('e0') ? { ...tag, test: EXPONENT } : tag;
    });

/** The parser's own rule takes a lone dot for a number (not a number, even); for Kubernetes it is text, as in `exportTo: [.]`. */
const FLOAT = /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/;
/** Likewise it takes `e0` for a number without digits: an ordinary name. */
const EXPONENT = /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$/;

/** The value of one document, or why the text is none. Total. */
export function readYaml(text: string): Either<string, Json> {
  try {
    const document = parseDocument(text, {
      version: '1.1',
      customTags: kubernetesTags,
      uniqueKeys: true,
      strict: true,
      prettyErrors: false,
    });
    const [error] = document.errors;
    return error === undefined ? right(document.toJS({ maxAliasCount: ALIASES_MAX }) as Json) : left(error.message);
  } catch (error) {
    // Nested too deeply, or expanded too often.
    return left(error instanceof Error ? error.message : String(error));
  }
}
