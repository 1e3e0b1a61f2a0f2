// Facts on their way from one journal into another, as lines of text (Journal.toLines): what is stored is the text of
// the line, so a fact that nothing looks into is never parsed.
//
// A line is canonical JSON, `{"body":…,"kind":…,"source":…}`, and its body is what a journal stores. Sealed values are
// opened at once, because a value that does not open must be refused before it is stored.

import type { JsonObject } from '../core/base/json.ts';
import type { ObjectRef, Unrecorded } from '../core/event.ts';
import { shapeProblem } from '../core/fact-shape.ts';
import type { Encoded } from './codec.ts';
import { checkNames } from './fact-names.ts';
import { JournalFault } from './fault.ts';
import { BODY_CHARS_MAX, type Carried } from './journal.ts';
import { isDeeperThan } from './json-text.ts';
import { objectRefIn } from './object-ref.ts';
import { BRACKETS_MAX } from './stored-body.ts';
import { holdsSealed, type Vault } from './vault.ts';

const OPENING = '{"body":{';
const BODY_AT = '{"body":'.length;
/** Inside of a JSON string, quotes stand behind backslashes, so this is found nowhere but between members. */
const TAIL = ',"kind":"';

/** Endings of lines (kind and source) that are remembered. */
const TAILS_MAX = 1_000;

interface Names {
  readonly source: string;
  readonly kind: string;
}

export function lineOf({ source, kind, body }: Pick<Encoded, 'source' | 'kind' | 'body'>): string {
  return `{"body":${body}${TAIL.slice(0, -1)}${JSON.stringify(kind)},"source":${JSON.stringify(source)}}`;
}

/** Reads lines of one key. */
export class LineReader {
  readonly #vault: Vault;
  readonly #path: string;
  readonly #tails = new Map<string, Names>();

  /** `path`: of the journal, for messages. */
  constructor(vault: Vault, path: string) {
    this.#vault = vault;
    this.#path = path;
  }

  /** Faults: `damaged`, `unfit-fact`. */
  carried(line: string, time: number): Carried {
    const at = line.startsWith(OPENING) ? line.lastIndexOf(TAIL) : -1;
    if (at < 0) throw this.#damaged();
    const { source, kind } = this.#names(line.slice(at + 1));
    const body = line.slice(BODY_AT, at);
    if (body.length > BODY_CHARS_MAX || isDeeperThan(body, BRACKETS_MAX)) throw this.#damaged();
    const isSealed = holdsSealed(body);
    const ref = !isSealed && (kind === 'Add' || kind === 'Update') ? objectRefIn(body) : undefined;
    if (ref !== undefined) return new UnparsedFact({ source, kind }, body, time, ref);
    const read = this.#parsed(body);
    if (shapeProblem(kind, read) !== undefined) throw this.#damaged();
    const opened = isSealed ? this.#vault.openSpilled(read) : read;
    return { source, kind, body, time, fact: { ...opened, source, kind } as unknown as Unrecorded };
  }

  #names(tail: string): Names {
    const known = this.#tails.get(tail);
    if (known !== undefined) return known;
    const { source, kind } = this.#parsed(`{${tail}`);
    const names = checkNames(source, kind);
    if (this.#tails.size >= TAILS_MAX) this.#tails.clear();
    this.#tails.set(tail, names);
    return names;
  }

  #parsed(text: string): JsonObject {
    try {
      return JSON.parse(text) as JsonObject;
    } catch {
      throw this.#damaged();
    }
  }

  #damaged(): JournalFault {
    return new JournalFault('damaged', 'a line that holds a fact is not what a journal writes', { path: this.#path });
  }
}

class UnparsedFact implements Carried {
  readonly source: string;
  readonly kind: string;
  readonly body: string;
  readonly time: number;
  readonly ref: ObjectRef;

  constructor({ source, kind }: Names, body: string, time: number, ref: ObjectRef) {
    this.source = source;
    this.kind = kind;
    this.body = body;
    this.time = time;
    this.ref = ref;
  }

  get fact(): Unrecorded {
    return { ...(JSON.parse(this.body) as object), source: this.source, kind: this.kind } as unknown as Unrecorded;
  }
}
