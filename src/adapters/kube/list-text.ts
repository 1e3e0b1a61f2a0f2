// Splits the answer to a list into the texts of its items, as it comes. A page of 500 objects may have a hundred
// megabytes, and JSON.parse of them all at once would hold up everything else for a second.

import { isObject, type Json } from '../../core/base/json.ts';
import { CLOSES, JsonBytes, MARKS, OPENS } from '../../core/base/json-bytes.ts';

import { othersHadTheirTurn } from '../kit/event-loop.ts';
import { PARSED_CHARS_AT_ONCE } from './heard.ts';

/**
 * Parses the text of a list, its items one by one, with turns of others in between; any other text at its end. Rejects
 * with a SyntaxError if it is no JSON, and as `chunks` does.
 */
export async function listIn(chunks: AsyncIterable<Buffer>): Promise<Json> {
  const list = new ListText();
  const items: Json[] = [];
  let chars = 0;
  for await (const chunk of chunks) {
    for (const text of list.push(chunk)) {
      items.push(JSON.parse(text) as Json);
      chars += text.length;
      if (chars < PARSED_CHARS_AT_ONCE) continue;
      chars = 0;
      await othersHadTheirTurn();
    }
  }
  const around = JSON.parse(list.around()) as Json;
  return items.length > 0 && isObject(around) ? { ...around, items } : around;
}

/** At the end of what stands before a bracket: the bracket opens the items of the list. */
const ITEMS_KEY = /"items"\s*:\s*$/;
/** Bytes before a bracket in which the key is looked for. */
const KEY_BYTES = 64;
const [BRACKET, COMMA] = [0x5b, 0x2c];

class ListText {
  readonly #bytes = new JsonBytes();
  #depth = 0;
  #place: 'before' | 'within' | 'after' = 'before';
  /** All but the items. */
  readonly #around: Buffer[] = [];
  #item: Buffer[] = [];
  #items = 0;

  /** The texts of the items that end in the chunk. A text may be anything but blank, if the list is no JSON. */
  push(chunk: Buffer): readonly string[] {
    const ended: string[] = [];
    let start = 0;
    for (let at = this.#bytes.nextMark(chunk, 0); at < chunk.length; at = this.#bytes.nextMark(chunk, at + 1)) {
      const mark = MARKS[chunk[at]!]!;
      if (mark === CLOSES) this.#depth--;
      if (this.#place === 'within') {
        const isEnd = this.#depth === 1;
        if (isEnd || (this.#depth === 2 && chunk[at] === COMMA)) {
          this.#item.push(chunk.subarray(start, at));
          this.#end(ended, isEnd);
          start = isEnd ? at : at + 1;
        }
      } else if (this.#place === 'before' && this.#depth === 1 && chunk[at] === BRACKET) {
        this.#around.push(chunk.subarray(start, at));
        start = at;
        if (this.#followsKey()) {
          this.#around.push(chunk.subarray(at, at + 1));
          start = at + 1;
          this.#place = 'within';
        }
      }
      if (mark === OPENS) this.#depth++;
    }
    (this.#place === 'within' ? this.#item : this.#around).push(chunk.subarray(start));
    return ended;
  }

  /** The list with no items. */
  around(): string {
    return Buffer.concat(this.#around).toString('utf8');
  }

  #end(ended: string[], isLast: boolean): void {
    const text = Buffer.concat(this.#item).toString('utf8');
    this.#item = [];
    if (isLast) this.#place = 'after';
    // A blank text between commas is kept, so that it is refused.
    if (isLast && this.#items === 0 && text.trim() === '') return;
    this.#items++;
    ended.push(text);
  }

  #followsKey(): boolean {
    return ITEMS_KEY.test(Buffer.concat(this.#around).subarray(-KEY_BYTES).toString('latin1'));
  }
}
