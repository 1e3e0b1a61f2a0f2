// JSON as Go's encoder writes it: members of maps in the order of their names, < > & and line separators escaped,
// whole floats without a fraction. Source: Go encoding/json/encode.go.

import { isObject, type Json } from '../../core/base/json.ts';

export interface GoJsonOptions {
  /** Members in the order in which they are, as of a struct. */
  readonly keepsOrder?: boolean;
  /** Blanks a level; 0: one line. */
  readonly indent?: number;
  readonly escapesHtml?: boolean;
}

export function goJson(value: Json, options: GoJsonOptions = {}): string {
  return written(value, options, '\n');
}

function written(value: Json, options: GoJsonOptions, newline: string): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return quotedJson(value, options.escapesHtml !== false);
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  const inner = newline + ' '.repeat(options.indent ?? 0);
  const [separator, open, close] = options.indent ? [`,${inner}`, inner, newline] : [',', '', ''];
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    const elements = (value as readonly Json[]).map(element => written(element, options, inner));
    return `[${open}${elements.join(separator)}${close}]`;
  }
  if (!isObject(value)) return 'null';
  const names = Object.keys(value).filter(name => value[name] !== undefined);
  if (options.keepsOrder !== true) names.sort();
  if (names.length === 0) return '{}';
  const colon = options.indent ? ': ' : ':';
  const members = names.map(
    name => `${quotedJson(name, options.escapesHtml !== false)}${colon}${written(value[name]!, options, inner)}`,
  );
  return `{${open}${members.join(separator)}${close}}`;
}

function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e21)) return value.toExponential().replace(/e-(\d)$/, 'e-0$1');
  return String(value);
}

const UNSAFE = /[<>&\u2028\u2029]/g;

export function quotedJson(text: string, escapesHtml: boolean): string {
  const quoted = `${JSON.stringify(text)}`;
  const escaped = (found: string): string => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return escapesHtml ? quoted.replace(UNSAFE, escaped) : quoted.replace(/[\u2028\u2029]/g, escaped);
}
