// Which object an event is of, found in the stored text without parsing it: a start looks at every version of every
// object, and of most only this much is ever needed.
//
// Stored bodies are canonical JSON (codec.ts, import.ts): members in ascending order, none twice, no blanks. Whatever
// is not as expected is not judged here: the answer is "unknown", and the caller parses. Bytes are looked through, not
// the text: that is three times as fast.

import type { ObjectRef } from '../core/event.ts';

/** Longer bodies are rare, and parsed. */
export const SCANNED_CHARS_MAX = 65_536;

const OPENING = '{"object":{';
/** Of the body of an object whose `apiVersion` is its first member, as it is of nearly all. */
const VERSION = `${OPENING}"apiVersion":"`;
/** Of the most frequent one, an EndpointSlice, which has another member before it. */
const ADDRESS_TYPE = `${OPENING}"addressType":`;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const NOWHERE = -1;
/** Behind the text, so that no reader continues into the previous content. */
const END = 0;
/** A byte for each character: text that needs more is not looked through. */
const bytes = Buffer.allocUnsafeSlow(3 * SCANNED_CHARS_MAX + 1);

/**
 * Of the body of an `Add` or `Update`; undefined: unknown, parse it. The namespace is empty where the object names
 * none, which for a namespaced kind means the default one.
 */
export function objectRefIn(body: string): ObjectRef | undefined {
  if (body.length > SCANNED_CHARS_MAX || !body.startsWith(OPENING)) return undefined;
  if (bytes.write(body, 0, 'utf8') !== body.length) return undefined;
  bytes[body.length] = END;
  const inObject = new Members(body, OPENING.length);
  const apiVersion = inObject.text('apiVersion');
  const kind = apiVersion && inObject.text('kind');
  if (!kind || !inObject.seek('metadata') || bytes[inObject.value] !== OPEN_BRACE) return undefined;
  const inMetadata = new Members(body, inObject.value + 1);
  const name = inMetadata.text('name');
  if (!name) return undefined;
  if (!inMetadata.seek('namespace')) return inMetadata.sound ? { apiVersion, kind, namespace: '', name } : undefined;
  const namespace = inMetadata.plain();
  return namespace ? { apiVersion, kind, namespace, name } : undefined;
}

/** Texts from the first bound on, and before the second. */
type Span = readonly [from: string, before: string];

/**
 * Where the bodies of objects stand in the order of texts: a body in `others` is that of an object of another group,
 * unless it is in `own`. `group`: not the core's.
 */
export function spansOfGroup(group: string): { readonly others: Span; readonly own: Span } {
  const own = `${VERSION}${group}/`;
  return { others: [ADDRESS_TYPE, afterAll(VERSION)], own: [own, afterAll(own)] };
}

/** The first text after all that begin with this one. */
function afterAll(beginning: string): string {
  return beginning.slice(0, -1) + String.fromCharCode(beginning.charCodeAt(beginning.length - 1) + 1);
}

/** The members of one object, gone through in their order. */
class Members {
  readonly #body: string;
  /** Where the value of the member stands that was found last; NOWHERE before the first. */
  value = NOWHERE;
  /** False: this is no canonical text. */
  sound = true;
  /** Where a member begins: the one that comes next, or the one found last. */
  #at: number;

  constructor(body: string, at: number) {
    this.#body = body;
    this.#at = at;
  }

  /**
   * The text under a name that comes after those asked for before; undefined if there is none that is written as it is.
   */
  text(name: string): string | undefined {
    return this.seek(name) ? this.plain() : undefined;
  }

  /** Whether there is a member of that name, after those asked for before. */
  seek(name: string): boolean {
    const body = this.#body;
    const first = name.charCodeAt(0);
    if (this.value !== NOWHERE) this.#skip();
    while (this.sound && bytes[this.#at] === QUOTE) {
      const key = this.#at + 1;
      if (bytes[key]! > first) return false;
      const end = endOfText(key, body.length);
      this.sound &&= bytes[end] === COLON;
      this.value = end + 1;
      if (end - key === name.length + 1 && body.startsWith(name, key)) return this.sound;
      this.#skip();
    }
    this.sound &&= bytes[this.#at] === CLOSE_BRACE;
    return false;
  }

  /** The text that the value found last is; undefined if it is none, or not written as it is. */
  plain(): string | undefined {
    if (bytes[this.value] !== QUOTE) return undefined;
    const found = this.#body.slice(this.value + 1, endOfText(this.value + 1, this.#body.length) - 1);
    return found.includes('\\') ? undefined : found;
  }

  #skip(): void {
    const after = endOfValue(this.value, this.#body.length);
    this.#at = bytes[after] === COMMA ? after + 1 : after;
  }
}

/** Behind the closing quote of the text whose characters begin at `at`. */
function endOfText(at: number, end: number): number {
  for (let i = at; i < end; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  return end;
}

/** Behind the value that begins at `at`: the comma or bracket that follows it. */
function endOfValue(at: number, end: number): number {
  let depth = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = endOfText(i + 1, end) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === COMMA) {
      if (depth === 0) return i;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return i;
      depth--;
    }
  }
  return end;
}
